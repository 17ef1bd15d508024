import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { describe, expect, test } from 'vitest';
import { MCPClient } from '../../src/client/index.ts';
import type { RemoteTool, RequireToolApproval } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';
import { scriptedModel, type Turn } from '../support/scripted-model.ts';

let count = 0;
function connect(
  options: {
    requireToolApproval?: RequireToolApproval;
    forwardInstructions?: boolean;
    instructionsMaxLength?: number;
  } = {},
): MCPClient {
  count += 1;
  const server = {
    instructions: '  Count in twelves.  ',
    tools: [
      rawTool('wipe', { definition: { annotations: { destructiveHint: true } } }),
      rawTool('picture', { result: { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] } }),
    ],
  };
  return new MCPClient({ id: `agents-${count}`, servers: { disk: rawServer(server, options) } });
}

function agentWith(turns: readonly Turn[], tools: Record<string, RemoteTool> = {}) {
  const scripted = scriptedModel(turns);
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'BASE', model: scripted.model, tools });
  const mastra = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  return { agent: mastra.getAgent('agent'), ...scripted };
}

const wipe: readonly Turn[] = [{ call: 'disk_wipe', args: { path: '/tmp' }, id: 'c1' }, { text: 'done' }];
const wipes = async (tools: Record<string, RemoteTool>): Promise<number> =>
  (await callsOf(tools['disk___calls'] ?? {})).calls.filter(({ name }) => name === 'wipe').length;

verifies(['S069', 'S073'], 'an agent calls remote tools in generate and in stream', async () => {
  await using mcp = connect();
  const tools = await mcp.listTools();
  const generated = await agentWith(wipe, tools).agent.generate('go');
  expect(generated.text).toBe('done');
  const streamed = await agentWith(wipe, tools).agent.stream('go');
  expect(await streamed.text).toBe('done');
  expect(await wipes(tools)).toBe(2);
});

verifies(['S071', 'S074'], 'an agent calls remote tools given as toolsets', async () => {
  await using mcp = connect();
  const turns = [{ call: 'wipe', args: {}, id: 'c1' }, { text: 'done' }];
  const { agent } = agentWith(turns);
  const result = await agent.generate('go', { toolsets: await mcp.listToolsets() });
  expect(result.text).toBe('done');
  expect(await wipes(await mcp.listTools())).toBe(1);
});

verifies('D07', 'the model gets an image as media, not as base64 inside JSON', async () => {
  await using mcp = connect();
  const { agent, prompts } = agentWith(
    [{ call: 'disk_picture', args: {}, id: 'c1' }, { text: 'seen' }],
    await mcp.listTools(),
  );
  await agent.generate('look');
  const toolMessage = JSON.stringify(prompts.at(-1)?.filter(message => message.role === 'tool'));
  expect(toolMessage).toContain('"mediaType":"image/png"');
  expect(toolMessage).toMatch(/"type":"(media|image-data|file-data)"/);
});

describe('approval', () => {
  verifies(
    ['S052', 'S054'],
    'true suspends the run; approving runs the call once, declining never',
    async () => {
      await using mcp = connect({ requireToolApproval: true });
      const tools = await mcp.listTools();
      const { agent } = agentWith(wipe, tools);
      const suspended = await agent.generate('go');
      expect(suspended.finishReason).toBe('suspended');
      expect(await wipes(tools)).toBe(0);
      const runId = suspended.runId ?? '';
      const approved = await agent.approveToolCallGenerate({ runId, toolCallId: 'c1' });
      expect(approved.text).toBe('done');
      expect(await wipes(tools)).toBe(1);

      const { agent: other } = agentWith(wipe, tools);
      const again = await other.generate('go');
      const declined = await other.declineToolCallGenerate({ runId: again.runId ?? '', toolCallId: 'c1' });
      expect(declined.text).toBe('done');
      expect(await wipes(tools)).toBe(1);
    },
  );

  verifies(
    ['S055', 'S056', 'S057', 'S058', 'S059', 'X05'],
    'a function decides per call and sees name, arguments, context and hints',
    async () => {
      const seen: unknown[] = [];
      await using mcp = connect({
        requireToolApproval: async context => {
          seen.push({
            ...context,
            got: (context.requestContext as unknown as Map<string, unknown>).get('userRole'),
          });
          return context.requestContext?.['userRole'] !== 'admin';
        },
      });
      const tools = await mcp.listTools();
      const { RequestContext } = await import('@mastra/core/request-context');
      const admin = await agentWith(wipe, tools).agent.generate('go', {
        requestContext: new RequestContext([['userRole', 'admin']]),
      });
      expect(admin.text).toBe('done');
      const guest = await agentWith(wipe, tools).agent.stream('go', {
        requestContext: new RequestContext([['userRole', 'guest']]),
      });
      const chunks: string[] = [];
      for await (const chunk of guest.fullStream) chunks.push(chunk.type);
      expect(chunks).toContain('tool-call-approval');
      expect(seen).toMatchObject([
        { toolName: 'wipe', args: { path: '/tmp' }, annotations: { destructiveHint: true }, got: 'admin' },
        { toolName: 'wipe', got: 'guest' },
      ]);
      expect(await wipes(tools)).toBe(1);
    },
  );

  verifies(['S062', 'T6'], 'a function that throws means approval is required', async () => {
    await using mcp = connect({
      requireToolApproval: () => {
        throw new Error('policy down');
      },
    });
    const tools = await mcp.listTools();
    expect((await agentWith(wipe, tools).agent.generate('go')).finishReason).toBe('suspended');
    expect(await wipes(tools)).toBe(0);
  });

  test('anything but false of a function means approval is required', async () => {
    await using mcp = connect({ requireToolApproval: () => undefined as never });
    const { agent } = agentWith(wipe, await mcp.listTools());
    expect((await agent.generate('go')).finishReason).toBe('suspended');
  });
});

describe('instructions', () => {
  const guidance = (prompts: readonly (readonly { role: string; content: unknown }[])[]): unknown[] =>
    (prompts[0] ?? [])
      .filter(({ role, content }) => role === 'system' && String(content).includes('MCP server'))
      .map(({ content }) => content);

  verifies(
    ['S050', 'S064', 'S065'],
    'reach the system prompt by server, cut to the limit, when asked for',
    async () => {
      await using mcp = connect({ forwardInstructions: true, instructionsMaxLength: 8 });
      const { agent, prompts } = agentWith([{ text: 'ok' }], await mcp.listTools());
      await agent.generate('hi');
      expect(guidance(prompts)).toEqual(['## Guidance from MCP server "disk"\n\nCount in']);
      const toolsets = await mcp.listToolsets();
      const second = agentWith([{ text: 'ok' }]);
      await (
        await second.agent.stream('hi', { toolsets })
      ).text;
      expect(guidance(second.prompts)).toHaveLength(1);
    },
  );

  verifies(['S051', 'S066'], 'stay out of the prompt otherwise', async () => {
    await using mcp = connect();
    const { agent, prompts } = agentWith([{ text: 'ok' }], await mcp.listTools());
    await agent.generate('hi');
    expect(guidance(prompts)).toEqual([]);
    expect(mcp.getServerInstructions()['disk']).toContain('twelves');
  });
});
