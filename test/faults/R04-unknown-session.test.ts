import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import {
  answerPlainly,
  rpcResult,
  sendJson,
  startHttp,
  type HttpTestServer,
} from '../support/http-server.ts';

/** A server with sessions that can forget them all, as a restart does. Counts executions by argument. */
async function startForgetful(): Promise<
  HttpTestServer & { forget(): void; executions: Map<string, number> }
> {
  const sessions = new Set<string>();
  const executions = new Map<string, number>();
  const server = await startHttp((request, response) => {
    const { message, headers } = request;
    if (request.method !== 'POST' || message === undefined) return response.writeHead(405).end();
    if (message.method === 'initialize') {
      const id = randomUUID();
      sessions.add(id);
      return sendJson(response, 200, rpcResult(message), { 'mcp-session-id': id });
    }
    if (!sessions.has(String(headers['mcp-session-id']))) return response.writeHead(404).end();
    if (message.method === 'tools/call') {
      const key = JSON.stringify(message.params?.['arguments']);
      executions.set(key, (executions.get(key) ?? 0) + 1);
    }
    return answerPlainly(request, response);
  });
  return Object.assign(server, { forget: () => sessions.clear(), executions });
}

verifies('R4', 'after a restart the next call runs once in a new session, within a moment', async () => {
  await using server = await startForgetful();
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  const echo = await executeOf(client, 'shop_echo');
  await echo({ n: 1 });
  server.forget();
  const started = performance.now();
  expect(textOf(await echo({ n: 2 }))).toBe('{"n":2}');
  expect(performance.now() - started).toBeLessThan(1500);
  expect(server.count('POST', 'initialize')).toBe(2);
  expect([...server.executions]).toEqual([
    ['{"n":1}', 1],
    ['{"n":2}', 1],
  ]);
});

verifies('R4', '64 parallel calls share one new session, and each runs once', async () => {
  await using server = await startForgetful();
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  const echo = await executeOf(client, 'shop_echo');
  await echo({ n: -1 });
  server.forget();
  const numbers = Array.from({ length: 64 }, (_, n) => n);
  const results = await Promise.all(numbers.map(n => echo({ n })));
  expect(results.map(textOf)).toEqual(numbers.map(n => `{"n":${n}}`));
  expect(server.count('POST', 'initialize')).toBe(2);
  expect(server.executions.size).toBe(65);
  expect([...server.executions.values()].every(count => count === 1)).toBe(true);
});

verifies('R4', 'a server that knows no session at all is asked twice, not without end', async () => {
  await using server = await startForgetful();
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  await client.ping('shop');
  const original = server.requests.length;
  const echo = await executeOf(client, 'shop_echo');
  const forgetting = setInterval(() => server.forget(), 0);
  await echo({}).catch(() => undefined);
  clearInterval(forgetting);
  expect(server.requests.length - original).toBeLessThan(12);
});
