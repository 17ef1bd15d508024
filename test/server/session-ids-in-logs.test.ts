import { inspect } from 'node:util';
import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z } from 'zod';
import { InMemoryEventStore, MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { serveHttp, serveSse } from '../support/serve-http.ts';
import { callTool, connectRaw, initialize, until } from './http-harness.ts';

const broken = createTool({
  id: 'broken',
  description: 'Always fails',
  inputSchema: z.object({}),
  execute: async () => {
    throw new Error('The till is empty');
  },
});
const slow = createTool({
  id: 'slow',
  description: 'Runs until it is aborted',
  inputSchema: z.object({}),
  execute: (_input, { abortSignal }) =>
    new Promise<string>(resolve => abortSignal?.addEventListener('abort', () => resolve('aborted'))),
});

verifies('S8', 'no session id is in the log, whatever befalls a session, but for its beginning', async () => {
  const lines: string[] = [];
  const log = (...parts: unknown[]): void => void lines.push(inspect(parts, { depth: 12 }));
  const server = new MCPServer({
    id: 'quiet',
    name: 'Quiet',
    version: '1.0.0',
    tools: { broken, slow },
    limits: { maxSessions: 4 },
  });
  server.__setLogger({ debug: log, info: log, warn: log, error: log, trackException: log } as never);
  const eventStore = new InMemoryEventStore();
  await using host = await serveHttp(server, { eventStore });
  await using sseHost = await serveSse(server);
  using client = connectRaw(Number(host.url.port));
  using sseClient = connectRaw(Number(sseHost.url.port));
  const ids: string[] = [];
  const open = async (): Promise<Record<string, string>> => {
    const session = await client.open();
    ids.push(session['mcp-session-id'] ?? '');
    return session;
  };
  const talk = async (session: Record<string, string>): Promise<void> => {
    for (const message of [
      callTool(1, 'broken'),
      callTool(2, 'none'),
      { jsonrpc: '2.0', id: 3, method: 'no/such' },
      initialize({ id: 4 }),
      { jsonrpc: '2.0', id: 99, result: {} },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
      '{nope',
    ])
      await (await client.post(message, session)).text();
  };

  const [ended, listening, running] = [await open(), await open(), await open()];
  for (const session of [ended, listening, running]) await talk(session);
  const stream = await client.send({ method: 'GET', headers: listening });
  await stream.event();
  await (await client.send({ method: 'GET', headers: { ...ended, 'last-event-id': 'no-such' } })).text();
  const call = client.post(callTool(5, 'slow'), running).catch(() => undefined);
  await server.sendLoggingMessage({ level: 'info', data: 'to all' });
  await (await client.send({ method: 'DELETE', headers: ended })).text();
  await talk(ended);

  const sse = await sseClient.send({ method: 'GET', path: '/sse' });
  const path = (await sse.event())?.data ?? '';
  ids.push(new URL(path, 'http://x').searchParams.get('sessionId') ?? '');
  for (const message of [initialize(), callTool(2, 'broken'), '{nope', callTool(3, 'none')])
    await (await sseClient.send({ path, body: message })).text();
  sse.drop();
  await until(() => server.getSseTransport() === undefined, 'the SSE session has ended');
  await (await sseClient.send({ path, body: initialize() })).text();

  // More than there is room for: the longest idle ones end.
  for (let count = 0; count < 6; count += 1) await open();
  stream.drop();
  await server.close();
  await call;

  expect(ids).toHaveLength(10);
  const text = lines.join('\n');
  expect(text).toContain((ids[0] ?? '').slice(0, 8));
  expect(text).toContain('broken');
  for (const id of ids) expect(lines.filter(line => line.includes(id.slice(0, 9)))).toEqual([]);
});
