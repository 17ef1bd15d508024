/** Tokens of many users in SQLite, for a web application that completes logins at an endpoint of its own. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type Client } from '@libsql/client';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import {
  auth,
  FileOAuthStorage,
  MCPClient,
  MCPOAuthClientProvider,
  MCPServer,
  type OAuthStorage,
} from '../../src/index.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';

// #region storage
class DatabaseOAuthStorage implements OAuthStorage {
  readonly #db: Client;
  readonly #userId: string;

  constructor(db: Client, userId: string) {
    this.#db = db;
    this.#userId = userId;
  }

  async set(key: string, value: string): Promise<void> {
    await this.#db.execute({
      sql: `INSERT INTO oauth_tokens (user_id, key, value) VALUES (?, ?, ?)
            ON CONFLICT (user_id, key) DO UPDATE SET value = excluded.value`,
      args: [this.#userId, key, value],
    });
  }

  async get(key: string): Promise<string | undefined> {
    const { rows } = await this.#db.execute({
      sql: 'SELECT value FROM oauth_tokens WHERE user_id = ? AND key = ?',
      args: [this.#userId, key],
    });
    const value = rows[0]?.['value'];
    return typeof value === 'string' ? value : undefined;
  }

  async delete(key: string): Promise<void> {
    await this.#db.execute({
      sql: 'DELETE FROM oauth_tokens WHERE user_id = ? AND key = ?',
      args: [this.#userId, key],
    });
  }
}
// #endregion storage

const folder = await mkdtemp(path.join(tmpdir(), 'oauth-'));
const open = (): Client => createClient({ url: `file:${path.join(folder, 'app.db')}` });

const authorizationServer = await startAuthorizationServer();
const whoami = createTool({
  id: 'whoami',
  description: 'Says what the token is for.',
  inputSchema: z.object({}),
  execute: async (_input, context) => context.mcp?.extra.authInfo?.scopes,
});
const server = new MCPServer({ id: 'notes', name: 'Notes', version: '1.0.0', tools: { whoami } });
const { url } = await server.listen({
  port: 0,
  oauth: {
    authorizationServers: [authorizationServer.issuer],
    scopesSupported: ['notes:read'],
    validateToken: async (token, resource) => {
      const grant = authorizationServer.check(token);
      if (grant?.resource !== resource) return { valid: false, error: 'invalid_token' };
      return { valid: true, scopes: grant.scope.split(' '), audienceChecked: true };
    },
  },
});
const serverUrl = url.href;

let db = open();
await db.execute(
  'CREATE TABLE oauth_tokens (user_id TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (user_id, key))',
);

const sentTo: URL[] = [];
const redirectUserTo = (page: URL): void => void sentTo.push(page);
// #region web
const providerFor = (userId: string): MCPOAuthClientProvider =>
  new MCPOAuthClientProvider({
    redirectUrl: 'https://app.example.com/oauth/callback',
    clientMetadata: {
      redirect_uris: ['https://app.example.com/oauth/callback'],
      client_name: 'My web application',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    onRedirectToAuthorization: page => redirectUserTo(page),
    storage: new DatabaseOAuthStorage(db, userId),
  });

/** When the user asks for it. */
async function beginLogin(userId: string): Promise<void> {
  await auth(providerFor(userId), { serverUrl });
}

/** At https://app.example.com/oauth/callback, for the user of this session, once `state` was checked against it. */
async function completeLogin(userId: string, query: URLSearchParams): Promise<void> {
  const authorizationCode = query.get('code') ?? '';
  await auth(providerFor(userId), { serverUrl, authorizationCode });
}

/** For the requests of the user from then on. */
const clientOf = (userId: string): MCPClient =>
  new MCPClient({
    id: `user ${userId}`,
    servers: { notes: { url: serverUrl, authProvider: providerFor(userId) } },
  });
// #endregion web

await beginLogin('user-123');
const back = await fetch(sentTo[0] ?? '', { redirect: 'manual' });
const query = new URL(back.headers.get('location') ?? '').searchParams;
assert.equal(query.get('state'), sentTo[0]?.searchParams.get('state'));
await completeLogin('user-123', query);

// The application is started again: what it knows is in the database.
db.close();
db = open();
const mcp = clientOf('user-123');
const tools = await mcp.listTools();
const whoamiThere = async (): Promise<string> =>
  JSON.stringify(await tools['notes_whoami']?.execute?.({}, {} as never));
assert.match(await whoamiThere(), /notes:read/);
authorizationServer.endAccessTokens();
await Promise.all(Array.from({ length: 8 }, whoamiThere));
assert.deepEqual(authorizationServer.grants, { authorization_code: 1, refresh_token: 1 });

const stranger = clientOf('user-456');
await assert.rejects(stranger.listTools(), { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });

// #region logout
await providerFor('user-123').clear(serverUrl);
// #endregion logout
await assert.rejects(mcp.ping('notes'), { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });

// #region file
const storage = new FileOAuthStorage({ path: path.join(folder, 'my-app/tokens.json') });
// #endregion file
await storage.set('key', 'value');
assert.equal(await storage.get('key'), 'value');

await Promise.all([mcp, stranger].map(client => client.disconnect()));
await server.close();
authorizationServer.close();
db.close();
await rm(folder, { recursive: true });
