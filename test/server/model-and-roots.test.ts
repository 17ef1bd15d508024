import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import type { ToolExecutionContext } from '@mastra/core/tools';
import type {
  CreateMessageRequestParams,
  CreateMessageResultWithTools,
  SamplingMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPToolContext } from '../../src/server/index.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';
import type { CallerOptions } from './call-harness.ts';
import { verifies } from '../requirements/requirements.ts';

const serverOf = (tools: ToolsInput): MCPServer => new MCPServer({ name: 's', version: '1.0.0', tools });

const toolOf = (run: (mcp: MCPToolContext) => unknown) =>
  createTool({
    id: 'asks',
    description: 'A',
    execute: async (_input, context: ToolExecutionContext) => run(context.mcp as MCPToolContext),
  });

type Block = Exclude<SamplingMessage['content'], readonly unknown[]>;
const said = (role: 'user' | 'assistant', ...content: Block[]): SamplingMessage => ({ role, content });
const text = (value: string): Block => ({ type: 'text', text: value });
const use = (id: string): Block => ({ type: 'tool_use', id, name: 'weather', input: {} });
const result = (toolUseId: string): Block => ({ type: 'tool_result', toolUseId, content: [] });

const question: CreateMessageRequestParams = { messages: [said('user', text('Hi'))], maxTokens: 100 };
const weather = { name: 'weather', inputSchema: { type: 'object' as const } };
const reply: CreateMessageResultWithTools = {
  model: 'm-1',
  stopReason: 'endTurn',
  role: 'assistant',
  content: { type: 'text', text: 'Hello' },
};

/** A tool that gives the model's answer as JSON: one with a list of content would be taken for a result of its own. */
const samples = (params: unknown) =>
  toolOf(async mcp => JSON.stringify(await mcp.sampling.sendRequest(params as CreateMessageRequestParams)));

/** Asks the model of a client and gives back what the client got and what the tool gave. */
async function sampled(params: unknown, more: CallerOptions = {}): Promise<[unknown[], string]> {
  const got: unknown[] = [];
  await using caller = await callInMemory(serverOf({ samples: samples(params) }), {
    onSample: request => {
      got.push(request);
      return reply;
    },
    ...more,
  });
  return [got, await caller.text('samples')];
}

describe('the model of a client', () => {
  verifies('D17', 'is asked as the tool says, and its answer comes back', async () => {
    const params = {
      ...question,
      systemPrompt: 'Be short',
      temperature: 0.5,
      stopSequences: ['.'],
      modelPreferences: { hints: [{ name: 'small' }], costPriority: 1 },
      includeContext: 'none',
    };
    expect(await sampled(params)).toEqual([[params], JSON.stringify(reply)]);
  });

  test('is asked by the session that made the call, with two at once', async () => {
    const server = serverOf({ samples: samples(question) });
    let open = 0;
    const answering = (model: string): CallerOptions => ({
      onSample: async () => {
        open += 1;
        await until(() => open === 4);
        return { ...reply, model };
      },
    });
    await using red = await callByFetch(server, answering('red'));
    await using blue = await callByFetch(server, answering('blue'));
    const texts = await Promise.all([red, blue, red, blue].map(caller => caller.text('samples')));
    expect(texts.map(answer => (JSON.parse(answer) as { model: string }).model)).toEqual([
      'red',
      'blue',
      'red',
      'blue',
    ]);
    await server.close();
  });

  test('is not asked where the client did not declare it, or no tools', async () => {
    expect(await sampled(question, { capabilities: { roots: {} } })).toEqual([
      [],
      'The client does not support sampling, so the request to its model was not sent',
    ]);
    for (const more of [{ tools: [weather] }, { toolChoice: { mode: 'none' } }]) {
      expect(await sampled({ ...question, ...more })).toEqual([
        [],
        'The client does not support tools in sampling, so the request to its model was not sent',
      ]);
    }
  });

  verifies('D17', 'may use tools where that is declared, and its uses come back', async () => {
    const content = [text('Let me see'), use('u1'), use('u2')];
    const withTools = { ...reply, stopReason: 'toolUse', content };
    const params = { ...question, tools: [weather], toolChoice: { mode: 'auto' } };
    const capabilities = { sampling: { tools: {} } };
    const [got, answer] = await sampled(params, { capabilities, onSample: () => withTools });
    expect([got, JSON.parse(answer)]).toEqual([[], withTools]);
    const messages = [
      ...question.messages,
      said('assistant', ...content),
      said('user', result('u2'), result('u1')),
    ];
    expect(await sampled({ ...params, messages }, { capabilities })).toEqual([
      [{ ...params, messages }],
      JSON.stringify(reply),
    ]);
  });

  test('may not use tools that it was not given', async () => {
    const onSample = (): CreateMessageResultWithTools => ({ ...reply, content: [use('u1')] });
    const server = serverOf({ samples: samples(question) });
    await using caller = await callInMemory(server, { onSample, capabilities: { sampling: { tools: {} } } });
    const answer = await caller.call('samples');
    expect(answer.isError).toBe(true);
  });

  test.each([
    ['no limit of tokens', { messages: question.messages }, 'maxTokens'],
    ['a limit that is no whole number', { ...question, maxTokens: 1.5 }, 'maxTokens'],
    ['no messages', { maxTokens: 1 }, 'messages'],
    [
      'an unknown kind of content',
      { ...question, messages: [said('user', { type: 'x' } as never)] },
      'messages.0',
    ],
    ['an unknown role', { ...question, messages: [said('system' as never, text('x'))] }, 'messages.0.role'],
    ['nothing', undefined, 'Sampling refused'],
  ])('is not asked with %s', async (_what, params, named) => {
    const [got, answer] = await sampled(params);
    expect(got).toEqual([]);
    expect(answer).toContain(named);
    expect(answer).toMatch(/^Sampling refused: /);
  });

  const used = said('assistant', use('u1'));
  test.each<[string, SamplingMessage[]]>([
    ['results beside something else', [used, said('user', result('u1'), text('and?'))]],
    ['results of the assistant', [used, said('assistant', result('u1'))]],
    ['results of nothing', [said('user', result('u1'))]],
    ['results of another use', [used, said('user', result('u2'))]],
    ['results of some uses only', [said('assistant', use('u1'), use('u2')), said('user', result('u1'))]],
    ['a result too many', [used, said('user', result('u1'), result('u1'))]],
    ['a message between use and result', [used, said('user', text('well?')), said('user', result('u1'))]],
    ['uses without results at the end', [used]],
    ['uses of the user', [said('user', use('u1')), said('user', result('u1'))]],
  ])('is not asked with %s', async (_what, messages) => {
    const capabilities = { sampling: { tools: {} } };
    const [got, answer] = await sampled({ ...question, messages, tools: [weather] }, { capabilities });
    expect(got).toEqual([]);
    expect(answer).toMatch(/^Sampling refused: messages/);
  });

  test('that refuses gives an error with its reason', async () => {
    const onSample = (): never => {
      throw Object.assign(new Error('User rejected sampling request'), { code: -1 });
    };
    const [, answer] = await sampled(question, { onSample });
    expect(answer).toContain('gave no answer to the request to its model');
    expect(answer).toContain('User rejected sampling request');
  });
});

describe('the roots of a client', () => {
  const lists = toolOf(mcp => mcp.roots.list());

  verifies('D17', 'are listed', async () => {
    await using caller = await callInMemory(serverOf({ lists }), {
      roots: ['file:///home/a', 'file:///tmp'],
    });
    expect(await caller.text('lists')).toBe('{"roots":[{"uri":"file:///home/a"},{"uri":"file:///tmp"}]}');
  });

  test('are files', async () => {
    await using caller = await callInMemory(serverOf({ lists }), {
      roots: ['file:///tmp', 'https://x.example'],
    });
    const listed = await caller.call('lists');
    expect(listed.isError).toBe(true);
    expect(JSON.stringify(listed.content)).toMatch(
      /the request for its roots is not what the protocol has: roots\.1\.uri/,
    );
  });

  test('are not asked for where the client did not declare them', async () => {
    await using caller = await callInMemory(serverOf({ lists }));
    expect(await caller.text('lists')).toBe(
      'The client does not support roots, so the request for its roots was not sent',
    );
  });

  test('cannot be had where nobody can be asked', async () => {
    const server = serverOf({ lists, samples: samples(question) });
    await using caller = await callByFetch(server, {
      roots: ['file:///tmp'],
      onSample: () => reply,
      facts: { options: { serverless: true, serverlessStreaming: true } },
    });
    for (const tool of ['lists', 'samples']) expect(await caller.text(tool)).toContain('serverless');
    await expect(server.executeTool('lists', {})).rejects.toThrow('called by the host itself');
  });
});
