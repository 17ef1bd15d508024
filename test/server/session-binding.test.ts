import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import type { CallContext, CallHandler } from '../../src/server/calls/call-context.ts';
import { CallGate } from '../../src/server/calls/call-gate.ts';
import { Session } from '../../src/server/sessions/session-binding.ts';
import type { SessionBinding, SessionMode } from '../../src/server/sessions/session-binding.ts';
import { MCPServer } from '../../src/server/index.ts';
import { MCPAccessDeniedError, MCPServerError, MCPToolCallError } from '../../src/shared/errors.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';

interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const noted = { tools: { listChanged: true }, logging: {} };

function bindingOf(handlers: Record<string, CallHandler>, errors: unknown[] = []): SessionBinding {
  return {
    serverInfo: { name: 'bound', version: '1.0.0' },
    instructions: 'Use it well',
    handlers: new Map(Object.entries(handlers)),
    capabilities: { session: noted, stdio: noted, stateless: { tools: {} }, 'stateless-streaming': noted },
    askTimeoutMs: 1000,
    gate: new CallGate(),
    onError: (message, error, severity) => {
      if (severity === 'error') errors.push([message, error]);
    },
  };
}

/** A session with a raw peer, who sees every message. */
async function open(binding: SessionBinding, mode: SessionMode = 'stdio') {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const got: Answer[] = [];
  near.onmessage = message => void got.push(message as Answer);
  await near.start();
  const session = new Session({ principal: 'p', mode }, binding);
  await session.connect(far);
  const send = (message: object): Promise<void> =>
    near.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const ask = async (method: string, params?: object, id: number | string = 1): Promise<Answer> => {
    const before = got.length;
    await send({ id, method, ...(params === undefined ? {} : { params }) });
    await until(() => got.slice(before).some(message => message.id === id));
    return got.slice(before).find(message => message.id === id) ?? {};
  };
  const initialize = async (protocolVersion = '2025-06-18'): Promise<Answer> => {
    const answer = await ask('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    });
    await send({ method: 'notifications/initialized' });
    return answer;
  };
  return { session, got, send, ask, initialize };
}

describe('a session', () => {
  verifies('S138', 'introduces the server with its instructions', async () => {
    const { initialize } = await open(bindingOf({}));
    expect((await initialize()).result).toMatchObject({
      serverInfo: { name: 'bound', version: '1.0.0' },
      instructions: 'Use it well',
      capabilities: noted,
    });
  });

  test('knows the revision that was agreed on, and tells it to every call', async () => {
    for (const [offered, agreed] of [
      ['2025-06-18', '2025-06-18'],
      ['2030-01-01', '2025-11-25'],
    ] as const) {
      let revision = '';
      const handlers = {
        'tools/list': async (_params: unknown, call: CallContext) => ({
          revision: (revision = call.revision),
        }),
      };
      const { session, ask, initialize } = await open(bindingOf(handlers));
      expect(session.revision).toBeUndefined();
      await initialize(offered);
      await ask('tools/list');
      expect([session.revision, revision]).toEqual([agreed, agreed]);
    }
  });

  test('hands a call what is known about it', async () => {
    let seen: CallContext | undefined;
    const handlers = { 'x/y': async (_params: unknown, call: CallContext) => ((seen = call), {}) };
    const { ask, initialize } = await open(bindingOf(handlers));
    await initialize();
    await ask('x/y', { _meta: { progressToken: 7 } }, 'id-1');
    expect(seen).toMatchObject({
      method: 'x/y',
      requestId: 'id-1',
      principal: 'p',
      meta: { progressToken: 7 },
      client: { info: { name: 'c', version: '1' }, capabilities: {} },
    });
    expect(seen?.requestContext).toBeInstanceOf(RequestContext);
  });

  verifies('D21', 'answers a method that nobody handles as the protocol says', async () => {
    const { ask } = await open(bindingOf({}));
    for (const method of ['server/discover', 'resources/list', 'constructor', 'completion/complete']) {
      expect(await ask(method)).toMatchObject({ error: { code: -32601 } });
    }
  });

  verifies(['S205', 'S206'], 'keeps a log level, and refuses one that does not exist', async () => {
    const { ask } = await open(bindingOf({}));
    expect((await ask('logging/setLevel', { level: 'warning' })).result).toEqual({});
    for (const params of [{ level: 'loud' }, { level: 3 }, {}, undefined]) {
      expect(await ask('logging/setLevel', params)).toMatchObject({ error: { code: -32602 } });
    }
  });

  verifies('S167', 'has no log level where nothing can be logged', async () => {
    const { ask } = await open(bindingOf({}), 'stateless');
    expect(await ask('logging/setLevel', { level: 'error' })).toMatchObject({ error: { code: -32601 } });
  });

  verifies('D14', 'aborts running calls when it ends, and refuses calls when the server closes', async () => {
    let signal: AbortSignal | undefined;
    const handlers = {
      hang: async (_params: unknown, call: CallContext) => {
        signal = call.signal;
        await new Promise(resolve => call.signal.addEventListener('abort', resolve));
        return {};
      },
    };
    const binding = bindingOf(handlers);
    const { session, send, ask } = await open(binding);
    await send({ id: 9, method: 'hang' });
    await until(() => signal !== undefined);
    void binding.gate.close(0);
    expect(await ask('hang')).toMatchObject({ error: { code: -32000 } });
    await session.close();
    expect([session.closed, signal?.aborted]).toEqual([true, true]);
    await until(() => binding.gate.running === 0);
  });

  verifies('S11', 'refuses further questions to a client that leaves too many unanswered', async () => {
    const binding = bindingOf({});
    const { session, initialize, send, got } = await open(binding);
    await initialize();
    const limits = { timeoutMs: 5000, signal: undefined };
    const ask = (): Promise<unknown> => session.request('roots/list', undefined, limits);
    const open64 = Array.from({ length: 64 }, () => ask().catch(() => 'closed'));
    await expect(ask()).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    // An answer makes room for one more, and no more than one.
    await send({ id: got.find(({ method }) => method === 'roots/list')?.id, result: { roots: [] } });
    expect(await Promise.race(open64)).toEqual({ roots: [] });
    const next = ask().catch(() => 'closed');
    await expect(ask()).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    await session.close();
    expect(await Promise.all([...open64.slice(1), next])).toEqual(Array.from({ length: 64 }, () => 'closed'));
    expect(got.filter(({ method }) => method === 'roots/list')).toHaveLength(65);
  });
});

describe('errors become JSON-RPC errors in one place', () => {
  const data = { elicitations: [] };
  const errors: readonly (readonly [string, unknown, object])[] = [
    [
      'an unknown tool',
      new MCPServerError('MCP_SERVER_UNKNOWN_TOOL', { message: 'Unknown tool: x' }),
      { code: -32602, message: 'Unknown tool: x' },
    ],
    [
      'a denied tool',
      new MCPAccessDeniedError({ message: 'user u1 lacks it', toolName: 'x' }),
      { code: -32602, message: 'Unknown tool: x' },
    ],
    [
      'wrong params',
      new MCPServerError('MCP_SERVER_PARAMS_INVALID', { message: 'bad' }),
      { code: -32602, message: 'bad' },
    ],
    [
      'a missing capability',
      new MCPServerError('MCP_SERVER_CLIENT_CAPABILITY_MISSING', { message: 'no', data: { a: 1 } }),
      { code: -32602, message: 'no', data: { a: 1 } },
    ],
    [
      'a missing resource',
      new MCPServerError('MCP_SERVER_RESOURCE_NOT_FOUND', { message: 'Resource not found: a:b' }),
      { code: -32002, message: 'Resource not found: a:b' },
    ],
    [
      'a required URL',
      new MCPServerError('MCP_SERVER_URL_ELICITATION_REQUIRED', { message: 'open it', data }),
      { code: -32042, message: 'open it', data },
    ],
    [
      'another error of ours',
      new MCPToolCallError('MCP_SERVER_TOOL_EXECUTE_FAILED', {
        message: 'two\nlines',
        toolName: 't',
        serverName: 's',
      }),
      { code: -32603, message: 'two lines' },
    ],
    [
      'any other error',
      Object.assign(new Error('at /etc/passwd'), { code: -32001 }),
      { code: -32603, message: 'Internal error' },
    ],
    ['what is no error', 'x', { code: -32603, message: 'Internal error' }],
  ];
  for (const [what, thrown, expected] of errors) {
    test(`${what} (S10)`, async () => {
      const reported: unknown[] = [];
      const handlers = {
        fail: async () => {
          throw thrown;
        },
      };
      const { ask } = await open(bindingOf(handlers, reported));
      const { error } = await ask('fail');
      expect(error).toEqual(expected);
      expect(reported.length).toBe((expected as { code: number }).code === -32603 ? 1 : 0);
    });
  }
});

describe('events', () => {
  verifies(['S202', 'S167'], 'reach a session that is ready, and never a stateless one', async () => {
    const event = { kind: 'tools_list_changed' } as const;
    const stateful = await open(bindingOf({}));
    expect(await stateful.session.deliver(event)).toBe('not-wanted');
    await stateful.initialize();
    await until(() => stateful.session.revision !== undefined);
    await stateful.ask('ping', undefined, 2);
    expect(await stateful.session.deliver(event)).toBe('sent');
    expect(stateful.got.at(-1)).toMatchObject({ method: 'notifications/tools/list_changed' });
    await stateful.session.close();
    expect(await stateful.session.deliver(event)).toBe('not-wanted');
    const stateless = await open(bindingOf({}), 'stateless-streaming');
    await stateless.initialize();
    expect(await stateless.session.deliver(event)).toBe('not-wanted');
  });

  verifies('S207', 'honour the level of the session', async () => {
    const { session, ask, got, initialize } = await open(bindingOf({}));
    await initialize();
    await ask('logging/setLevel', { level: 'error' }, 2);
    expect(await session.deliver({ kind: 'log', level: 'warning', data: 1 })).toBe('not-wanted');
    expect(await session.deliver({ kind: 'log', level: 'alert', data: { a: 1 }, logger: 'l' })).toBe('sent');
    expect(got.at(-1)).toMatchObject({ params: { level: 'alert', data: { a: 1 }, logger: 'l' } });
    for (const kind of ['prompts_list_changed', 'resources_list_changed'] as const) {
      expect(await session.deliver({ kind })).toBe('not-wanted');
    }
  });
});

describe('capabilities', () => {
  const tools = { t: createTool({ id: 't', description: 't', execute: async () => 1 }) };

  verifies(['S167', 'S164'], 'are those of the mode: what cannot happen is not promised', async () => {
    const server = new MCPServer({ name: 's', version: '1', tools });
    await using stdio = await callInMemory(server);
    await using session = await callByFetch(server);
    const serverless = { serverless: true };
    await using stateless = await callByFetch(server, { facts: { options: serverless } });
    const streaming = { options: { ...serverless, serverlessStreaming: true } };
    await using stream = await callByFetch(server, { facts: streaming });
    expect(stdio.client.getServerCapabilities()).toEqual(noted);
    expect(session.client.getServerCapabilities()).toEqual(noted);
    expect(stateless.client.getServerCapabilities()).toEqual({ tools: {} });
    expect(stream.client.getServerCapabilities()).toEqual({ tools: {}, logging: {} });
    await server.close();
  });
});
