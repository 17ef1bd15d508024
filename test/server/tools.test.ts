import type { ToolsInput } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';

const tool = (id: string, ...output: unknown[]) =>
  createTool({ id, description: id, execute: async () => (output.length === 0 ? id : output[0]) });

const serverOf = (tools: unknown): MCPServer =>
  new MCPServer({ name: 's', version: '1.0.0', tools: tools as ToolsInput });

describe('tools/list', () => {
  verifies(
    ['S129', 'S132'],
    'gives title, annotations, schemas and _meta as they were declared',
    async () => {
      const add = createTool({
        id: 'add',
        title: 'Addition',
        description: 'Adds',
        inputSchema: z.object({ a: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
        mcp: { annotations: { readOnlyHint: true, title: 'A' }, _meta: { 'example.com/x': { y: 1 } } },
        execute: async ({ a }) => ({ sum: a }),
      });
      await using caller = await callInMemory(serverOf({ add }));
      expect((await caller.client.listTools()).tools).toEqual([
        {
          name: 'add',
          title: 'Addition',
          description: 'Adds',
          inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
          outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
          annotations: { readOnlyHint: true, title: 'A' },
          _meta: { 'example.com/x': { y: 1 } },
        },
      ]);
    },
  );

  test('always has a description, which some clients demand', async () => {
    const bare = { id: 'bare', execute: async () => 1 };
    await using caller = await callInMemory(serverOf({ bare }));
    expect((await caller.client.listTools()).tools[0]?.description).toBe('');
  });

  verifies('D16', 'refuses a cursor: there is one page, so nobody can have one', async () => {
    await using caller = await callInMemory(serverOf({ a: tool('a') }));
    await expect(caller.client.listTools({ cursor: 'x' })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('tools/call', () => {
  verifies('D11', 'answers an unknown tool with an error of the protocol', async () => {
    await using caller = await callInMemory(serverOf({ a: tool('a') }));
    await expect(caller.call('zz')).rejects.toMatchObject({
      code: -32602,
      message: 'MCP error -32602: Unknown tool: zz',
    });
  });

  test.each([
    ['no name', {}],
    ['a name that is no string', { name: 7 }],
    ['arguments that are a list', { name: 'a', arguments: [1] }],
    ['arguments that are text', { name: 'a', arguments: 'x' }],
  ])('refuses %s', async (_, params) => {
    const server = serverOf({ a: tool('a') });
    await using caller = await callInMemory(server);
    const request = { method: 'tools/call', params } as never;
    await expect(caller.client.request(request, z.looseObject({}) as never)).rejects.toMatchObject({
      code: -32602,
    });
  });

  const results: readonly (readonly [string, unknown, object])[] = [
    ['nothing', undefined, { content: [] }],
    ['text', 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['a number', 7, { content: [{ type: 'text', text: '7' }] }],
    ['null', null, { content: [{ type: 'text', text: 'null' }] }],
    ['an array', [1, 'a'], { content: [{ type: 'text', text: '[1,"a"]' }] }],
    ['an object', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    [
      'a ready-made result',
      { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], _meta: { a: 1 } },
      { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }], _meta: { a: 1 } },
    ],
    [
      'a blog post with a field named content',
      { content: ['one'] },
      { content: [{ type: 'text', text: '{"content":["one"]}' }], structuredContent: { content: ['one'] } },
    ],
  ];
  for (const [what, output, expected] of results) {
    verifies(['D08', 'B81'], `turns ${what} into a faithful result`, async () => {
      await using caller = await callInMemory(serverOf({ t: tool('t', output) }));
      expect(await caller.call('t')).toEqual(expected);
    });
  }

  verifies(
    ['D08', 'B82'],
    'says in one line what a tool threw, without stack, cause or inner form (S10)',
    async () => {
      const fails = createTool({
        id: 'fails',
        description: 'F',
        execute: async () => {
          throw new Error('The till\nis empty', { cause: new Error('password=hunter2') });
        },
      });
      await using caller = await callInMemory(serverOf({ fails }));
      expect(await caller.call('fails')).toEqual({
        isError: true,
        content: [{ type: 'text', text: 'The till is empty' }],
      });
    },
  );

  verifies('D08', 'names the path of arguments and of output that do not fit', async () => {
    const strict = createTool({
      id: 'strict',
      description: 'S',
      inputSchema: z.object({ user: z.object({ ages: z.array(z.number()) }) }),
      outputSchema: z.object({ ok: z.boolean() }),
      execute: async () => ({ ok: 'yes' }) as never,
    });
    await using caller = await callInMemory(serverOf({ strict }));
    const bad = await caller.call('strict', { user: { ages: [1, 'x'] } });
    expect(bad.isError).toBe(true);
    expect(bad.content).toEqual([
      { type: 'text', text: expect.stringMatching(/^Invalid arguments for tool "strict": user\.ages\.1: /) },
    ]);
    // What was sent is not repeated: it may be large, or secret.
    expect(JSON.stringify(bad)).not.toContain('Provided arguments');
    expect(await caller.text('strict', { user: { ages: [] } })).toMatch(
      /^Tool "strict" failed validation: ok: /,
    );
  });
});

describe('tools that come and go', () => {
  verifies(
    ['S200', 'S203'],
    'are called by their key at once, and a key that exists is replaced',
    async () => {
      const server = serverOf({ a: tool('a') });
      await using caller = await callInMemory(server);
      expect((await caller.client.listTools()).tools).toHaveLength(1);
      await server.toolActions.add({ b: tool('b'), a: tool('a', 'second') });
      expect((await caller.client.listTools()).tools.map(({ name }) => name)).toEqual(['a', 'b']);
      expect(await caller.text('b')).toBe('b');
      expect(await caller.text('a')).toBe('second');
      expect(Object.keys(server.tools())).toEqual(['a', 'b']);
    },
  );

  verifies(
    ['S201', 'X18'],
    'are removed by key first, then by their own id; unknown ones are ignored',
    async () => {
      const server = serverOf({ one: tool('two'), two: tool('three'), x: tool('same'), y: tool('same') });
      await server.toolActions.remove(['two']);
      expect(Object.keys(server.tools())).toEqual(['one', 'x', 'y']);
      await server.toolActions.remove(['two', 'same', 'unknown']);
      expect(Object.keys(server.tools())).toEqual(['x', 'y']);
    },
  );

  verifies(
    ['S200', 'S201', 'S202'],
    'are announced to every client, and only when something changed',
    async () => {
      const server = serverOf({ a: tool('a') });
      const seen: string[] = [];
      const onNotification = (method: string): void => void seen.push(method);
      await using one = await callByFetch(server, { onNotification });
      await using two = await callByFetch(server, { onNotification });
      await Promise.all([one.client.ping(), two.client.ping()]);
      await server.toolActions.remove(['nothing']);
      await server.toolActions.add({ b: tool('b') });
      await until(() => seen.length === 2);
      await server.toolActions.remove(['b']);
      await until(() => seen.length === 4);
      await server.toolActions.notifyListChanged();
      await until(() => seen.length === 6);
      expect(new Set(seen)).toEqual(new Set(['notifications/tools/list_changed']));
      await server.close();
    },
  );

  test('are announced to nobody without an error when nobody is connected', async () => {
    await serverOf({}).toolActions.add({ a: tool('a') });
  });

  verifies('S200', 'are not added when one of them is no tool', async () => {
    const server = serverOf({});
    const added = server.toolActions.add({ good: tool('good'), bad: 7 as never });
    await expect(added).rejects.toMatchObject({
      code: 'MCP_SERVER_CONFIGURATION_INVALID',
      option: 'tools.bad',
    });
    expect(server.tools()).toEqual({});
  });

  verifies('S204', 'keep the registry of Mastra in step, and touch nothing of others', async () => {
    const server = serverOf({ first: tool('first-id') });
    const foreign = tool('foreign');
    const mastra = new Mastra({
      mcpServers: { server },
      tools: { foreign: foreign as never },
      logger: false,
    });
    expect(Object.keys(mastra.listTools() ?? {}).toSorted()).toEqual(['first-id', 'foreign']);
    const second = tool('second-id');
    await server.toolActions.add({ second, clash: tool('foreign') });
    expect(mastra.listTools()).toMatchObject({ 'second-id': second, foreign });
    await server.toolActions.remove(['second', 'clash', 'first-id']);
    expect(Object.keys(mastra.listTools() ?? {})).toEqual(['foreign']);
    expect(mastra.listTools()).toMatchObject({ foreign });
  });

  verifies('S204', 'replace their predecessor in the registry of Mastra', async () => {
    const server = serverOf({ a: tool('old-id') });
    const mastra = new Mastra({ mcpServers: { server }, logger: false });
    const next = tool('old-id');
    await server.toolActions.add({ a: next });
    expect((mastra.listTools() as Record<string, unknown>)['old-id']).toBe(next);
  });
});
