import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { askCaller, canElicit, requestFromCaller } from '../../src/server/calls/ask.ts';
import type { AskTarget } from '../../src/server/calls/ask.ts';
import { formDefect } from '../../src/server/calls/form-schema.ts';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory } from './call-harness.ts';
import type { ShownForm } from './call-harness.ts';

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
  verifies('S153', 'reaches the user and brings back the answer (S212)', async () => {
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

  test.each(['decline', 'cancel'] as const)('brings back %s without content (S214)', async action => {
    await using caller = await callInMemory(serverOf({ asks: asks() }), { onElicit: () => ({ action }) });
    expect(await caller.text('asks')).toBe(JSON.stringify({ action }));
  });

  test('reaches the session that made the call, with two sessions at once (S215)', async () => {
    const server = serverOf({ asks: asks() });
    const answer = (name: 'red' | 'blue') => (): ElicitResult => ({
      action: 'accept',
      content: { colour: name },
    });
    await using red = await callByFetch(server, { onElicit: answer('red') });
    await using blue = await callByFetch(server, { onElicit: answer('blue') });
    const texts = await Promise.all([red, blue, red, blue].map(caller => caller.text('asks')));
    expect(texts.map(text => text.includes('red'))).toEqual([true, false, true, false]);
    await server.close();
  });

  test.each([
    ['a choice that is not offered', { colour: 'green' }, '/colour'],
    ['a required value that is missing', { count: 2 }, '/'],
    ['a number out of range', { colour: 'red', count: 0 }, '/count'],
  ])('refuses an answer with %s (S216)', async (_, content, path) => {
    await using caller = await callInMemory(serverOf({ asks: asks() }), {
      onElicit: () => ({ action: 'accept', content: content }),
    });
    const result = await caller.call('asks');
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(`does not fit the requested schema at ${path}`);
  });

  test('cannot be shown by a client without forms, which the tool is told (S217)', async () => {
    await using caller = await callInMemory(serverOf({ asks: asks() }));
    expect(await caller.call('asks')).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: 'The client does not support form elicitation, which elicitation/create needs',
        },
      ],
    });
  });

  verifies('S167', 'fails at once where the server keeps no session', async () => {
    await using caller = await callByFetch(serverOf({ asks: asks() }), {
      facts: { options: { serverless: true, serverlessStreaming: true } },
      onElicit: () => ({ action: 'decline' }),
    });
    expect(await caller.text('asks')).toContain('serverless');
  });

  test('in URL mode is refused: this version does not serve it', async () => {
    const url = createTool({
      id: 'url',
      description: 'U',
      execute: async (_input, { mcp }) =>
        mcp?.elicitation.sendRequest({ mode: 'url', message: 'x', requestedSchema: colour } as never),
    });
    await using caller = await callInMemory(serverOf({ url }), { onElicit: () => ({ action: 'accept' }) });
    expect(await caller.text('url')).toContain('mode "url" is not served');
  });
});

describe('the schema of a form (S213)', () => {
  const property = (schema: unknown): object => ({ type: 'object', properties: { a: schema } });

  test.each([
    { type: 'string', minLength: 1, maxLength: 9 },
    { type: 'string', format: 'date-time' },
    { type: 'string', enum: ['a'], enumNames: ['A'] },
    { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
    { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    { type: 'number', minimum: 0, maximum: 1 },
    { type: 'integer' },
    { type: 'boolean', default: true },
  ])('may hold %j', schema => {
    expect(formDefect(property(schema))).toBeUndefined();
  });

  test.each([
    { type: 'object', properties: {} },
    { type: 'array', items: { type: 'string' } },
    { type: 'array' },
    { type: 'string', format: 'uuid' },
    { type: ['string', 'null'] },
    { $ref: '#/x' },
    true,
    {},
  ])('may not hold %j', schema => {
    expect(formDefect(property(schema))).toContain('"a"');
  });

  test.each([undefined, null, [], {}, { type: 'string' }, { type: 'object' }])('is not %j', schema => {
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
      message: 'The client gave no answer to ping: "no \\"quotes\\""',
    });
  });

  test('a real client that never answers is given up after askTimeoutMs', async () => {
    const server = new MCPServer({ name: 's', version: '1', tools: { asks: asks() }, askTimeoutMs: 30 });
    await using caller = await callInMemory(server, { onElicit: () => new Promise<never>(() => undefined) });
    expect(await caller.text('asks')).toContain('gave no answer to elicitation/create');
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
