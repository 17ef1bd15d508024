/** A protected MCPServer behind a real authorization server, and what a client of it stored. */
import { randomUUID } from 'node:crypto';
import type { IMastraLogger } from '@mastra/core/logger';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { createIntrospectionValidator, MCPServer, type OAuthStorage } from '../../src/index.ts';
import type { AuthorizationServer } from './authorization-server.ts';

export interface ProtectedServer extends AsyncDisposable {
  readonly url: URL;
}

/** Serves `whoami`, which tells whom the token belongs to, and `write`, which needs the scope mcp:write. */
export async function startProtectedServer(
  issuer: AuthorizationServer,
  logger?: IMastraLogger,
): Promise<ProtectedServer> {
  const { clientId, clientSecret } = issuer.resourceServer;
  const whoami = createTool({
    id: 'whoami',
    description: 'Says who calls.',
    inputSchema: z.object({}),
    execute: async (_, context) => {
      const { extra, scopes } = Object(context.mcp?.extra.authInfo) as {
        extra?: Record<string, unknown>;
        scopes?: string[];
      };
      return { subject: String(extra?.['subject'] ?? extra?.['sub']), scopes };
    },
  });
  const write = createTool({
    id: 'write',
    description: 'Writes.',
    inputSchema: z.object({}),
    execute: async () => ({ written: true }),
  });
  const server = new MCPServer({
    id: randomUUID(),
    name: 'protected',
    version: '1.0.0',
    tools: { whoami, write },
  });
  if (logger !== undefined) server.__setLogger(logger);
  const { url } = await server.listen({
    port: 0,
    oauth: {
      authorizationServers: [issuer.issuer],
      scopesSupported: ['mcp:read'],
      toolScopes: { write: ['mcp:write'] },
      // Asked every time, so that a revoked token is refused at once.
      validateToken: createIntrospectionValidator(issuer.introspectionEndpoint, {
        clientId,
        clientSecret,
        cacheMs: 0,
      }),
    },
  });
  return { url, [Symbol.asyncDispose]: () => server.close() };
}

/** What a provider stored for a server, by kind. */
export async function storedFor(
  storage: OAuthStorage,
  kind: 'tokens' | 'client_info',
  server: URL,
): Promise<Readonly<Record<string, string>>> {
  return JSON.parse((await storage.get(`${kind} ${server.href}`)) ?? '{}') as Record<string, string>;
}

/** Ends the access token of a client at its authorization server; the refresh token stays good. */
export async function endAccessToken(
  issuer: AuthorizationServer,
  storage: OAuthStorage,
  server: URL,
): Promise<void> {
  const { access_token: token = '' } = await storedFor(storage, 'tokens', server);
  await issuer.expire(token);
}

/** Revokes a token of a client at its authorization server. */
export async function revoke(
  issuer: AuthorizationServer,
  storage: OAuthStorage,
  server: URL,
  token: string,
): Promise<void> {
  const { client_id = '' } = await storedFor(storage, 'client_info', server);
  const response = await fetch(issuer.revocationEndpoint, {
    method: 'POST',
    body: new URLSearchParams({ token, client_id }),
  });
  if (!response.ok) throw new Error(`The revocation was answered ${response.status}`);
}
