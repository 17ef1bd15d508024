import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { describe, expect } from 'vitest';
import type { MCPClient, RequireToolApproval } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const policies: Record<string, RequireToolApproval> = {
  true: true,
  'a function': () => true,
  'a function that rejects': () => Promise.reject(new Error('policy down')),
};

/** A run that waits for the approval of a wipe. */
async function suspend(client: MCPClient) {
  const { model, prompts } = scriptedModel([
    { call: 'disk_wipe', args: { path: '/tmp' }, id: 'c1' },
    { text: 'done' },
  ]);
  const tools = await client.listTools();
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'BASE', model, tools });
  const running = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false }).getAgent(
    'agent',
  );
  const { finishReason, runId = '' } = await running.generate('go');
  expect(finishReason).toBe('suspended');
  return { agent: running, runId, prompts };
}

const open = (requireToolApproval: RequireToolApproval): MCPClient =>
  openClient({ disk: rawServer({ tools: [rawTool('wipe')] }, { requireToolApproval }) });

const wiped = async (client: MCPClient): Promise<readonly unknown[]> =>
  (await callsOf((await client.listTools())['disk___calls'] ?? {})).calls.map(call => call.arguments);

describe.each(Object.keys(policies))('with requireToolApproval as %s', kind => {
  const policy = policies[kind] ?? true;

  verifies(['B48', 'T6'], 'a declined call never reaches the server, and the model is told', async () => {
    await using client = open(policy);
    const { agent, runId, prompts } = await suspend(client);
    const declined = await agent.declineToolCallGenerate({ runId, toolCallId: 'c1' });
    expect(declined.text).toBe('done');
    expect(await wiped(client)).toEqual([]);
    const told = JSON.stringify(prompts.at(-1)?.filter(({ role }) => role === 'tool'));
    expect(told).toMatch(/c1/);
    expect(told).toMatch(/not approved|declined|denied/i);
  });

  verifies(['B48', 'T6'], 'a streamed run that is declined does not reach it either', async () => {
    await using client = open(policy);
    const { agent, runId } = await suspend(client);
    const declined = await agent.declineToolCall({ runId, toolCallId: 'c1' });
    expect(await declined.text).toBe('done');
    expect(await wiped(client)).toEqual([]);
  });

  verifies(
    ['B48', 'T6'],
    'an approved call runs once with the approved arguments, also after a reconnect and a new listing',
    async () => {
      await using client = open(policy);
      const { agent, runId } = await suspend(client);
      await client.reconnectServer('disk');
      await client.listTools();
      const approved = await agent.approveToolCallGenerate({ runId, toolCallId: 'c1' });
      expect(approved.text).toBe('done');
      expect(await wiped(client)).toEqual([{ path: '/tmp' }]);
    },
  );

  verifies(['B48', 'T6'], 'a declined call stays declined after a reconnect and a new listing', async () => {
    await using client = open(policy);
    const { agent, runId } = await suspend(client);
    await client.reconnectServer('disk');
    await client.listTools();
    await agent.declineToolCallGenerate({ runId, toolCallId: 'c1' });
    expect(await wiped(client)).toEqual([]);
    // The next call needs an approval of its own.
    await suspend(client);
    expect(await wiped(client)).toEqual([]);
  });
});
