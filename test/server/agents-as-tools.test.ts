import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { Turn } from '../support/scripted-model.ts';
import { callInMemory, until } from './call-harness.ts';
import type { ShownForm } from './call-harness.ts';

type AgentTools = NonNullable<ConstructorParameters<typeof Agent>[0]['tools']>;

function helper(turns: readonly Turn[], tools: AgentTools = {}, description = 'Helps people') {
  const { model, prompts } = scriptedModel(turns);
  const agent = new Agent({
    id: 'helper-id',
    name: 'Helper',
    description,
    instructions: 'Be kind',
    model,
    tools,
  });
  return { agent, prompts };
}

const serverOf = (agent: Agent, more: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ name: 'desk', version: '1.0.0', agents: { support: agent }, ...more });

describe('an agent as a tool', () => {
  verifies(
    ['S133', 'S143', 'S144', 'S145', 'X10', 'X11'],
    'is called ask_<key> and takes a message',
    async () => {
      const { agent } = helper([{ text: 'hi' }]);
      const server = serverOf(agent);
      await using caller = await callInMemory(server);
      expect((await caller.client.listTools()).tools).toEqual([
        {
          name: 'ask_support',
          description: "Ask agent 'Helper' a question. Agent description: Helps people",
          inputSchema: {
            type: 'object',
            properties: { message: { type: 'string', description: expect.any(String) } },
            required: ['message'],
          },
        },
      ]);
      expect(server.getToolInfo('ask_support')?.toolType).toBe('agent');
    },
  );

  verifies('S134', 'needs a description, and the error names the agent and its key', () => {
    for (const description of ['', '   ']) {
      const { agent } = helper([], {}, description);
      expect(() => serverOf(agent)).toThrow(
        expect.objectContaining({
          code: 'MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED',
          message: expect.stringMatching(/"Helper".*"support"/),
        }),
      );
    }
  });

  verifies(['S146', 'S147', 'D08'], 'answers with the text of the agent, and with nothing else', async () => {
    const { agent, prompts } = helper([{ text: 'Hello Ada' }]);
    await using caller = await callInMemory(serverOf(agent));
    const answer = await caller.call('ask_support', { message: 'I am Ada' });
    expect(answer).toEqual({ content: [{ type: 'text', text: 'Hello Ada' }] });
    expect(JSON.stringify(prompts[0])).toContain('I am Ada');
  });

  verifies(['S146', 'D08'], 'gives the whole result beside the text where the server says so', async () => {
    const { agent } = helper([{ text: 'Hello' }]);
    await using caller = await callInMemory(serverOf(agent, { agentOutput: 'full' }));
    const answer = await caller.call('ask_support', { message: 'x' });
    expect(answer.content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(answer.structuredContent).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      usage: { totalTokens: 2 },
    });
  });

  verifies(['S146', 'S181', 'D08'], 'gives the host the raw result of generate', async () => {
    const { agent } = helper([{ text: 'Hello' }]);
    expect(await serverOf(agent).executeTool('ask_support', { message: 'x' })).toMatchObject({
      text: 'Hello',
      finishReason: 'stop',
      steps: [expect.anything()],
    });
  });

  verifies('S145', 'refuses arguments without a message', async () => {
    const { agent, prompts } = helper([{ text: 'x' }]);
    await using caller = await callInMemory(serverOf(agent));
    for (const args of [{}, { query: 'x' }, { message: 7 }]) {
      expect(await caller.text('ask_support', args)).toMatch(
        /^Invalid arguments for tool "ask_support": .*message/,
      );
    }
    expect(prompts).toEqual([]);
  });

  verifies('D08', 'tells in one line that the model failed', async () => {
    const { agent } = helper([{ error: 'model down' }]);
    await using caller = await callInMemory(serverOf(agent));
    expect(await caller.call('ask_support', { message: 'x' })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'model down' }],
    });
  });

  verifies('D14', 'is aborted with the call', async () => {
    let signal: AbortSignal | undefined;
    const hang = createTool({
      id: 'hang',
      description: 'H',
      execute: async (_input, { abortSignal }) => {
        signal = abortSignal;
        await new Promise(resolve => abortSignal?.addEventListener('abort', resolve));
      },
    });
    const { agent } = helper([{ call: 'hang' }, { text: 'x' }], { hang });
    await using caller = await callInMemory(serverOf(agent));
    const controller = new AbortController();
    const params = { name: 'ask_support', arguments: { message: 'x' } };
    const call = caller.client.callTool(params, undefined, { signal: controller.signal }).catch(() => 'gone');
    await until(() => signal !== undefined);
    controller.abort();
    expect(await call).toBe('gone');
    await until(() => signal?.aborted === true);
  });

  test('hands context.mcp to the tools of the agent', async () => {
    const report = createTool({
      id: 'report',
      description: 'R',
      execute: async (_input, { mcp }) => {
        await mcp?.progress?.({ progress: 1, message: 'from inside' });
        return 'ok';
      },
    });
    const { agent } = helper([{ call: 'report' }, { text: 'x' }], { report });
    await using caller = await callInMemory(serverOf(agent));
    const updates: unknown[] = [];
    const params = { name: 'ask_support', arguments: { message: 'x' } };
    await caller.client.callTool(params, undefined, { onprogress: update => updates.push(update) });
    expect(updates).toEqual([{ progress: 1, message: 'from inside' }]);
  });
});

describe('an agent that waits', () => {
  const paint = createTool({
    id: 'paint',
    description: 'P',
    inputSchema: z.object({}),
    suspendSchema: z.object({ why: z.string() }),
    resumeSchema: z.object({ colour: z.string() }),
    execute: async (_input, { agent }) => {
      const answer = agent?.resumeData;
      if (answer !== undefined) return `painted ${answer.colour}`;
      await agent?.suspend({ why: 'no colour' });
      return undefined;
    },
  });
  const transfers: number[] = [];
  const transfer = createTool({
    id: 'transfer',
    description: 'T',
    inputSchema: z.object({ amount: z.number() }),
    requireApproval: true,
    execute: async ({ amount }) => {
      transfers.push(amount);
      return 'sent';
    },
  });

  function waiting(turns: readonly Turn[], tools: AgentTools) {
    const made = helper(turns, tools);
    const server = serverOf(made.agent);
    new Mastra({ mcpServers: { server }, storage: new InMemoryStore(), logger: false });
    return { server, prompts: made.prompts };
  }

  verifies('D09', 'asks the caller for what a tool of the agent needs, and goes on with it', async () => {
    const { server, prompts } = waiting([{ call: 'paint' }, { text: 'done' }], { paint });
    const forms: ShownForm[] = [];
    await using caller = await callInMemory(server, {
      onElicit: form => {
        forms.push(form);
        return { action: 'accept', content: { colour: 'red' } };
      },
    });
    expect(await caller.text('ask_support', { message: 'paint it' })).toBe('done');
    expect(forms).toEqual([
      {
        mode: 'form',
        message: expect.stringContaining('no colour'),
        requestedSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
      },
    ]);
    expect(JSON.stringify(prompts.at(-1))).toContain('painted red');
  });

  const refusing: readonly (readonly [string, (() => ElicitResult) | undefined])[] = [
    ['declines', () => ({ action: 'decline' })],
    ['cannot be asked', undefined],
  ];
  for (const [how, onElicit] of refusing) {
    verifies('D09', `says what is missing, with run id and payload, when the caller ${how}`, async () => {
      const { server } = waiting([{ call: 'paint' }, { text: 'done' }], { paint });
      await using caller = await callInMemory(server, onElicit === undefined ? {} : { onElicit });
      expect(await caller.call('ask_support', { message: 'paint it' })).toEqual({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('"colour"') }],
        _meta: { 'mastra/runId': expect.any(String), 'mastra/suspendPayload': { why: 'no colour' } },
      });
    });
  }

  for (const [approve, said] of [
    [true, 'sent'],
    [false, 'not approved'],
  ] as const) {
    verifies(
      ['D09', 'D10'],
      `asks before a tool of the agent that needs approval, and hears ${approve}`,
      async () => {
        transfers.length = 0;
        const turns = [{ call: 'transfer', args: { amount: 5 } }, { text: 'done' }];
        const { server, prompts } = waiting(turns, { transfer });
        let message = '';
        await using caller = await callInMemory(server, {
          onElicit: form => {
            message = form.message;
            return { action: 'accept', content: { approve } };
          },
        });
        expect(await caller.text('ask_support', { message: 'send 5' })).toBe('done');
        expect(message).toMatch(/"transfer".*\{"amount":5\}/);
        expect(transfers).toEqual(approve ? [5] : []);
        expect(JSON.stringify(prompts.at(-1))).toContain(said);
      },
    );
  }

  verifies('D09', 'is an error result when the run cannot be found again', async () => {
    const { agent } = helper([{ call: 'paint' }, { text: 'done' }], { paint });
    await using caller = await callInMemory(serverOf(agent), {
      onElicit: () => ({ action: 'accept', content: { colour: 'red' } }),
    });
    expect((await caller.call('ask_support', { message: 'x' })).isError).toBe(true);
  });

  verifies('S181', 'is for the host a result that says suspended', async () => {
    const { server } = waiting([{ call: 'paint' }, { text: 'done' }], { paint });
    expect(await server.executeTool('ask_support', { message: 'x' })).toMatchObject({
      finishReason: 'suspended',
    });
  });
});
