import { createTool } from '@mastra/core/tools';
import type { ToolsInput } from '@mastra/core/agent';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { buildToolTable, toCoreTools } from '../../src/server/calls/tool-table.ts';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callInMemory } from './call-harness.ts';

function tableOf(tools: unknown, warnings: string[] = []) {
  const sources = { tools: tools as Record<string, unknown>, agents: undefined, workflows: undefined };
  return buildToolTable(sources, { agentOutput: 'text', warn: message => warnings.push(message) });
}

const serverOf = (tools: unknown): MCPServer =>
  new MCPServer({ name: 's', version: '1.0.0', tools: tools as ToolsInput });

const echo = createTool({
  id: 'echo-id',
  description: 'Echoes',
  inputSchema: z.object({ n: z.number() }),
  execute: async input => input,
});

describe('names', () => {
  verifies('S132', 'serves a tool under its key, whatever its id', () => {
    const table = tableOf({ key: echo });
    expect(table.names).toEqual(['key']);
    expect(table.find('echo-id')).toBeUndefined();
    expect(table.resolve('echo-id')?.name).toBe('key');
  });

  test('an id that two tools share resolves to neither', () => {
    expect(tableOf({ a: echo, b: echo }).resolve('echo-id')).toBeUndefined();
  });

  verifies('S137', 'lets an explicit tool win over a derived one, with a warning', () => {
    const step = createStep({
      id: 's',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
      execute: async () => ({}),
    });
    const workflow = createWorkflow({
      id: 'w',
      description: 'W',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
    })
      .then(step)
      .commit();
    const warnings: string[] = [];
    const mine = createTool({ id: 'mine', description: 'mine', execute: async () => 1 });
    const sources = { tools: { run_w: mine }, agents: undefined, workflows: { w: workflow as never } };
    const table = buildToolTable(sources, { agentOutput: 'text', warn: message => warnings.push(message) });
    expect(table.names).toEqual(['run_w']);
    expect(table.find('run_w')?.definition.description).toBe('mine');
    expect(warnings).toEqual([expect.stringContaining('Workflow "w" is not served as "run_w"')]);
  });

  verifies('T2', 'keeps names that mean something to JavaScript as plain names', async () => {
    const tools = Object.fromEntries(['__proto__', 'constructor', 'toString'].map(name => [name, echo]));
    const server = serverOf(tools);
    expect(Object.keys(server.tools())).toEqual(['__proto__', 'constructor', 'toString']);
    await using caller = await callInMemory(server);
    expect(await caller.text('__proto__', { n: 1 })).toBe('{"n":1}');
    await expect(caller.call('hasOwnProperty')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('listing', () => {
  test('is the same object every time, and cannot be changed', () => {
    const table = tableOf({ echo });
    expect(table.list).toBe(table.list);
    expect(Object.isFrozen(table.list)).toBe(true);
  });

  verifies(
    ['B21', 'S132'],
    'gives a tool without parameters an object schema and empty arguments',
    async () => {
      const seen: unknown[] = [];
      const none = createTool({
        id: 'none',
        description: 'N',
        execute: async input => void seen.push(input),
      });
      const open = createTool({
        id: 'open',
        description: 'O',
        inputSchema: { type: 'object' },
        execute: async input => void seen.push(input),
      });
      const server = serverOf({ none, open });
      await using caller = await callInMemory(server);
      const { tools } = await caller.client.listTools();
      expect(tools[0]?.inputSchema).toEqual({ type: 'object', properties: {} });
      await caller.call('none');
      await caller.call('open');
      expect(seen).toEqual([{}, {}]);
    },
  );

  verifies('D08', 'does not advertise an output schema whose root is no object', () => {
    const list = createTool({
      id: 'list',
      description: 'L',
      outputSchema: z.array(z.number()),
      execute: async () => [1],
    });
    expect(tableOf({ list }).list.tools[0]).not.toHaveProperty('outputSchema');
  });

  test('has no dialect marker, with zod and with plain JSON Schema (B28)', () => {
    const plain = createTool({
      id: 'plain',
      description: 'P',
      inputSchema: { type: 'object', properties: { n: { type: 'number', exclusiveMinimum: 0 } } },
      execute: async () => 1,
    });
    for (const tool of tableOf({ echo, plain }).list.tools) {
      expect(tool.inputSchema).not.toHaveProperty('$schema');
    }
  });

  verifies(
    'D06',
    'lists a schema that cannot be used as any object, with a warning, beside the others',
    () => {
      const warnings: string[] = [];
      const broken = createTool({
        id: 'broken',
        description: 'B',
        inputSchema: { type: 'object', properties: { n: { type: 'strng' } } } as never,
        execute: async () => 1,
      });
      const text = createTool({
        id: 'text',
        description: 'T',
        inputSchema: z.string() as never,
        execute: async () => 1,
      });
      const { tools } = tableOf({ broken, text, echo }, warnings).list;
      expect(tools.map(tool => tool.inputSchema)).toEqual([
        { type: 'object' },
        { type: 'object' },
        expect.objectContaining({ required: ['n'] }),
      ]);
      expect(warnings).toEqual([expect.stringContaining('"broken"'), expect.stringContaining('"text"')]);
    },
  );

  test('gives a union of objects the type that arguments have', () => {
    const either = createTool({
      id: 'either',
      description: 'E',
      inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      execute: async input => input,
    });
    const schema = tableOf({ either }).list.tools[0]?.inputSchema;
    expect(schema).toMatchObject({ type: 'object', anyOf: [{}, {}] });
  });

  test('says so about a tool that has nothing to run, and leaves it out', () => {
    const warnings: string[] = [];
    const provider = { type: 'provider-defined', id: 'openai.web_search', args: {} };
    expect(tableOf({ provider, echo }, warnings).names).toEqual(['echo']);
    expect(warnings).toEqual([expect.stringContaining('"provider"')]);
  });
});

describe('schemas and validation', () => {
  verifies(
    'D20',
    'validates plain JSON Schema by our own validator, also inside the tool itself',
    async () => {
      const tool = createTool({
        id: 'plain',
        description: 'P',
        inputSchema: {
          type: 'object',
          properties: {
            pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
          },
          required: ['pair'],
        } as never,
        execute: async () => 'ran',
      });
      const server = serverOf({ tool });
      expect(tool.inputSchema?.['~standard'].vendor).toBe('mastra-mcp');
      await using caller = await callInMemory(server);
      expect(await caller.text('tool', { pair: ['a', 1] })).toBe('ran');
      const refused = await caller.call('tool', { pair: ['a', 'b'] });
      expect(refused.isError).toBe(true);
      expect(refused.content).toEqual([
        { type: 'text', text: expect.stringMatching(/tool "tool": pair\.1: /) },
      ]);
    },
  );

  test('validates a tool of the AI SDK, and calls it with its own options beside the context', async () => {
    let options: Record<string, unknown> | undefined;
    const vercel = {
      description: 'V',
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }: { n: number }, given: Record<string, unknown>) => {
        options = given;
        return n * 2;
      },
    };
    await using caller = await callInMemory(serverOf({ vercel }));
    expect(await caller.text('vercel', { n: 21 })).toBe('42');
    expect(options).toMatchObject({ messages: [], toolCallId: expect.any(String) });
    expect(options?.['abortSignal']).toBeInstanceOf(AbortSignal);
    expect(Object.keys(options?.['mcp'] as object)).toContain('progress');
    expect(await caller.text('vercel', { n: 'x' })).toMatch(/^Invalid arguments for tool "vercel": n: /);
  });

  test('takes schemas of the AI SDK: bare, lazy, and under the name parameters', async () => {
    const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const schema = { [Symbol.for('vercel.ai.schema')]: true, jsonSchema: json, validate: undefined };
    const execute = async (input: { n: number }) => input.n;
    const tools = {
      bare: { description: 'B', inputSchema: schema, execute },
      lazy: { description: 'L', inputSchema: () => schema, execute },
      old: { description: 'O', parameters: json, execute },
    };
    await using caller = await callInMemory(serverOf(tools));
    for (const name of Object.keys(tools)) {
      expect(await caller.text(name, { n: 4 })).toBe('4');
      expect([name, (await caller.call(name, {})).isError]).toEqual([name, true]);
    }
  });

  verifies(
    ['D08', 'X22'],
    'lets a ready-made result pass an output schema that its structured content fits',
    async () => {
      const make = (result: unknown) =>
        createTool({
          id: 'made',
          description: 'M',
          outputSchema: z.object({ sum: z.number() }),
          execute: async () => result as { sum: number },
        });
      const good = { content: [{ type: 'text', text: 'three' }], structuredContent: { sum: 3 } };
      const tools = {
        good: make(good),
        bad: make({ content: [{ type: 'text', text: 'three' }], structuredContent: { sum: 'x' } }),
        none: make({ content: [{ type: 'text', text: 'three' }] }),
        error: make({ content: [{ type: 'text', text: 'no' }], isError: true }),
      };
      await using caller = await callInMemory(serverOf(tools));
      expect(await caller.call('good')).toEqual(good);
      expect(await caller.text('bad')).toMatch(/^Tool "bad" failed validation: sum: /);
      expect((await caller.call('none')).isError).toBe(true);
      expect(await caller.call('error')).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true });
    },
  );

  test('leaves the methods of a zod output schema where they were', () => {
    const outputSchema = z.object({ sum: z.number() });
    const tool = createTool({ id: 't', description: 'T', outputSchema, execute: async () => ({ sum: 1 }) });
    serverOf({ tool });
    expect((tool.outputSchema as unknown as typeof outputSchema).parse({ sum: 2 })).toEqual({ sum: 2 });
  });
});

describe('tools in core’s form', () => {
  verifies(['S182', 'X04'], 'are converted only when they are read', () => {
    const table = tableOf({ echo });
    const find = vi.spyOn(table, 'find');
    const tools = toCoreTools(table, { mastra: undefined, logger: console as never });
    expect(Object.keys(tools)).toEqual(['echo']);
    expect(find).not.toHaveBeenCalled();
    expect(tools['echo']?.description).toBe('Echoes');
    expect(tools['echo']).toBe(tools['echo']);
    expect(find).toHaveBeenCalledTimes(1);
  });
});
