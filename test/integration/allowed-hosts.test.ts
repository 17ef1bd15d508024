/** The host policy as users meet it: one client, real servers, everything that a definition causes. */
import { describe, expect } from 'vitest';
import type { MastraFetchLike, MastraMCPServerDefinition, MCPClient } from '../../src/client/index.ts';
import { MCPOAuthClientProvider } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import {
  answerPlainly,
  messageOf,
  sendJson,
  startHttp,
  type HttpTestServer,
} from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';

const hostsOf = (...servers: readonly HttpTestServer[]): string[] =>
  servers.map(({ origin }) => new URL(origin).host);

/** A client that uses `/mcp` of a server. */
const clientOf = (server: HttpTestServer, definition: Partial<MastraMCPServerDefinition>): MCPClient =>
  openClient({ shop: { url: `${server.origin}/mcp`, ...definition } as MastraMCPServerDefinition });

verifies(
  ['S033', 'S035', 'S036', 'S042', 'D01'],
  'a host that is not allowed is never contacted: not at first, not by fallback, not on the next use',
  async () => {
    await using server = await startHttp(answerPlainly);
    for (const allowedHosts of [['shop.test'], []]) {
      await using client = clientOf(server, { allowedHosts });
      for (let use = 0; use < 2; use += 1) {
        expect(await rejection(client.ping('shop'))).toMatchObject({
          id: 'MCP_CLIENT_HOST_NOT_ALLOWED',
          serverName: 'shop',
          host: new URL(server.origin).host,
          message: expect.stringContaining('the request was not sent'),
          mayHaveExecuted: false,
        });
      }
      expect(client.getServerStatus()['shop']).toMatchObject({
        state: 'failed',
        lastError: { code: 'MCP_CLIENT_HOST_NOT_ALLOWED' },
      });
    }
    expect(server.requests).toHaveLength(0);
    await using open = clientOf(server, {});
    await open.ping('shop');
  },
);

verifies(['C2', 'S036', 'S042'], 'a redirect to a host that is not allowed is not followed', async () => {
  await using inner = await startHttp(answerPlainly);
  await using server = await startHttp((_, response) =>
    response.writeHead(307, { location: `${inner.origin}/mcp` }).end(),
  );
  await using client = clientOf(server, { allowedHosts: hostsOf(server) });
  expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
  expect(server.requests).toHaveLength(1);
  expect(inner.requests).toHaveLength(0);
});

verifies(
  ['C2', 'S037', 'S042'],
  'a redirect loop ends after six requests with a typed error and nothing else is tried',
  async () => {
    await using server = await startHttp((_, response) =>
      response.writeHead(307, { location: '/mcp' }).end(),
    );
    await using client = clientOf(server, {});
    expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_REDIRECT_REFUSED' });
    expect(server.requests).toHaveLength(6);
  },
);

verifies(
  ['C3', 'S038'],
  'headers of requestInit do not follow a redirect to another listed host',
  async () => {
    await using there = await startHttp(answerPlainly);
    await using here = await startHttp((_, response) =>
      response.writeHead(307, { location: `${there.origin}/mcp` }).end(),
    );
    const headers = { authorization: 'Bearer t', 'x-api-key': 'k', cookie: 'c=1' };
    await using client = clientOf(here, { allowedHosts: hostsOf(here, there), requestInit: { headers } });
    await client.ping('shop');
    expect(here.requests.every(request => request.headers['x-api-key'] === 'k')).toBe(true);
    expect(there.requests.length).toBeGreaterThan(0);
    for (const name of Object.keys(headers)) {
      expect(there.requests.filter(request => request.headers[name] !== undefined)).toEqual([]);
    }
  },
);

describe('a fetch of the user', () => {
  const following: MastraFetchLike = (url, init) => fetch(url, { ...init, redirect: 'follow' });

  verifies(
    ['C11', 'S039', 'S042'],
    'is not called for a host that is not listed, and its answer counts only from a listed one',
    async () => {
      await using inner = await startHttp(answerPlainly);
      await using server = await startHttp((_, response) =>
        response.writeHead(307, { location: `${inner.origin}/mcp` }).end(),
      );
      let calls = 0;
      const counting: MastraFetchLike = (url, init) => {
        calls += 1;
        return following(url, init);
      };
      await using never = clientOf(server, { allowedHosts: ['shop.test'], fetch: counting });
      expect(await rejection(never.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
      expect(calls).toBe(0);

      await using client = clientOf(server, { allowedHosts: hostsOf(server), fetch: counting });
      expect(await rejection(client.ping('shop'))).toMatchObject({
        code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
        host: new URL(inner.origin).host,
        // The hops in between were its own affair.
        mayHaveExecuted: true,
      });
      expect(calls).toBe(1);
      await using both = clientOf(server, { allowedHosts: hostsOf(server, inner), fetch: counting });
      await both.ping('shop');
    },
  );

  verifies(['C11', 'S039'], 'of eventSourceInit is held to the list as well', async () => {
    await using legacy = await startLegacySse();
    await using server = await startHttp((_, response) =>
      response.writeHead(307, { location: `${legacy.origin}/sse` }).end(),
    );
    const eventSourceInit = { fetch: following };
    const url = `${server.origin}/sse`;
    for (const [allowedHosts, sent] of [
      [['shop.test'], 0],
      [hostsOf(server), 1],
    ] as const) {
      await using client = openClient({ shop: { url, transport: 'sse', allowedHosts, eventSourceInit } });
      expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
      expect(server.requests).toHaveLength(sent);
    }
  });

  verifies('S040', 'may give answers of its own, which have no address to check', async () => {
    await using client = openClient({
      shop: {
        url: 'http://shop.test/mcp',
        allowedHosts: ['shop.test'],
        fetch: async (_, init) => {
          if (init?.method !== 'POST') return new Response(null, { status: 405 });
          const { id, method } = messageOf(init);
          if (id === undefined) return new Response(null, { status: 202 });
          const initialized = {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'made up', version: '1' },
          };
          const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
          const results: Record<string, object> = { initialize: initialized, 'tools/list': { tools } };
          return Response.json({ jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} });
        },
      },
    });
    expect(Object.keys(await client.listTools())).toEqual(['shop_echo']);
  });

  verifies('S043', 'is asked about every request, so that it can be as strict as it likes', async () => {
    await using server = await startHttp(answerPlainly);
    const asked: string[] = [];
    const strict: MastraFetchLike = (url, init) => {
      const { id, method } = messageOf(init);
      asked.push(method ?? `${init?.method}`);
      if (method === 'tools/call') return Promise.resolve(new Response(`no ${id}`, { status: 403 }));
      return fetch(url, init);
    };
    await using client = clientOf(server, { fetch: strict, allowedHosts: hostsOf(server) });
    const echo = await executeOf(client, 'shop_echo');
    expect(await rejection(echo({}))).toMatchObject({
      code: 'MCP_CLIENT_REQUEST_FAILED',
      httpStatus: 403,
      mayHaveExecuted: false,
    });
    expect(asked.filter(method => method !== 'GET')).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
    ]);
    expect(server.count('POST', 'tools/call')).toBe(0);
  });
});

describe('OAuth of a server', () => {
  /** A server that wants a token of an authorization server at another host, which renews without a user. */
  async function startProtected(issuer: () => string): Promise<HttpTestServer> {
    return await startHttp((request, response) => {
      if (request.url.includes('oauth-protected-resource')) {
        const { host } = request.headers;
        return sendJson(response, 200, { resource: `http://${host}/mcp`, authorization_servers: [issuer()] });
      }
      if (request.headers.authorization !== 'Bearer fresh') return response.writeHead(401).end();
      return answerPlainly(request, response);
    });
  }
  const startIssuer = (): Promise<HttpTestServer> =>
    startHttp((request, response) => {
      const origin = `http://${request.headers.host}`;
      if (request.url.includes('.well-known')) {
        return sendJson(response, 200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      }
      const token = { access_token: 'fresh', token_type: 'Bearer', refresh_token: 'next' };
      return request.url === '/token' ? sendJson(response, 200, token) : response.writeHead(404).end();
    });

  verifies(
    ['S041', 'S042'],
    'is held to the list: discovery and renewal reach an authorization server only where its host is listed',
    async () => {
      await using issuer = await startIssuer();
      await using server = await startProtected(() => issuer.origin);
      const open = async (allowedHosts: readonly string[]): Promise<MCPClient> => {
        const redirectUrl = 'http://127.0.0.1:0/callback';
        const authProvider = new MCPOAuthClientProvider({
          redirectUrl,
          clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Shop' },
          clientInformation: { client_id: 'client', issuer: issuer.origin },
        });
        const client = clientOf(server, { allowedHosts, authProvider });
        // A first use binds the provider to its server.
        await rejection(client.ping('shop'));
        await authProvider.saveTokens({
          access_token: 'stale',
          token_type: 'Bearer',
          refresh_token: 'first',
        });
        return client;
      };
      await using closed = await open(hostsOf(server));
      expect(await rejection(closed.ping('shop'))).toMatchObject({
        code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
        host: new URL(issuer.origin).host,
      });
      expect(issuer.requests).toHaveLength(0);

      await using listed = await open(hostsOf(server, issuer));
      const echo = await executeOf(listed, 'shop_echo');
      expect(textOf(await echo({ a: 1 }))).toBe('{"a":1}');
      expect(issuer.requests.map(({ url }) => url)).toContain('/token');
    },
  );
});
