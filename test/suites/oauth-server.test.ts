/** A protected MCPServer with the tokens of a real authorization server (oidc-provider). */
import { discoverOAuthProtectedResourceMetadata } from '@modelcontextprotocol/sdk/client/auth.js';
import { createTool } from '@mastra/core/tools';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createIntrospectionValidator, createJwtValidator, MCPServer } from '../../src/server/index.ts';
import type { TokenValidator } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from '../support/authorization-server.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { ensureForeign } from '../support/foreign.ts';
import { post } from '../support/raw-http.ts';

const foreign = await ensureForeign();
const OTHER = 'https://other.example/mcp';

interface Setup extends AsyncDisposable {
  readonly as: AuthorizationServer;
  readonly url: string;
  /** The status of a request with this token. */
  status(token: string): Promise<number>;
}

async function start(
  createValidator: (as: AuthorizationServer) => TokenValidator,
  options: AuthorizationServerOptions = {},
): Promise<Setup> {
  const as = await startAuthorizationServer(options);
  if (as === undefined) throw new Error('Not installed');
  const whoami = createTool({
    id: 'whoami',
    description: 'Says who calls',
    inputSchema: z.object({}),
    execute: async (_input, { mcp }) => JSON.stringify(mcp?.extra.authInfo ?? null),
  });
  const server = new MCPServer({ name: 'Protected', version: '1.0.0', tools: { whoami } });
  const { url } = await server.listen({
    port: 0,
    oauth: {
      authorizationServers: [as.issuer],
      requiredScopes: ['mcp:read'],
      validateToken: createValidator(as),
    },
  });
  return {
    as,
    url: url.href,
    status: async token => {
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      return (await post(url.href, ping, { authorization: `Bearer ${token}` })).status;
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await as.close();
    },
  };
}

async function whoamiOf(url: string, token: string): Promise<unknown> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await using client = openClient({ s: { url, requestInit } });
  return JSON.parse(textOf(await (await executeOf(client, 's_whoami'))({})));
}

/** A request that the token check lets through has no session, and is 400. */
const LET_THROUGH = 400;

describe.skipIf(foreign === undefined)('a server protected by a real authorization server', () => {
  const introspection =
    (more: object = {}) =>
    (as: AuthorizationServer): TokenValidator =>
      createIntrospectionValidator(as.introspectionEndpoint, { ...as.resourceServer, ...more });

  verifies(
    ['S228', 'S230', 'X19', 'S219'],
    'knows who calls from introspection, and asks once for a whole conversation',
    async () => {
      await using setup = await start(introspection());
      const { as, url } = setup;
      const found = await discoverOAuthProtectedResourceMetadata(url);
      expect(found).toMatchObject({ resource: url, authorization_servers: [as.issuer] });
      const { access_token: token } = await as.issueToken({
        resource: url,
        scope: 'mcp:read mcp:write',
        login: 'bob',
      });
      expect(await whoamiOf(url, token)).toMatchObject({
        token,
        clientId: 'issue-token',
        scopes: ['mcp:read', 'mcp:write'],
        expiresAt: expect.any(Number),
        extra: { subject: 'bob', claims: { iss: as.issuer, aud: url, active: true } },
      });
      expect(as.requests.filter(request => request === 'POST /token/introspection')).toHaveLength(1);
    },
  );

  verifies(
    ['M4', 'M5', 'M8'],
    'lets nobody in whose token is for another server, void or too weak',
    async () => {
      await using setup = await start(introspection({ cacheMs: 0 }));
      const { as, url } = setup;
      const own = await as.issueToken({ resource: url });
      expect(await setup.status(own.access_token)).toBe(LET_THROUGH);
      await as.revoke(own.access_token);
      expect(await setup.status(own.access_token)).toBe(401);
      expect(await setup.status((await as.issueToken({ resource: OTHER })).access_token)).toBe(401);
      expect(await setup.status(own.refresh_token ?? '')).toBe(401);
      expect(await setup.status('made-up')).toBe(401);
      // This one is never looked up: the endpoint answers 400.
      expect(await setup.status('eyJhbGciOiJub25lIn0.e30.')).toBe(401);
      const weak = await as.issueToken({ resource: url, scope: 'mcp:write' });
      expect(await setup.status(weak.access_token)).toBe(403);
      await using client = openClient({
        s: { url, requestInit: { headers: { authorization: 'Bearer x' } } },
      });
      expect(await rejection(client.listTools())).toMatchObject({
        code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
        httpStatus: 401,
      });
    },
  );

  verifies(['M2', 'R23'], 'is unavailable when it does not know its own secret', async () => {
    await using setup = await start(introspection({ clientSecret: 'wrong' }));
    const { access_token: token } = await setup.as.issueToken({ resource: setup.url });
    expect(await setup.status(token)).toBe(503);
  });

  const jwt = ({ issuer, jwksUri }: AuthorizationServer): TokenValidator =>
    createJwtValidator({ issuer, jwksUri });

  verifies(['S222', 'M4'], 'knows who calls from a JWT, and takes no other for one', async () => {
    await using setup = await start(jwt, { accessTokenFormat: 'jwt' });
    const { as, url } = setup;
    const own = await as.issueToken({ resource: url, scope: 'openid mcp:read' });
    expect(await whoamiOf(url, own.access_token)).toMatchObject({
      clientId: 'issue-token',
      scopes: ['mcp:read'],
      extra: { subject: 'alice', claims: { iss: as.issuer, aud: url } },
    });
    expect(own.id_token).toMatch(/^eyJ/);
    expect(await setup.status(own.id_token ?? '')).toBe(401);
    expect(await setup.status(own.refresh_token ?? '')).toBe(401);
    expect(await setup.status((await as.issueToken({ resource: OTHER })).access_token)).toBe(401);
    const [header, payload] = own.access_token.split('.');
    expect(await setup.status(`${header}.${payload}.${'A'.repeat(342)}`)).toBe(401);
  });
});
