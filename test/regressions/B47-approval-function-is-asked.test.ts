import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { InMemoryStore } from '@mastra/core/storage';
import { expect } from 'vitest';
import type { MCPClient, RequireToolApprovalContext } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const annotations = { destructiveHint: true, title: 'Wiper' };

function openDisk(decide: (context: RequireToolApprovalContext) => boolean): {
  readonly client: MCPClient;
  readonly asked: RequireToolApprovalContext[];
} {
  const asked: RequireToolApprovalContext[] = [];
  const requireToolApproval = async (context: RequireToolApprovalContext): Promise<boolean> => {
    asked.push(context);
    return decide(context);
  };
  const tools = [rawTool('wipe', { definition: { annotations } })];
  return { client: openClient({ disk: rawServer({ tools }, { requireToolApproval }) }), asked };
}

/** An agent whose model wipes a path, then says "done". */
async function agentOn(client: MCPClient, path: string) {
  const { model } = scriptedModel([{ call: 'disk_wipe', args: { path }, id: 'c1' }, { text: 'done' }]);
  const tools = await client.listTools();
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'BASE', model, tools });
  return new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false }).getAgent('agent');
}

const wipes = async (client: MCPClient): Promise<number> =>
  (await callsOf((await client.listTools())['disk___calls'] ?? {})).calls.length;

const contextOf = (role: string): RequestContext => new RequestContext([['role', role]]);

verifies(
  ['B47', 'S055', 'S056', 'S058', 'S059'],
  'the function is asked once per call, with name, arguments, context and annotations, in generate and stream',
  async () => {
    const { client, asked } = openDisk(({ args, requestContext }) => {
      return args['path'] === '/' || requestContext?.['role'] !== 'admin';
    });
    await using _ = client;
    const generated = await (
      await agentOn(client, '/tmp')
    ).generate('go', { requestContext: contextOf('admin') });
    expect([generated.text, asked.length]).toEqual(['done', 1]);
    expect(asked[0]).toMatchObject({
      toolName: 'wipe',
      args: { path: '/tmp' },
      requestContext: { role: 'admin' },
      annotations,
    });
    const streamed = await (
      await agentOn(client, '/tmp')
    ).stream('go', { requestContext: contextOf('admin') });
    expect([await streamed.text, asked.length, await wipes(client)]).toEqual(['done', 2, 2]);

    // The same function, other facts: each of them counts.
    const root = await (await agentOn(client, '/')).generate('go', { requestContext: contextOf('admin') });
    const guest = await (
      await agentOn(client, '/tmp')
    ).generate('go', { requestContext: contextOf('guest') });
    expect([root.finishReason, guest.finishReason]).toEqual(['suspended', 'suspended']);
    expect([asked.length, await wipes(client)]).toEqual([4, 2]);
  },
);

verifies(['B47', 'S055'], 'a run that is resumed with an approval runs the call once', async () => {
  const { client, asked } = openDisk(() => true);
  await using _ = client;
  const agent = await agentOn(client, '/tmp');
  const suspended = await agent.generate('go', { requestContext: contextOf('guest') });
  expect([suspended.finishReason, asked.length]).toEqual(['suspended', 1]);
  const approved = await agent.approveToolCallGenerate({ runId: suspended.runId ?? '', toolCallId: 'c1' });
  expect([approved.text, await wipes(client)]).toEqual(['done', 1]);
  // Whoever approved has been asked; the function decides about new calls only.
  expect(asked.length).toBeLessThanOrEqual(2);
});

verifies(['B47', 'T6'], 'a function that throws means approval, and the log says so', async () => {
  const { client } = openDisk(() => {
    throw new Error('policy down');
  });
  await using _ = client;
  const { logger, lines } = recordingLogger();
  client.__setLogger(logger);
  const result = await (await agentOn(client, '/tmp')).generate('go');
  expect([result.finishReason, await wipes(client)]).toEqual(['suspended', 0]);
  expect(lines.join('\n')).toMatch(/warn .*"disk".*policy down/);
});

verifies('B47', 'a direct execute does not ask: approval is a matter of the agent', async () => {
  const { client, asked } = openDisk(() => true);
  await using _ = client;
  await (await client.listTools())['disk_wipe']?.execute({ path: '/tmp' });
  expect([asked.length, await wipes(client)]).toEqual([0, 1]);
});
