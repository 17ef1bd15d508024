import { fileURLToPath } from 'node:url';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect } from 'vitest';
import { InMemoryEventStore } from '../../src/server/index.ts';
import type { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { serveHttp, serveSse } from '../support/serve-http.ts';
import { createAskingServer } from './asking-tools.ts';
import { callAt, callByFetch, callInMemory, callOver, until } from './call-harness.ts';
import type { Caller, CallerOptions } from './call-harness.ts';

const script = fileURLToPath(new URL('asking-tools.ts', import.meta.url));

/** A client that answers everything and notes what it is told. */
function listener() {
  const told: string[] = [];
  const options: CallerOptions = {
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    onElicit: ({ url }) => ({ action: 'accept', ...(url === undefined ? { content: { name: 'Ann' } } : {}) }),
    onSample: () => ({ model: 'm-1', role: 'assistant', content: { type: 'text', text: 'Hello' } }),
    roots: ['file:///tmp'],
    onNotification: (method, params) => {
      told.push(method === 'notifications/message' ? String(params['level']) : method);
    },
  };
  return { told, options };
}

const answers = {
  form: { action: 'accept', content: { name: 'Ann' } },
  page: { action: 'accept' },
  model: 'm-1',
};
const rest = ['notifications/tools/list_changed', 'notifications/elicitation/complete'];

/** Asks this client everything, then has it told everything. */
async function askAndTell(caller: Caller, told: readonly string[]): Promise<void> {
  expect(JSON.parse(await caller.text('everything'))).toEqual({ ...answers, roots: ['file:///tmp'] });
  await caller.client.setLoggingLevel('warning');
  expect(await caller.text('announce', { levels: ['info', 'warning'] })).toBe('true');
  await until(() => told.length === 3);
  await caller.client.setLoggingLevel('debug');
  expect(await caller.text('announce', { levels: ['debug'] })).toBe('false');
  await until(() => told.length === 5);
  expect(told).toEqual(['warning', ...rest, 'debug', rest[0]]);
}

describe('one client is asked everything and told everything', () => {
  verifies(['S205', 'S206', 'S212', 'S215'], 'in memory', async () => {
    const { told, options } = listener();
    await using caller = await callInMemory(createAskingServer(), options);
    await askAndTell(caller, told);
  });

  verifies(['S205', 'S206', 'S212', 'S215'], 'over HTTP, with and without an event store', async () => {
    for (const eventStore of [undefined, new InMemoryEventStore()]) {
      const server = createAskingServer();
      await using host = await serveHttp(server, eventStore === undefined ? undefined : { eventStore });
      const { told, options } = listener();
      const caller = await callAt(host.url, options);
      await askAndTell(caller, told);
      await caller.client.close();
      await server.close();
    }
  });

  verifies(['S205', 'S206', 'S208', 'S215'], 'over HTTP+SSE', async () => {
    const server = createAskingServer();
    await using host = await serveSse(server);
    const { told, options } = listener();
    const caller = await callOver(new SSEClientTransport(host.url), options);
    await askAndTell(caller, told);
    await caller.client.close();
    await server.close();
  });

  verifies(
    ['S205', 'S206', 'S208', 'S212'],
    'over stdio',
    async () => {
      const { told, options } = listener();
      const args = ['--import', 'tsx', script];
      const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
      await using caller = await callOver(transport, options);
      await askAndTell(caller, told);
    },
    60_000,
  );
});

/** A connection over which nothing can be sent any more, once it was made. */
async function addBroken(server: MCPServer): Promise<void> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.getServer().connect(far);
  await near.start();
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'broken', version: '1' },
  };
  const answered = new Promise(resolve => {
    near.onmessage = resolve;
  });
  await near.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize });
  await answered;
  await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  far.send = () => Promise.reject(new Error('broken pipe'));
}

describe('all clients together', () => {
  verifies(
    ['S206', 'S207', 'S208'],
    'are told on every transport, each from the level it wants',
    async () => {
      const server = createAskingServer();
      await using host = await serveHttp(server);
      const heard = [listener(), listener(), listener(), listener()] as const;
      await using memory = await callInMemory(server, heard[0].options);
      await using fetched = await callByFetch(server, heard[1].options);
      await using http = await callAt(host.url, heard[2].options);
      await using quiet = await callAt(host.url, heard[3].options);
      for (const caller of [memory, fetched, http, quiet]) await caller.client.ping();
      await quiet.client.setLoggingLevel('critical');
      await server.sendLoggingMessage({ level: 'error', data: { why: 'test' } });
      await server.sendLoggingMessage({ level: 'emergency', data: null });
      await until(() => heard.every(({ told }) => told.includes('emergency')));
      const both = ['error', 'emergency'];
      expect(heard.map(({ told }) => told)).toEqual([both, both, both, ['emergency']]);
      await Promise.all([memory, fetched, http, quiet].map(caller => caller.client.close()));
      await server.close();
    },
  );

  verifies('S208', 'are told though one of them fails; an error is only that all fail', async () => {
    const server = createAskingServer();
    await server.sendLoggingMessage({ level: 'info', data: 'to nobody' });
    await server.toolActions.notifyListChanged();
    await addBroken(server);
    const send = (): Promise<void> => server.sendLoggingMessage({ level: 'info', data: 1 });
    await expect(send()).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    await expect(server.toolActions.notifyListChanged()).rejects.toMatchObject({
      code: 'MCP_SERVER_CLIENT_UNREACHABLE',
    });
    const { told, options } = listener();
    await using caller = await callInMemory(server, options);
    await caller.client.ping();
    await addBroken(server);
    await send();
    await server.toolActions.notifyListChanged();
    expect(told).toEqual(['info', 'notifications/tools/list_changed']);
  });

  verifies('S210', 'are not told where they keep no session', async () => {
    const server = createAskingServer();
    const { told, options } = listener();
    for (const serverlessStreaming of [false, true]) {
      const facts = { options: { serverless: true, serverlessStreaming } };
      await using caller = await callByFetch(server, { ...options, facts });
      expect(await caller.text('announce', { levels: ['error'] })).toBe('false');
    }
    expect(told).toEqual([]);
    await server.close();
  });
});
