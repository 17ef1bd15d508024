import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { createOAuthCallbackServer, getCallbackUrlCandidates } from '../../../src/client/index.ts';
import { rejection } from '../../support/client.ts';
import { verifies } from '../../requirements/requirements.ts';

const ANY_PORT = 'http://127.0.0.1:0/oauth/callback';
const state = 'state-0123456789';

interface Page {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly html: string;
}

/** A request with headers that `fetch` does not let anybody set. */
async function visit(
  url: URL | string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<Page> {
  const outgoing = request(url, options).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let html = '';
  for await (const chunk of response) html += String(chunk);
  return { status: response.statusCode, headers: response.headers, html };
}

const withQuery = (url: URL, query: Record<string, string>): URL =>
  new URL(`${url.href}?${new URLSearchParams(query).toString()}`);

async function occupy(port = 0): Promise<Server & AsyncDisposable> {
  const server = createServer();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe('the candidates of a redirect URL', () => {
  verifies(['S102', 'S088'], 'are its own port and the next ten, as URLs', () => {
    const candidates = getCallbackUrlCandidates('http://127.0.0.1:5533/oauth/callback');
    expect(candidates.every(candidate => candidate instanceof URL)).toBe(true);
    expect(candidates.map(String)).toEqual(
      Array.from({ length: 11 }, (_, index) => `http://127.0.0.1:${5533 + index}/oauth/callback`),
    );
  });

  test('end at the last port there is', () => {
    expect(getCallbackUrlCandidates('http://[::1]:65530/cb').map(({ port }) => port)).toEqual(
      Array.from({ length: 6 }, (_, index) => String(65_530 + index)),
    );
  });

  test('of an address that nothing here binds are that address', () => {
    expect(getCallbackUrlCandidates('https://app.example/cb').map(String)).toEqual([
      'https://app.example/cb',
    ]);
    expect(() => getCallbackUrlCandidates('no url')).toThrow(
      expect.objectContaining({ code: 'MCP_CLIENT_CONFIGURATION_INVALID', option: 'redirectUrl' }),
    );
  });
});

describe('a callback server', () => {
  verifies(
    ['S099', 'S100', 'O4'],
    'gives the code and tells the browser nothing that was in the request',
    async () => {
      await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
      expect(server.url.port).toBe(String(server.port));
      const waiting = server.waitForCode();
      const page = await visit(
        withQuery(server.url, { code: 'code-0123456789', state, iss: 'https://as.example' }),
      );
      expect(await waiting).toEqual({ code: 'code-0123456789', state, iss: 'https://as.example' });
      expect(page.status).toBe(200);
      expect(page.html).not.toMatch(/code-|state-|as\.example/);
      expect(page.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'referrer-policy': 'no-referrer',
        connection: 'close',
      });
      // Not "complete": the exchange is still to come.
      expect(page.html).not.toContain('complete');
      expect((await visit(withQuery(server.url, { code: 'other', state }))).status).toBe(410);
    },
  );

  test('gives a code that came before anybody asked', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
    await visit(withQuery(server.url, { code: 'early', state }));
    expect(await server.waitForCode()).toEqual({ code: 'early', state });
  });

  verifies('O3', 'ignores a hundred returns with a wrong state and takes the right one', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
    const waiting = server.waitForCode();
    const forged = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        visit(withQuery(server.url, { code: 'forged', state: `state-${index}` })),
      ),
    );
    expect(new Set(forged.map(({ status }) => status))).toEqual(new Set([400]));
    await visit(withQuery(server.url, { code: 'right', state }));
    expect(await waiting).toMatchObject({ code: 'right' });
  });

  verifies(
    'O3',
    'takes nothing but a GET of its path under its own name, with each parameter once',
    async () => {
      await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
      const right = withQuery(server.url, { code: 'c', state });
      const { port } = server;
      const refused = [
        await visit(right, { method: 'POST' }),
        await visit(right, { method: 'HEAD' }),
        await visit(new URL(`/oauth/callback/${right.search}`, right)),
        await visit(new URL(`/OAuth/callback${right.search}`, right)),
        await visit(right, { headers: { host: `evil.example:${port}` } }),
        await visit(right, { headers: { host: `localhost:${port}` } }),
        await visit(`${right.href}&state=${state}`),
        await visit(`${right.href}&code=d`),
        await visit(withQuery(server.url, { state })),
        await visit(withQuery(server.url, { code: 'c', error: 'access_denied', state })),
        await visit(withQuery(server.url, { code: 'c' })),
      ];
      expect(refused.map(({ status }) => status)).toEqual([
        405, 405, 404, 404, 421, 421, 400, 400, 400, 400, 400,
      ]);
      await visit(right);
      expect(await server.waitForCode()).toMatchObject({ code: 'c' });
    },
  );

  test('rejects with the code of a refusal, and quotes what was said', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
    const query = { error: 'access_denied', error_description: 'no <b>way</b>', state };
    const page = await visit(withQuery(server.url, query));
    expect(page.status).toBe(400);
    expect(page.html).not.toContain('way');
    expect(await rejection(server.waitForCode())).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
      reason: 'denied',
      oauthError: 'access_denied',
      message: expect.stringContaining('"no <b>way</b>"'),
    });
  });

  test('stops waiting at its limit, and when it is closed', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
    expect(await rejection(server.waitForCode({ timeoutMs: 20 }))).toMatchObject({
      reason: 'timeout',
      message: expect.stringContaining('20 ms'),
    });
    const waiting = rejection(server.waitForCode());
    await server.close();
    expect(await waiting).toMatchObject({ reason: 'cancelled' });
    await server.close();
  });

  verifies(
    ['S088', 'O5'],
    'goes on to the next port when its own is taken, and frees it at the end',
    async () => {
      await using occupied = await occupy();
      const port = portOf(occupied);
      const redirectUrl = `http://127.0.0.1:${port}/cb`;
      const server = await createOAuthCallbackServer({ redirectUrl, state });
      expect(server.port).toBeGreaterThan(port);
      expect(server.port).toBeLessThanOrEqual(port + 10);
      await server.close();
      await using again = await occupy(server.port);
      expect(portOf(again)).toBe(server.port);
    },
  );

  verifies('O5', 'rejects when every port is taken', async () => {
    // The last port there is has no successor.
    await using _occupied = await occupy(65_535).catch(() => ({ async [Symbol.asyncDispose]() {} }));
    expect(
      await rejection(createOAuthCallbackServer({ redirectUrl: 'http://127.0.0.1:65535/cb', state })),
    ).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_FAILED', reason: 'callback' });
  });

  verifies('O5', 'binds the address of its URL and no other', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: ANY_PORT, state });
    const other = new URL(server.url);
    other.hostname = '127.0.0.2';
    await expect(visit(other)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  verifies('O5', 'binds both meanings of localhost', async () => {
    await using server = await createOAuthCallbackServer({ redirectUrl: 'http://localhost:0/cb', state });
    const headers = { host: `localhost:${server.port}` };
    const loopback = Object.values(networkInterfaces()).flat();
    const has6 = loopback.some(one => one?.address === '::1');
    for (const address of ['127.0.0.1', ...(has6 ? ['[::1]'] : [])]) {
      expect((await visit(`http://${address}:${server.port}/other`, { headers })).status).toBe(404);
    }
    expect(server.url.hostname).toBe('localhost');
  });

  verifies('S101', 'is refused for anything but plain http on a loopback address', async () => {
    for (const redirectUrl of ['https://127.0.0.1/cb', 'http://app.example/cb', 'myapp://callback']) {
      expect(await rejection(createOAuthCallbackServer({ redirectUrl, state }))).toMatchObject({
        code: 'MCP_CLIENT_CONFIGURATION_INVALID',
        option: 'redirectUrl',
      });
    }
    expect(await rejection(createOAuthCallbackServer({ redirectUrl: ANY_PORT, state: '' }))).toMatchObject({
      option: 'state',
    });
  });
});
