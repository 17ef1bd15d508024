/** Logging in at a protected server: through the browser of the user, with more scope later, and without any user. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import {
  createClientCredentialsProvider,
  createOAuthCallbackServer,
  createSimpleTokenProvider,
  getCallbackUrlCandidates,
  isMCPError,
  MCPClient,
  MCPOAuthClientProvider,
  MCPServer,
} from '../../src/index.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';

const tool = (id: string) =>
  createTool({ id, description: id, inputSchema: z.object({}), execute: async () => `${id} done` });
const authorizationServer = await startAuthorizationServer();
const server = new MCPServer({
  id: 'notes',
  name: 'Notes',
  version: '1.0.0',
  tools: { read: tool('read'), write: tool('write') },
});
const { url } = await server.listen({
  port: 0,
  oauth: {
    authorizationServers: [authorizationServer.issuer],
    scopesSupported: ['notes:read'],
    toolScopes: { write: ['notes:write'] },
    validateToken: async (token, resource) => {
      const grant = authorizationServer.check(token);
      if (grant?.resource !== resource) return { valid: false, error: 'invalid_token' };
      return { valid: true, scopes: grant.scope.split(' '), audienceChecked: true };
    },
  },
});

const opened: URL[] = [];
/** Stands for the user, who agrees. Yours opens a browser: with an argument vector, never through a shell. */
function openInBrowser(page: URL): void {
  opened.push(page);
  void fetch(page);
}

// #region login
const oauthProvider = new MCPOAuthClientProvider({
  redirectUrl: 'http://127.0.0.1:5533/oauth/callback',
  clientMetadata: {
    redirect_uris: ['http://127.0.0.1:5533/oauth/callback'],
    client_name: 'My MCP Client',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  },
  onRedirectToAuthorization: page => openInBrowser(page),
});

const mcp = new MCPClient({
  servers: {
    protectedServer: { url, authProvider: oauthProvider },
  },
});

try {
  await mcp.listTools();
} catch {
  if (mcp.getServerAuthState('protectedServer') === 'needs-auth') {
    await mcp.authenticate('protectedServer');
  }
}
// #endregion login
assert.equal(mcp.getServerAuthState('protectedServer'), 'authorized');
const tools = await mcp.listTools();
assert.deepEqual(Object.keys(tools), ['protectedServer_read', 'protectedServer_write']);
const call = async (name: string): Promise<unknown> => await tools[name]?.execute?.({}, {} as never);
assert.match(JSON.stringify(await call('protectedServer_read')), /read done/);
assert.equal(opened.length, 1);

// An access token that ended is renewed, once for all calls.
authorizationServer.endAccessTokens();
await Promise.all(Array.from({ length: 16 }, () => call('protectedServer_read')));
assert.deepEqual(authorizationServer.grants, { authorization_code: 1, refresh_token: 1 });

const showDialog = async (text: string): Promise<boolean> => text.includes('notes:write');
// #region step-up
async function withLogin<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (!isMCPError(error) || error.code !== 'MCP_CLIENT_AUTHORIZATION_REQUIRED') throw error;
    const agrees = await showDialog(`${error.serverName} asks for ${error.scopes.join(', ')}`);
    if (!agrees) throw error;
    await mcp.authenticate(error.serverName); // asks for what you had, and for what is missing
    return await operation();
  }
}
// #endregion step-up
assert.match(JSON.stringify(await withLogin(() => call('protectedServer_write'))), /write done/);
assert.deepEqual(opened[1]?.searchParams.get('scope')?.split(' ').toSorted(), ['notes:read', 'notes:write']);

// #region cancel
const login = mcp.authenticate('protectedServer', { timeoutMs: 60_000 });
const wasRunning = await mcp.cancelAuthentication('protectedServer');
// #endregion cancel
await assert.rejects(login, { code: 'MCP_CLIENT_AUTHORIZATION_FAILED', reason: 'cancelled' });
assert.equal(wasRunning, true);

// #region token
const provider = createSimpleTokenProvider('your-access-token', {
  redirectUrl: 'http://localhost:3000/callback',
  clientMetadata: {
    redirect_uris: ['http://localhost:3000/callback'],
    client_name: 'Test Client',
  },
});
// #endregion token
const withToken = new MCPClient({ id: 'token', servers: { s: { url, authProvider: provider } } });
await assert.rejects(withToken.listTools(), { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED', httpStatus: 401 });

// #region machine
const machine = createClientCredentialsProvider({
  clientId: 'nightly-job',
  clientSecret: process.env['CLIENT_SECRET'] ?? 'secret',
  issuer: authorizationServer.issuer, // nobody else gets the secret
});
// #endregion machine
const withMachine = new MCPClient({ id: 'machine', servers: { s: { url, authProvider: machine } } });
// This authorization server knows no such grant, and says so.
await assert.rejects(withMachine.listTools(), /invalid_grant/);

const expectedState = 'made-by-your-code-0123456789';
const exchange = (code: string, redirectUri: URL): void =>
  assert.ok(code === 'the-code' && redirectUri.port !== '');
const sendUserTo = (redirectUri: URL): void => {
  void fetch(`${redirectUri.href}?code=the-code&state=${expectedState}`);
};
// #region callback
// Register all of these as redirect_uris: the helper binds the first one whose port is free.
const redirectUris = getCallbackUrlCandidates('http://127.0.0.1:5533/oauth/callback').map(candidate =>
  candidate.toString(),
);

const callback = await createOAuthCallbackServer({
  redirectUrl: 'http://127.0.0.1:5533/oauth/callback',
  state: expectedState,
});

// callback.url has the port actually bound: use it as the redirect_uri.
try {
  sendUserTo(callback.url);
  const { code } = await callback.waitForCode();
  exchange(code, callback.url);
} finally {
  await callback.close();
}
// #endregion callback
assert.equal(redirectUris.length, 11);

await Promise.all([mcp, withToken, withMachine].map(client => client.disconnect()));
await server.close();
authorizationServer.close();
