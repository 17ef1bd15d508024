/** Protects a server with OAuth: static tokens, introspection, a check of one's own, scopes, web-standard requests. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import {
  createIntrospectionValidator,
  createOAuthFetchMiddleware,
  createOAuthMiddleware,
  createStaticTokenValidator,
  MCPClient,
  MCPServer,
} from '../../src/index.ts';

// #region tool
const whoami = createTool({
  id: 'whoami',
  description: 'Says who calls.',
  inputSchema: z.object({}),
  outputSchema: z.object({ user: z.string(), scopes: z.array(z.string()) }),
  execute: async (_input, context) => {
    const { authInfo } = context.mcp!.extra;
    return { user: String(authInfo?.extra?.['subject']), scopes: authInfo?.scopes ?? [] };
  },
});
// #endregion tool
const erase = createTool({
  id: 'erase',
  description: 'Erases everything.',
  inputSchema: z.object({}),
  execute: async () => 'erased',
});
const define = (id: string): MCPServer =>
  new MCPServer({ id, name: id, version: '1.0.0', tools: { whoami, erase } });

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

async function ask(url: string | URL, token: string, fetchLike: Fetch = fetch): Promise<unknown> {
  const mcp = new MCPClient({
    id: `${String(url)}-${token}`,
    servers: {
      s: {
        url: String(url),
        fetch: (target, init) => fetchLike(target, init),
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      },
    },
  });
  try {
    const tools = await mcp.listTools();
    return await tools['s_whoami']?.execute?.({}, {} as never);
  } finally {
    await mcp.disconnect();
  }
}
const refusal = { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED', httpStatus: 401 };

// Three lines: a server of its own, for tokens that the operator gives out by hand.
const listening = define('listening');
const token = 'token-of-ada-0123456789';
// #region listen
const { url } = await listening.listen({
  port: 0,
  oauth: {
    authorizationServers: ['https://auth.example.com'],
    validateToken: createStaticTokenValidator([{ token, subject: 'ada', scopes: ['mcp:read'] }]),
  },
});
// #endregion listen
assert.deepEqual(await ask(url, token), { user: 'ada', scopes: ['mcp:read'] });
await assert.rejects(ask(url, 'some-other-token-0123456789'), refusal);
const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
assert.deepEqual(await metadata.json(), {
  resource: url.href,
  authorization_servers: ['https://auth.example.com'],
  scopes_supported: ['mcp:read', 'mcp:write'],
  bearer_methods_supported: ['header'],
});

// In a node:http server that serves other things as well.
const mcpServer = define('protected');
// #region middleware
const protect = createOAuthMiddleware({
  oauth: {
    resource: 'https://mcp.example.com/mcp',
    authorizationServers: ['https://auth.example.com'],
    scopesSupported: ['mcp:read', 'mcp:write'],
    resourceName: 'My Protected MCP Server',
    validateToken: createStaticTokenValidator(['allowed-token-of-decent-length']),
  },
  mcpPath: '/mcp',
});

const handle = async (req: http.IncomingMessage, res: http.ServerResponse): Promise<void> => {
  const target = new URL(req.url ?? '', 'https://mcp.example.com');
  const { proceed } = await protect(req, res, target);
  if (!proceed) return; // answered: 401, the metadata, …
  await mcpServer.startHTTP({ url: target, httpPath: '/mcp', req, res });
};
const web = http.createServer((req, res) => void handle(req, res));
// #endregion middleware
await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(web.address() as { port: number }).port}`;
assert.deepEqual(await ask(`${origin}/mcp`, 'allowed-token-of-decent-length'), {
  user: 'undefined',
  scopes: ['mcp:read', 'mcp:write'],
});
const challenge = (await fetch(`${origin}/mcp`)).headers.get('www-authenticate');
assert.equal(
  challenge,
  'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
);

// Stands for the authorization server, which knows one token for our server and one for another.
const issuer = http.createServer((req, res) => {
  let body = '';
  req.on('data', chunk => (body += String(chunk)));
  req.on('end', () => {
    const audiences: Record<string, string> = { mine: endpoint.mcp, theirs: 'https://other.example/mcp' };
    const aud = audiences[new URLSearchParams(body).get('token') ?? ''];
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(aud === undefined ? { active: false } : { active: true, aud, sub: 'bob' }));
  });
});
await new Promise<void>(resolve => issuer.listen(0, '127.0.0.1', resolve));
const authServer = `http://127.0.0.1:${(issuer.address() as { port: number }).port}`;
const endpoint = { mcp: '' };
const introspecting = define('introspecting');
// #region introspection
const validateToken = createIntrospectionValidator(`${authServer}/oauth/introspect`, {
  clientId: 'mcp-server',
  clientSecret: process.env['INTROSPECTION_SECRET'] ?? 'secret',
});
// #endregion introspection
const asked = await introspecting.listen({
  port: 0,
  oauth: { authorizationServers: [authServer], validateToken },
});
endpoint.mcp = asked.url.href;
assert.deepEqual(await ask(asked.url, 'mine'), { user: 'bob', scopes: [] });
await assert.rejects(ask(asked.url, 'theirs'), refusal);
await assert.rejects(ask(asked.url, 'unknown'), refusal);

// A check of one's own, with scopes per tool.
const users = new Map([['key-of-eve', { name: 'eve', scopes: ['mcp:read'] }]]);
const scoped = define('scoped');
const own = await scoped.listen({
  port: 0,
  // #region scopes
  oauth: {
    authorizationServers: ['https://auth.example.com'],
    requiredScopes: ['mcp:read'],
    toolScopes: { erase: ['mcp:write'] },
    validateToken: async key => {
      const user = users.get(key); // your database
      if (user === undefined) return { valid: false, error: 'invalid_token' };
      return { valid: true, scopes: user.scopes, subject: user.name };
    },
  },
  // #endregion scopes
  options: { serverless: true },
});
assert.deepEqual(await ask(own.url, 'key-of-eve'), { user: 'eve', scopes: ['mcp:read'] });
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'erase', arguments: {} } };
const forbidden = await fetch(own.url, {
  method: 'POST',
  headers: {
    authorization: 'Bearer key-of-eve',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  },
  body: JSON.stringify(call),
});
assert.equal(forbidden.status, 403);
assert.match(forbidden.headers.get('www-authenticate') ?? '', /scope="mcp:read mcp:write"/);

// Where there is nothing but Request and Response.
const edge = define('edge');
// #region fetch
const protectFetch = createOAuthFetchMiddleware({
  oauth: {
    resource: 'https://edge.example.com/mcp',
    authorizationServers: ['https://auth.example.com'],
    validateToken: createStaticTokenValidator(['allowed-token-of-decent-length']),
  },
});
const handler = async (request: Request): Promise<Response> => {
  const { response, authInfo } = await protectFetch(request);
  return response ?? edge.fetch(request, { authInfo });
};
// #endregion fetch
const edgeFetch: Fetch = (target, init) => handler(new Request(target, init));
assert.deepEqual(await ask('https://edge.example.com/mcp', 'allowed-token-of-decent-length', edgeFetch), {
  user: 'undefined',
  scopes: ['mcp:read', 'mcp:write'],
});
await assert.rejects(ask('https://edge.example.com/mcp', 'wrong', edgeFetch), refusal);

for (const server of [listening, mcpServer, introspecting, scoped, edge]) await server.close();
web.close();
issuer.close();
