import { expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { connectRaw, initialize } from '../server/http-harness.ts';
import { serveHttp, serveSse } from '../support/serve-http.ts';

/** What a page sends whose name was pointed to this machine, or that simply tries. */
const foreign = [
  { host: 'evil.example' },
  { host: 'evil.example', origin: 'http://evil.example' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
];

const create = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ id: 'local', name: 'Local', version: '1.0.0', tools: {}, ...config });

verifies(['B64', 'S1', 'D12'], 'a server on this machine lets no foreign page in by default', async () => {
  await using server = create();
  await using host = await serveHttp(server);
  const listener = await server.listen({ port: 0 });
  for (const { port } of [host.url, listener.url]) {
    using client = connectRaw(Number(port));
    const session = await client.open();
    for (const headers of foreign) {
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS']) {
        const body = method === 'POST' ? initialize() : undefined;
        const answer = await client.send({ method, headers: { ...session, ...headers }, body });
        expect([headers, method, answer.status]).toEqual([headers, method, 403]);
        expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
      }
    }
    // The session is still there, and programs send no Origin.
    expect((await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, session)).status).toBe(200);
  }
});

verifies(['B64', 'S1'], 'nor does it over HTTP+SSE, on either of its paths', async () => {
  await using server = create();
  await using host = await serveSse(server);
  using client = connectRaw(Number(host.url.port));
  const stream = await client.send({ method: 'GET', path: '/sse' });
  const { data: path = '' } = (await stream.event()) ?? {};
  for (const headers of foreign) {
    for (const sent of [
      { method: 'GET', path: '/sse' },
      { path, body: initialize() },
    ]) {
      const answer = await client.send({ ...sent, headers });
      expect([headers, sent.path, answer.status]).toEqual([headers, sent.path, 403]);
      await answer.text();
    }
  }
  expect((await client.send({ path, body: initialize() })).status).toBe(202);
});

verifies(['B64', 'D12'], 'hosts and origins that are listed get in', async () => {
  await using server = create({ allowedHosts: ['mcp.example'], allowedOrigins: ['https://app.example'] });
  const { url } = await server.listen({ port: 0 });
  using client = connectRaw(Number(url.port));
  for (const [headers, status] of [
    [{ host: 'mcp.example' }, 200],
    [{ host: 'mcp.example', origin: 'https://app.example' }, 200],
    [{ host: 'other.example' }, 403],
    [{ host: 'mcp.example', origin: 'https://other.example' }, 403],
  ] as const)
    expect([headers, (await client.post(initialize(), headers)).status]).toEqual([headers, status]);
});
