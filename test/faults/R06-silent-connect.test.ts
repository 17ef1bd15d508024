import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';

const LIMIT = 1000;
/** Half a second by the row; three times that here. */
const SLACK = 1500;

async function failureOfConnect(url: string, transport: 'auto' | 'http' | 'sse') {
  await using client = openClient({ silent: { url, transport, connectTimeout: LIMIT } });
  const started = performance.now();
  const error = await rejection(client.ping('silent'));
  return { error, took: performance.now() - started };
}

describe.each(['auto', 'http', 'sse'] as const)('with transport %s', transport => {
  verifies(['R6', 'D01'], 'a server that accepts and never answers fails at connectTimeout', async () => {
    await using server = await startHttp(() => undefined);
    await using proxy = await startFaultProxy(server.port);
    proxy.fault = { blackhole: true };
    const { error, took } = await failureOfConnect(`${proxy.origin}/mcp`, transport);
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_CONNECT_TIMEOUT',
      serverName: 'silent',
      mayHaveExecuted: false,
    });
    expect(took).toBeGreaterThanOrEqual(LIMIT - 10);
    expect(took).toBeLessThan(LIMIT + SLACK);
    expect(proxy.accepted).toBe(1);
  });
});

verifies(['R6', 'D01'], 'one limit covers Streamable HTTP and the fallback to SSE', async () => {
  await using server = await startLegacySse({ onGet: () => undefined });
  const { error, took } = await failureOfConnect(`${server.origin}/sse`, 'auto');
  expect(error).toMatchObject({
    code: 'MCP_CLIENT_CONNECT_TIMEOUT',
    attempts: [{ transport: 'http', cause: { facts: { status: 405 } } }, { transport: 'sse' }],
  });
  expect(took).toBeLessThan(LIMIT + SLACK);
});

verifies(['R6', 'D01'], 'an event stream that never names its endpoint is bounded as well', async () => {
  await using server = await startLegacySse({
    onGet: (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  });
  const { error, took } = await failureOfConnect(`${server.origin}/sse`, 'sse');
  expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_TIMEOUT' });
  expect(took).toBeLessThan(LIMIT + SLACK);
});
