import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import {
  answerPlainly,
  rpcResult,
  startEvents,
  startHttp,
  type HttpTestServer,
} from '../support/http-server.ts';
import { until } from '../support/processes.ts';

/** Answers calls of `echo` with an event stream that is left open, or that begins with an event id. */
async function startStreaming(
  firstEvent: string,
): Promise<HttpTestServer & { readonly streams: ServerResponse[] }> {
  const streams: ServerResponse[] = [];
  const server = await startHttp((request, response) => {
    if (request.message?.method !== 'tools/call') return answerPlainly(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(firstEvent);
    return streams.push(response);
  });
  return Object.assign(server, { streams });
}

const COMMENT = ': working\n\n';

describe('an answer stream without event ids', () => {
  for (const drop of ['reset', 'clean end'] as const) {
    verifies(['R7', 'D04'], `dropped by a ${drop} fails its call at once, which ran once`, async () => {
      await using server = await startStreaming(COMMENT);
      await using proxy = await startFaultProxy(server.port);
      await using client = openClient({ shop: { url: `${proxy.origin}/mcp` } });
      const echo = await executeOf(client, 'shop_echo');
      const call = rejection(echo({}));
      await until('the call arrived', () => server.streams.length === 1);
      const started = performance.now();
      if (drop === 'reset') proxy.resetAll();
      else server.streams[0]?.end();
      expect(await call).toMatchObject({
        code: 'MCP_CLIENT_CONNECTION_LOST',
        serverName: 'shop',
        mayHaveExecuted: true,
      });
      expect(performance.now() - started).toBeLessThan(3000);
      expect(server.count('POST', 'tools/call')).toBe(1);
      await client.ping('shop');
      expect(server.count('POST', 'tools/call')).toBe(1);
    });
  }

  verifies(['R7', 'D04'], 'is asked for once more where the tool is read-only', async () => {
    await using server = await startStreaming(COMMENT);
    await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
    const read = await executeOf(client, 'shop_read');
    const call = read({ n: 1 });
    await until('the call arrived', () => server.streams.length === 1);
    server.streams[0]?.end();
    await until('it was repeated', () => server.streams.length === 2);
    const repeated = server.requests
      .filter(({ message }) => message?.method === 'tools/call')
      .at(-1)?.message;
    server.streams[1]?.end(`data: ${JSON.stringify(rpcResult(repeated ?? {}))}\n\n`);
    expect(textOf(await call)).toBe('{"n":1}');
  });

  verifies(['R7', 'D04'], 'is not asked for again with retryAnnotatedTools: false', async () => {
    await using server = await startStreaming(COMMENT);
    await using client = openClient({ shop: { url: `${server.origin}/mcp`, retryAnnotatedTools: false } });
    const read = await executeOf(client, 'shop_read');
    const call = rejection(read({}));
    await until('the call arrived', () => server.streams.length === 1);
    server.streams[0]?.end();
    expect(await call).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST', mayHaveExecuted: true });
    expect(server.count('POST', 'tools/call')).toBe(1);
  });
});

verifies('R7', 'an answer stream with an event id is continued, and the call runs once', async () => {
  await using server = await startHttp((request, response) => {
    const { message, headers } = request;
    if (request.method === 'GET' && headers['last-event-id'] === '7') {
      const call = server.requests.find(({ message: sent }) => sent?.method === 'tools/call')?.message;
      startEvents(response)(rpcResult(call ?? {}));
      return response.end();
    }
    if (message?.method !== 'tools/call') return answerPlainly(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end('id: 7\nretry: 10\ndata:\n\n');
  });
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  const echo = await executeOf(client, 'shop_echo');
  expect(textOf(await echo({ n: 1 }))).toBe('{"n":1}');
  expect(server.count('POST', 'tools/call')).toBe(1);
  expect(server.requests.filter(({ headers }) => headers['last-event-id'] === '7')).toHaveLength(1);
});
