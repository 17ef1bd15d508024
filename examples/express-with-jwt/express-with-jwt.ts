/** Express, and JSON Web Tokens of an identity provider: signature, issuer, audience and expiry are checked in one call. */
/* oxlint-disable oxc/no-async-endpoint-handlers -- express 5 takes promises */
import assert from 'node:assert/strict';
import http from 'node:http';
import { createTool } from '@mastra/core/tools';
import express from 'express';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { z } from 'zod';
import { createJwtValidator, createOAuthMiddleware, MCPClient, MCPServer } from '../../src/index.ts';

// Stands for the identity provider: it publishes its key and signs tokens.
const { publicKey, privateKey } = await generateKeyPair('RS256');
const keys = [{ ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256' }];
const provider = http.createServer((_req, res) => void res.end(JSON.stringify({ keys })));
await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve));
const issuer = 'https://auth.example.com';
const audience = 'https://mcp.example.com/mcp';
const jwksUri = `http://127.0.0.1:${(provider.address() as { port: number }).port}/jwks`;
const sign = (claims: object, end = '5m'): Promise<string> =>
  new SignJWT({ iss: issuer, aud: audience, sub: 'user-1', client_id: 'app', scope: 'mcp:read', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
    .setExpirationTime(end)
    .sign(privateKey);

// #region server
const getUserData = createTool({
  id: 'get-user-data',
  description: 'Fetches data for the authenticated user',
  inputSchema: z.object({}),
  execute: async (_input, context) => {
    const authInfo = context.mcp?.extra.authInfo;
    const claims = authInfo?.extra?.['claims'] as { email?: string } | undefined;
    return { userId: authInfo?.extra?.['subject'], email: claims?.email };
  },
});
const server = new MCPServer({
  id: 'my-server',
  name: 'My Server',
  version: '1.0.0',
  tools: { getUserData },
});
// #endregion server

// #region express
const protect = createOAuthMiddleware({
  oauth: {
    resource: 'https://mcp.example.com/mcp',
    authorizationServers: [issuer],
    validateToken: createJwtValidator({ issuer, audience, jwksUri, requiredClaims: ['email'] }),
  },
});

const app = express();
app.use(async (req, res, next) => {
  const { proceed } = await protect(req, res);
  if (proceed) next();
});
app.all('/mcp', async (req, res) => {
  const url = new URL(req.url, `http://${req.headers.host}`);
  await server.startHTTP({ url, httpPath: '/mcp', req, res });
});
// #endregion express
app.get('/health', (_req, res) => void res.send('ok'));

const web = app.listen(0, '127.0.0.1');
await new Promise(resolve => web.once('listening', resolve));
const origin = `http://127.0.0.1:${(web.address() as { port: number }).port}`;

async function askWith(token: string): Promise<unknown> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const mcp = new MCPClient({ id: token, servers: { s: { url: `${origin}/mcp`, requestInit } } });
  try {
    const tools = await mcp.listTools();
    return await tools['s_getUserData']?.execute?.({}, {} as never);
  } finally {
    await mcp.disconnect();
  }
}
const answer = (await askWith(await sign({ email: 'ada@example.com' }))) as {
  content: readonly { text: string }[];
};
assert.deepEqual(JSON.parse(answer.content[0]?.text ?? ''), { userId: 'user-1', email: 'ada@example.com' });

const wrong = {
  'of another issuer': sign({ email: 'ada@example.com', iss: 'https://other.example' }),
  'for another server': sign({ email: 'ada@example.com', aud: 'https://other.example/mcp' }),
  'without an address': sign({}),
  'that has expired': sign({ email: 'ada@example.com' }, '-5m'),
};
for (const [what, token] of Object.entries(wrong)) {
  await assert.rejects(
    askWith(await token),
    { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED', httpStatus: 401 },
    what,
  );
}
assert.equal(await (await fetch(`${origin}/health`)).text(), 'ok');

await server.close();
web.close();
provider.close();
