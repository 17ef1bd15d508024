import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { askCaller, canElicit, requestFromCaller } from '../../src/server/calls/ask.ts';
import type { AskTarget } from '../../src/server/calls/ask.ts';
import { formDefect } from '../../src/server/calls/form-schema.ts';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { startHttp } from '../support/http-server.ts';
import { serveHttp, serveSse } from '../support/serve-http.ts';
import type { HttpHost } from '../support/serve-http.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import { callAt, callByFetch, callInMemory, callOver, until } from './call-harness.ts';
import type { Caller, CallerOptions, ShownForm } from './call-harness.ts';

const serverOf = (tools: ToolsInput): MCPServer => new MCPServer({ name: 's', version: '1.0.0', tools });

const colour = {
  type: 'object',
  properties: {
    colour: { type: 'string', enum: ['red', 'blue'], title: 'Colour' },
    count: { type: 'integer', minimum: 1 },
  },
  required: ['colour'],
};

/** A tool that asks with a form and gives back the answer. */
const asks = (requestedSchema: unknown = colour) =>
  createTool({
    id: 'asks',
    description: 'A',
    execute: async (_input, { mcp }) =>
      mcp?.elicitation.sendRequest({ message: 'Which?', requestedSchema } as never),
  });

describe('a form', () => {
  verifies(['S153', 'S212'], 'reaches the user and brings back the answer', async () => {
    const forms: ShownForm[] = [];
    await using caller = await callInMemory(serverOf({ asks: asks() }), {
      onElicit: form => {
        forms.push(form);
        return { action: 'accept', content: { colour: 'red', count: 2 } };
      },
    });
    expect(await caller.text('asks')).toBe('{"action":"accept","content":{"colour":"red","count":2}}');
    expect(forms).toEqual([{ mode: 'form', message: 'Which?', requestedSchema: colour }]);
  });

  verifies('S214', 'brings back decline and cancel without content', async () => {
    for (const action of ['decline', 'cancel'] as const) {
      const onElicit = (): ElicitResult => ({ action, content: { colour: 'red' } });
      await using caller = await callInMemory(serverOf({ asks: asks() }), { onElicit });
      expect(await caller.text('asks')).toBe(JSON.stringify({ action }));
    }
  });

  verifies('S216', 'does not come back with an answer that does not fit it', async () => {
    for (const [content, path] of [
      [{ colour: 'green' }, '/colour'],
      [{ count: 2 }, '/'],
      [{ colour: 'red', count: 0 }, '/count'],
      [undefined, '/'],
    ] as const) {
      await using caller = await callInMemory(serverOf({ asks: asks() }), {
        onElicit: () => ({ action: 'accept', content: content as Record<string, string> }),
      });
      const result = await caller.call('asks');
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain(`does not fit the requested schema at ${path}: `);
    }
  });

  verifies('S217', 'cannot be shown by a client without forms, which the tool is told', async () => {
    for (const capabilities of [{}, { elicitation: { url: {} } }]) {
      await using caller = await callInMemory(serverOf({ asks: asks() }), { capabilities });
      expect(await caller.call('asks')).toEqual({
        isError: true,
        content: [
          {
            type: 'text',
            text: 'The client does not support form elicitation, so the question to the user was not sent',
          },
        ],
      });
    }
  });

  verifies('S167', 'fails at once where the server keeps no session', async () => {
    await using caller = await callByFetch(serverOf({ asks: asks() }), {
      facts: { options: { serverless: true, serverlessStreaming: true } },
      onElicit: () => ({ action: 'decline' }),
    });
    expect(await caller.text('asks')).toContain('serverless');
  });
});

/** Asks, and gives back which question it was and what came back. */
const asksByName = createTool({
  id: 'asksByName',
  description: 'A',
  inputSchema: z.object({ name: z.string() }),
  execute: async ({ name }, { mcp }) => {
    const properties = { who: { type: 'string' } };
    const requestedSchema = { type: 'object', properties, required: ['who'] };
    const answer = await mcp?.elicitation.sendRequest({ message: name, requestedSchema } as never);
    return `${name} heard ${String(answer?.content?.['who'])}`;
  },
});

const viaHost =
  (
    serve: (server: MCPServer) => Promise<HttpHost>,
    call: (url: URL, options: CallerOptions) => Promise<Caller>,
  ) =>
  async (server: MCPServer, options: CallerOptions): Promise<Caller> => {
    const host = await serve(server);
    const caller = await call(host.url, options);
    const leave = async (): Promise<void> => {
      await caller.client.close();
      await host[Symbol.asyncDispose]();
    };
    return { ...caller, [Symbol.asyncDispose]: leave };
  };

const ways: Record<string, (server: MCPServer, options: CallerOptions) => Promise<Caller>> = {
  'in memory': callInMemory,
  'over fetch': callByFetch,
  'over HTTP': viaHost(serveHttp, callAt),
  'over HTTP+SSE': viaHost(serveSse, (url, options) => callOver(new SSEClientTransport(url), options)),
};

describe.each(Object.entries(ways))('several clients that are asked at once %s', (_way, join) => {
  verifies(['S215', 'S212'], 'answer each the tool that they called', async () => {
    const server = serverOf({ asksByName });
    const open: string[] = [];
    const answer = (who: string) => async (form: ShownForm) => {
      open.push(form.message);
      // Nobody answers before every question is open.
      await until(() => open.length === 6);
      return { action: 'accept' as const, content: { who: `${who} for ${form.message}` } };
    };
    await using red = await join(server, { onElicit: answer('red') });
    await using blue = await join(server, { onElicit: answer('blue') });
    const calls = [1, 2, 3].flatMap(call => [
      red.text('asksByName', { name: `r${call}` }),
      blue.text('asksByName', { name: `b${call}` }),
    ]);
    expect(await Promise.all(calls)).toEqual(
      [1, 2, 3].flatMap(call => [`r${call} heard red for r${call}`, `b${call} heard blue for b${call}`]),
    );
    await server.close();
  });

  verifies(['D14', 'S153'], 'can be left in the middle of a question, and the server goes on', async () => {
    using unhandled = collectUnhandled();
    const thrown: unknown[] = [];
    const keeps = createTool({
      id: 'keeps',
      description: 'K',
      execute: async (_input, { mcp }) =>
        mcp?.elicitation
          .sendRequest({ message: 'm', requestedSchema: colour } as never)
          .catch((error: unknown) => void thrown.push(error)),
    });
    const server = serverOf({ keeps, asksByName });
    let open = 0;
    await using caller = await join(server, {
      onElicit: async ({ message }, signal) => {
        if (message !== 'm') return { action: 'accept', content: { who: 'me' } };
        open += 1;
        await new Promise(resolve => signal.addEventListener('abort', resolve));
        return { action: 'cancel' };
      },
    });
    const cancelled = new AbortController();
    const call = caller.client.callTool({ name: 'keeps' }, undefined, { signal: cancelled.signal });
    const outcome = call.catch((error: unknown) => error);
    await until(() => open === 1);
    cancelled.abort();
    expect(await outcome).toBeInstanceOf(Error);
    await until(() => thrown.length === 1);
    expect(thrown).toMatchObject([{ code: 'MCP_SERVER_CLIENT_UNREACHABLE' }]);
    expect(await caller.text('asksByName', { name: 'x' })).toBe('x heard me');
    expect(await unhandled.found()).toEqual([]);
    await server.close();
  });
});

describe('the schema of a form', () => {
  const property = (schema: unknown): object => ({ type: 'object', properties: { a: schema } });

  verifies(
    'S213',
    'reaches the client as it is, with titles, limits, defaults and enums of every shape',
    async () => {
      const options = [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ];
      const properties = {
        name: { type: 'string', title: 'Name', description: 'N', minLength: 1, maxLength: 9, default: 'Ann' },
        mail: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
        score: { type: 'number', minimum: 0.5, default: 95.5 },
        sure: { type: 'boolean', default: true },
        one: { type: 'string', enum: ['a', 'b'], default: 'b' },
        titled: { type: 'string', oneOf: options, default: 'a' },
        legacy: { type: 'string', enum: ['a'], enumNames: ['A'] },
        many: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, default: ['a'] },
        titledMany: { type: 'array', items: { anyOf: options }, maxItems: 2, default: ['a', 'b'] },
      };
      const requestedSchema = { type: 'object', properties, required: ['name', 'many'] };
      const content = { name: 'Bo', many: ['b'], titledMany: ['a'], sure: false, age: 3 };
      let shown: unknown;
      await using caller = await callInMemory(serverOf({ asks: asks(requestedSchema) }), {
        onElicit: form => {
          shown = form.requestedSchema;
          return { action: 'accept', content };
        },
      });
      expect(await caller.text('asks')).toBe(JSON.stringify({ action: 'accept', content }));
      expect(shown).toEqual(requestedSchema);
    },
  );

  verifies('S213', 'may hold strings, numbers, booleans and enums', () => {
    for (const schema of [
      { type: 'string', minLength: 1, maxLength: 9 },
      { type: 'string', format: 'date-time' },
      { type: 'string', enum: ['a'], enumNames: ['A'] },
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
      { type: 'number', minimum: 0, maximum: 1 },
      { type: 'integer' },
      { type: 'boolean', default: true },
    ])
      expect(formDefect(property(schema))).toBeUndefined();
  });

  verifies('S213', 'may hold nothing else', () => {
    for (const schema of [
      { type: 'object', properties: {} },
      { type: 'array', items: { type: 'string' } },
      { type: 'array' },
      { type: 'string', format: 'uuid' },
      { type: ['string', 'null'] },
      { $ref: '#/x' },
      true,
      {},
    ])
      expect(formDefect(property(schema))).toContain('"a"');
    for (const schema of [undefined, null, [], {}, { type: 'string' }, { type: 'object' }])
      expect(formDefect(schema)).toEqual(expect.any(String));
  });

  verifies('S153', 'is checked before anything is sent', async () => {
    let asked = 0;
    const nested = asks(property({ type: 'object', properties: {} }));
    await using caller = await callInMemory(serverOf({ nested }), {
      onElicit: () => {
        asked += 1;
        return { action: 'decline' };
      },
    });
    expect(await caller.text('nested')).toContain('neither a string');
    expect(asked).toBe(0);
  });
});

describe('a form that is a bomb', () => {
  const answered = async (property: unknown, value: unknown): Promise<string> => {
    const requestedSchema = { type: 'object', properties: { a: property } };
    await using caller = await callInMemory(serverOf({ asks: asks(requestedSchema) }), {
      onElicit: () => ({ action: 'accept', content: { a: value as string } }),
    });
    return await caller.text('asks');
  };

  verifies('T8', 'does not evaluate a pattern that could take exponential time', async () => {
    const text = await answered({ type: 'string', pattern: '(a+)+$' }, `${'a'.repeat(40)}!`);
    expect(text).toContain('"action":"accept"');
  });

  verifies(
    'T8',
    'is answered in time with 10,000 alternatives, and refused where it cannot be used',
    async () => {
      const oneOf = Array.from({ length: 10_000 }, (_, at) => ({ const: `c${at}`, title: `C ${at}` }));
      expect(await answered({ type: 'string', oneOf }, 'c9999')).toContain('"a":"c9999"');
      expect(await answered({ type: 'string', oneOf }, 'c10000')).toContain('does not fit');
      let deep: object = { type: 'string' };
      for (let level = 0; level < 1000; level += 1) deep = { type: 'string', allOf: [deep] };
      expect(await answered(deep, 'x')).toContain('nested deeper');
      expect(await answered({ type: 'string', minLength: 'one' }, 'x')).toContain('does not allow');
    },
  );

  verifies('T8', 'does not fetch what it refers to', async () => {
    let asked = 0;
    await using elsewhere = await startHttp((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    expect(await answered({ type: 'string', $ref: `${elsewhere.origin}/schema` }, 'x')).toContain(
      '"action":"accept"',
    );
    expect(asked).toBe(0);
  });
});

describe('limits of a question', () => {
  const target = (more: Partial<AskTarget> = {}): AskTarget => ({
    askable: 'client',
    askTimeoutMs: 1000,
    signal: undefined,
    client: { capabilities: { elicitation: {} } },
    wire: { request: async () => ({ action: 'accept', content: {} }) },
    ...more,
  });
  const form = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

  test('an empty capability means forms, one that names only url does not', () => {
    expect(canElicit(target())).toBe(true);
    expect(canElicit(target({ client: { capabilities: { elicitation: { form: {} } } } }))).toBe(true);
    expect(canElicit(target({ client: { capabilities: { elicitation: { url: {} } } } }))).toBe(false);
    expect(canElicit(target({ client: { capabilities: undefined } }))).toBe(false);
    expect(canElicit(target({ askable: 'host' }))).toBe(false);
  });

  test('the wait is that of the server, or that of the question', async () => {
    const waits: number[] = [];
    const asked = target({
      wire: {
        request: async (_method, _params, { timeoutMs }) => {
          waits.push(timeoutMs);
          return { action: 'decline' };
        },
      },
    });
    await askCaller(asked, 'elicitation', form, { key: 'a' });
    await askCaller(asked, 'elicitation', form, { key: 'a', timeoutMs: 5 });
    expect(waits).toEqual([1000, 5]);
  });

  verifies('D14', 'a call that is cancelled gives up the question with a code', async () => {
    const controller = new AbortController();
    const hangs = target({
      signal: controller.signal,
      wire: {
        request: (_method, _params, { signal }) =>
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('gone')))),
      },
    });
    const asked = askCaller(hangs, 'elicitation', form, { key: 'a' });
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    await expect(askCaller(hangs, 'elicitation', form, { key: 'a' })).rejects.toMatchObject({
      code: 'MCP_SERVER_CLIENT_UNREACHABLE',
    });
  });

  test('an answer without a known action is refused', async () => {
    const odd = target({ wire: { request: async () => ({ action: 'maybe' }) } });
    await expect(askCaller(odd, 'elicitation', form, { key: 'a' })).rejects.toMatchObject({
      code: 'MCP_SERVER_PARAMS_INVALID',
    });
  });

  test('a client that answers with an error, or not in time, is unreachable', async () => {
    const rejects = target({ wire: { request: () => Promise.reject(new Error('no "quotes"')) } });
    await expect(requestFromCaller(rejects, 'ping', undefined)).rejects.toMatchObject({
      code: 'MCP_SERVER_CLIENT_UNREACHABLE',
      message: 'The client gave no answer to a request of this server: "no \\"quotes\\""',
    });
  });

  test('a real client that never answers is given up after askTimeoutMs', async () => {
    const server = new MCPServer({ name: 's', version: '1', tools: { asks: asks() }, askTimeoutMs: 30 });
    await using caller = await callInMemory(server, { onElicit: () => new Promise<never>(() => undefined) });
    expect(await caller.text('asks')).toContain('gave no answer to the question to the user');
  });
});

describe('asking outside of a call', () => {
  const form = { message: 'm', requestedSchema: { type: 'object', properties: {} } };

  verifies('X30', 'works through the one client that is connected, and not otherwise', async () => {
    const server = serverOf({ asks: asks() });
    const ask = (): Promise<unknown> => server.elicitation.sendRequest(form);
    await expect(ask()).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_CONNECTED' });
    const one = await callByFetch(server, { onElicit: () => ({ action: 'accept', content: {} }) });
    expect(await ask()).toEqual({ action: 'accept', content: {} });
    await using two = await callByFetch(server);
    await two.client.ping();
    await expect(ask()).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_CONNECTED' });
    await one.client.close();
    await server.close();
  });
});
