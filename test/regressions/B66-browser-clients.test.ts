import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { ACCEPT, initialize } from '../server/http-harness.ts';
import { serveHttp } from '../support/serve-http.ts';

const APP = 'https://app.example';
const REVISION = '2025-11-25';

/** Headers that a browser sends and shows without asking anybody. */
const SAFE_REQUEST_HEADERS = ['accept'];
const SAFE_ANSWER_HEADERS = ['cache-control', 'content-length', 'content-type'];

const listOf = (value: string | null): string[] => (value ?? '').toLowerCase().split(/\s*,\s*/);

class BlockedByBrowser extends Error {}

/** What a script of a page of `origin` gets: a preflight first, then an answer that shows what it may show. */
async function fetchFromPage(
  origin: string,
  url: URL,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
): Promise<{ status: number; headers: Headers; text: string }> {
  const names = Object.keys(init.headers).filter(name => !SAFE_REQUEST_HEADERS.includes(name));
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': init.method,
      'access-control-request-headers': names.join(','),
    },
  });
  const isAllowed = (response: Response): boolean =>
    ['*', origin].includes(response.headers.get('access-control-allow-origin') ?? '');
  const methods = listOf(preflight.headers.get('access-control-allow-methods'));
  const headers = listOf(preflight.headers.get('access-control-allow-headers'));
  if (
    !preflight.ok ||
    !isAllowed(preflight) ||
    !methods.includes(init.method.toLowerCase()) ||
    !names.every(name => headers.includes(name))
  )
    throw new BlockedByBrowser('preflight');
  const response = await fetch(url, { ...init, headers: { ...init.headers, origin } });
  if (!isAllowed(response)) throw new BlockedByBrowser('answer');
  const exposed = [...SAFE_ANSWER_HEADERS, ...listOf(response.headers.get('access-control-expose-headers'))];
  const shown = new Headers([...response.headers].filter(([name]) => exposed.includes(name)));
  const isStream = shown.get('content-type') === 'text/event-stream' && init.method === 'GET';
  if (isStream) await response.body?.cancel();
  return { status: response.status, headers: shown, text: isStream ? '' : await response.text() };
}

const post = (body: object, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const create = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ id: 'web', name: 'Web', version: '1.0.0', tools: {}, ...config });

describe('a page of a listed origin', () => {
  verifies(['B66', 'D12'], 'opens a session, listens, calls and ends it, with a token', async () => {
    await using server = create({ cors: { origins: [APP] } });
    await using host = await serveHttp(server);
    const authorization = 'Bearer of-the-page';
    const opened = await fetchFromPage(APP, host.url, post(initialize(), { authorization }));
    expect(opened.status).toBe(200);
    const id = opened.headers.get('mcp-session-id') ?? '';
    expect(id).not.toBe('');
    const session = { authorization, 'mcp-session-id': id, 'mcp-protocol-version': REVISION };
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect(JSON.parse((await fetchFromPage(APP, host.url, post(ping, session))).text)).toMatchObject({
      id: 2,
    });
    const accept = 'text/event-stream';
    const stream = await fetchFromPage(APP, host.url, { method: 'GET', headers: { ...session, accept } });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, accept]);
    const resumed = { ...session, accept, 'last-event-id': 'x' };
    expect((await fetchFromPage(APP, host.url, { method: 'GET', headers: resumed })).status).toBeLessThan(
      500,
    );
    expect((await fetchFromPage(APP, host.url, { method: 'DELETE', headers: session })).status).toBe(200);
    // Refusals can be read as well: the client has to learn that its session is gone.
    expect((await fetchFromPage(APP, host.url, post(ping, session))).status).toBe(404);
  });

  verifies('B66', 'reads how to log in from the WWW-Authenticate of an answer', async () => {
    await using server = create({ cors: { origins: [APP] } });
    const host = createServer((req, res) => {
      // A middleware in front: it says how to log in, and leaves the rest of the answer to the server.
      if (req.headers.authorization === undefined) res.setHeader('www-authenticate', 'Bearer scope="mcp"');
      const url = new URL(req.url ?? '/', 'http://127.0.0.1');
      void server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const url = new URL(`http://127.0.0.1:${(host.address() as AddressInfo).port}/mcp`);
    const answer = await fetchFromPage(APP, url, post({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([400, 'Bearer scope="mcp"']);
    host.closeAllConnections();
    host.close();
  });
});

verifies(
  ['B66', 'D12'],
  'a preflight needs no session, and a page that is not listed gets nothing',
  async () => {
    await using server = create({ cors: { origins: [APP] } });
    await using host = await serveHttp(server);
    for (const origin of ['https://evil.example', 'https://app.example.evil.example', 'http://app.example'])
      await expect(fetchFromPage(origin, host.url, post(initialize()))).rejects.toThrow(BlockedByBrowser);
    await using silent = create();
    await using silentHost = await serveHttp(silent);
    // A page on this machine may send, but without CORS no script of another port may read.
    for (const origin of [APP, 'http://localhost:6274'])
      await expect(fetchFromPage(origin, silentHost.url, post(initialize()))).rejects.toThrow(
        BlockedByBrowser,
      );
  },
);

verifies('B66', 'serverless answers can be read by a listed page, too', async () => {
  await using server = create({ cors: { origins: '*' } });
  await using host = await serveHttp(server, { serverless: true });
  const answer = await fetchFromPage(APP, host.url, post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
  expect(JSON.parse(answer.text)).toMatchObject({ result: { tools: [] } });
});
