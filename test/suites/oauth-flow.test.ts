/** Logins of MCPClient at a real authorization server (oidc-provider with its defaults), and what follows them. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileOAuthStorage, InMemoryOAuthStorage, type MastraFetchLike } from '../../src/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { browse, startAuthorizationServer } from '../support/authorization-server.ts';
import { findChromium, startChromium } from '../support/chromium.ts';
import { executeOf, openClient, rejection } from '../support/client.ts';
import { loopbackProvider, testUser } from '../support/oauth-client.ts';
import { until } from '../support/processes.ts';
import { endAccessToken, revoke, startProtectedServer, storedFor } from '../support/protected-server.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const issuer = await startAuthorizationServer();

const refreshes = (): number => issuer?.grants.filter(({ type }) => type === 'refresh_token').length ?? 0;
const refusals = (): number => issuer?.grants.filter(({ error }) => error !== undefined).length ?? 0;

describe.skipIf(issuer === undefined)('a login', () => {
  if (issuer === undefined) return;

  verifies(
    ['S085', 'S086', 'S089', 'S092', 'S093', 'B56', 'X01'],
    'through the browser ends with tools that can be called',
    async () => {
      await using server = await startProtectedServer(issuer);
      const user = testUser(url => browse(url));
      await using client = openClient({
        s: { url: server.url, authProvider: loopbackProvider({ ...user }) },
      });
      expect(client.getServerAuthState('s')).toBeUndefined();
      expect(await rejection(client.listTools())).toMatchObject({
        code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
        httpStatus: 401,
      });
      expect(client.getServerAuthState('s')).toBe('needs-auth');
      expect(user.opened).toEqual([]);

      await client.authenticate('s');
      expect(client.getServerAuthState('s')).toBe('authorized');
      const whoami = await executeOf(client, 's_whoami');
      expect(await whoami({})).toMatchObject({
        structuredContent: { subject: 'alice', scopes: ['mcp:read'] },
      });

      const [asked] = user.opened;
      expect(Object.fromEntries(asked?.searchParams ?? [])).toMatchObject({
        response_type: 'code',
        code_challenge_method: 'S256',
        resource: server.url.href,
        scope: 'mcp:read',
        state: expect.stringMatching(/^[\w-]{43}$/),
      });
      const [visit] = await Promise.all(user.visits);
      expect(visit).toMatchObject({ status: 200, html: expect.stringContaining('Authorization complete') });
      // Stored credentials do: nobody is asked again.
      await client.authenticate('s');
      expect(user.opened).toHaveLength(1);
    },
  );

  verifies(
    ['S091', 'D19', 'B50'],
    'outlives the client in a file, for a client that opens no browser',
    async () => {
      await using server = await startProtectedServer(issuer);
      const folder = await mkdtemp(path.join(tmpdir(), 'oauth-'));
      try {
        const file = path.join(folder, 'tokens.json');
        const user = testUser(url => browse(url));
        const open = (): ReturnType<typeof openClient> =>
          openClient({
            s: {
              url: server.url,
              authProvider: loopbackProvider({ ...user, storage: new FileOAuthStorage({ path: file }) }),
            },
          });
        await using one = open();
        await one.authenticate('s');
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await using other = open();
        await other.authenticate('s');
        expect(user.opened).toHaveLength(1);

        const calls = await Promise.all([one, other].map(client => executeOf(client, 's_whoami')));
        const [before, wrong] = [refreshes(), refusals()];
        await endAccessToken(issuer, new FileOAuthStorage({ path: file }), server.url);
        const results = await Promise.all(calls.flatMap(call => Array.from({ length: 32 }, () => call({}))));
        expect(results.filter(result => (result as { isError?: boolean }).isError !== true)).toHaveLength(64);
        expect(refreshes() - before).toBe(1);
        expect(refusals() - wrong).toBe(0);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  verifies(['D19', 'B50', 'R22'], 'is renewed once for 64 calls that were refused together', async () => {
    await using server = await startProtectedServer(issuer);
    const storage = new InMemoryOAuthStorage();
    const user = testUser(url => browse(url));
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user, storage }) },
    });
    await client.authenticate('s');
    const whoami = await executeOf(client, 's_whoami');
    for (let round = 1; round <= 2; round += 1) {
      const [before, wrong] = [refreshes(), refusals()];
      const { refresh_token: old } = await storedFor(storage, 'tokens', server.url);
      await endAccessToken(issuer, storage, server.url);
      const results = await Promise.all(Array.from({ length: 64 }, () => whoami({})));
      expect(results).toHaveLength(64);
      expect(results[63]).toMatchObject({ structuredContent: { subject: 'alice' } });
      expect([refreshes() - before, refusals() - wrong]).toEqual([1, 0]);
      expect((await storedFor(storage, 'tokens', server.url))['refresh_token']).not.toBe(old);
    }
    expect(user.opened).toHaveLength(1);
    expect(client.getServerAuthState('s')).toBe('authorized');
  });

  test('that was revoked fails calls with what the user can do, and one more login mends it', async () => {
    await using server = await startProtectedServer(issuer);
    const storage = new InMemoryOAuthStorage();
    const user = testUser(url => browse(url));
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user, storage }) },
    });
    await client.authenticate('s');
    const whoami = await executeOf(client, 's_whoami');
    const { refresh_token: refreshToken = '' } = await storedFor(storage, 'tokens', server.url);
    // Revoking it ends all that came from the same consent.
    await revoke(issuer, storage, server.url, refreshToken);
    expect(await rejection(whoami({}))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
      httpStatus: 401,
      mayHaveExecuted: false,
    });
    expect(client.getServerAuthState('s')).toBe('needs-auth');
    expect(user.opened).toHaveLength(1);
    await client.authenticate('s');
    expect(user.opened).toHaveLength(2);
    expect(await whoami({})).toMatchObject({ structuredContent: { subject: 'alice' } });
  });

  verifies(['D19', 'S092'], 'steps up to a scope that one tool needs, keeping the earlier ones', async () => {
    await using server = await startProtectedServer(issuer);
    const user = testUser(url => browse(url));
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user }) },
    });
    await client.authenticate('s');
    const write = await executeOf(client, 's_write');
    expect(await rejection(write({}))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
      httpStatus: 403,
      scopes: expect.arrayContaining(['mcp:write']),
    });
    expect(client.getServerAuthState('s')).toBe('needs-auth');
    expect(client.getServerStatus()['s']?.state).toBe('needs-auth');
    // What the scope is not needed for still works, and does not hide that one is missing.
    await client.ping('s');
    expect(client.getServerAuthState('s')).toBe('needs-auth');
    expect(user.opened).toHaveLength(1);

    await client.authenticate('s');
    expect(user.opened[1]?.searchParams.get('scope')?.split(' ').toSorted()).toEqual([
      'mcp:read',
      'mcp:write',
    ]);
    expect(await write({})).toMatchObject({ structuredContent: { written: true } });
    expect(client.getServerStatus()['s']?.state).toBe('ready');
  });

  test('that the user denies rejects with the code of the authorization server', async () => {
    await using server = await startProtectedServer(issuer);
    const user = testUser(url => browse(url, { decision: 'deny' }));
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user }) },
    });
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
      reason: 'denied',
      oauthError: 'access_denied',
    });
    const [visit] = await Promise.all(user.visits);
    expect(visit).toMatchObject({ status: 400, html: expect.stringContaining('Authorization failed') });
    expect(client.getServerAuthState('s')).toBe('needs-auth');
  });

  verifies(['O6', 'S098'], 'at two servers on one storage keeps the credentials of each apart', async () => {
    await using one = await startProtectedServer(issuer);
    await using other = await startProtectedServer(issuer);
    const storage = new InMemoryOAuthStorage();
    const alice = testUser(url => browse(url, { login: 'alice' }));
    const bob = testUser(url => browse(url, { login: 'bob' }));
    await using client = openClient({
      one: { url: one.url, authProvider: loopbackProvider({ ...alice, storage }) },
      other: { url: other.url, authProvider: loopbackProvider({ ...bob, storage }) },
    });
    await Promise.all([client.authenticate('one'), client.authenticate('other')]);
    const [asAlice, asBob] = await Promise.all(
      ['one_whoami', 'other_whoami'].map(name => executeOf(client, name)),
    );
    expect(await asAlice?.({})).toMatchObject({ structuredContent: { subject: 'alice' } });
    expect(await asBob?.({})).toMatchObject({ structuredContent: { subject: 'bob' } });
  });

  verifies('B54', 'with the registration gone registers again and asks the user once more', async () => {
    await using server = await startProtectedServer(issuer);
    const storage = new InMemoryOAuthStorage();
    const registrations: Record<string, string>[] = [];
    const noting: MastraFetchLike = async (url, init) => {
      const response = await fetch(url, init);
      if (String(url) === issuer.registrationEndpoint) {
        registrations.push((await response.clone().json()) as Record<string, string>);
      }
      return response;
    };
    const user = testUser(url => browse(url));
    const redirectUrl = 'http://127.0.0.1:38711/oauth/callback';
    const authProvider = loopbackProvider({ ...user, storage, redirectUrl });
    await using client = openClient({ s: { url: server.url, fetch: noting, authProvider } });
    await client.authenticate('s');
    const { registration_client_uri: uri = '', registration_access_token: token } = registrations[0] ?? {};
    const deleted = await fetch(uri, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
    expect(deleted.status).toBe(204);
    await endAccessToken(issuer, storage, server.url);

    expect(await rejection(client.ping('s'))).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
    await client.authenticate('s');
    expect(registrations).toHaveLength(2);
    expect(user.opened).toHaveLength(2);
    const whoami = await executeOf(client, 's_whoami');
    expect(await whoami({})).toMatchObject({ structuredContent: { subject: 'alice' } });
  });

  verifies(['O8', 'C7'], 'leaves none of its secrets in a log at debug level', async () => {
    const log = recordingLogger();
    const secrets = new Set<string>();
    const note = (value: unknown): void => {
      if (typeof value === 'string' && value.length > 8) secrets.add(value);
    };
    const FIELDS =
      /"?\b(?:access_token|refresh_token|code|code_verifier|client_secret|registration_access_token)"?[=:]"?([^"&\s]+)/g;
    const spying: MastraFetchLike = async (url, init) => {
      const response = await fetch(url, init);
      const body = init?.body instanceof URLSearchParams ? init.body.toString() : '';
      for (const [, value] of body.matchAll(FIELDS)) note(value);
      const type = response.headers.get('content-type') ?? '';
      const isOAuth = new URL(url).origin === issuer.issuer && type.includes('json');
      if (isOAuth) for (const [, value] of (await response.clone().text()).matchAll(FIELDS)) note(value);
      // What is logged of a session is its first eight characters.
      note(response.headers.get('mcp-session-id')?.slice(0, 9));
      return response;
    };
    await using server = await startProtectedServer(issuer, log.logger);
    const storage = new InMemoryOAuthStorage();
    const user = testUser(url => browse(url));
    await using client = openClient({
      s: { url: server.url, fetch: spying, authProvider: loopbackProvider({ ...user, storage }) },
    });
    client.__setLogger(log.logger);
    await rejection(client.listTools());
    await client.authenticate('s');
    const [whoami, write] = await Promise.all(['s_whoami', 's_write'].map(name => executeOf(client, name)));
    await endAccessToken(issuer, storage, server.url);
    await whoami?.({});
    const missing = await rejection(write?.({}) ?? Promise.resolve());
    await client.authenticate('s');
    await write?.({});
    for (const url of user.opened) note(url.searchParams.get('state'));
    const { refresh_token: refreshToken = '' } = await storedFor(storage, 'tokens', server.url);
    await revoke(issuer, storage, server.url, refreshToken);
    const revoked = await rejection(whoami?.({}) ?? Promise.resolve());

    expect(secrets.size).toBeGreaterThan(10);
    expect(log.lines.length).toBeGreaterThan(5);
    const text = [
      ...log.lines,
      JSON.stringify([missing, revoked]),
      String(missing.stack),
      String(revoked.stack),
    ].join('\n');
    expect([...secrets].filter(secret => text.includes(secret))).toEqual([]);
  });

  verifies('O4', 'tells the browser that it failed when the code cannot be exchanged', async () => {
    await using strict = await startAuthorizationServer({
      override: (req, res) => {
        if (req.url !== '/token') return false;
        res.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>');
        return true;
      },
    });
    if (strict === undefined) return;
    await using server = await startProtectedServer(strict);
    const user = testUser(url => browse(url));
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user }) },
    });
    expect(await rejection(client.authenticate('s'))).toMatchObject({ reason: 'token', httpStatus: 500 });
    const [visit] = await Promise.all(user.visits);
    expect(visit).toMatchObject({ status: 400, html: expect.stringContaining('Authorization failed') });
  });

  const chromium = findChromium();
  test.skipIf(chromium === undefined)(
    'in a headless Chromium (skipped where the machine has none)',
    async () => {
      await using server = await startProtectedServer(issuer);
      await using browser = await startChromium(chromium ?? '');
      let seen: Promise<unknown> = Promise.resolve();
      const use = async (url: URL): Promise<unknown> => {
        const step = async (condition: string, action: string): Promise<void> => {
          await until(
            condition,
            async () => (await browser.evaluate(`Boolean(${condition})`)) === true,
            30_000,
          );
          await browser.evaluate(action);
        };
        const submit = `document.querySelector('form button, form [type=submit]').click()`;
        await browser.open(url.href);
        await step(
          `document.querySelector('input[name=login]')`,
          `document.querySelector('input[name=login]').value = 'carol'; document.querySelector('input[name=password]').value = 'x'; ${submit}`,
        );
        await step(`!document.querySelector('input[name=login]') && document.querySelector('form')`, submit);
        await step(`document.querySelector('h1')?.textContent === 'Authorization complete'`, '0');
        return await browser.evaluate('location.pathname');
      };
      await using client = openClient({
        s: {
          url: server.url,
          authProvider: loopbackProvider({
            onRedirectToAuthorization: url => {
              seen = use(url);
              seen.catch(() => undefined);
            },
          }),
        },
      });
      await client.authenticate('s');
      expect(await seen).toBe('/oauth/callback');
      const whoami = await executeOf(client, 's_whoami');
      expect(await whoami({})).toMatchObject({ structuredContent: { subject: 'carol' } });
    },
  );
});
