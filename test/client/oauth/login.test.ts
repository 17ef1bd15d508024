import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { InMemoryOAuthStorage, type MCPClient } from '../../../src/client/index.ts';
import { collectUnhandled } from '../../support/unhandled.ts';
import { executeOf, openClient, rejection } from '../../support/client.ts';
import { answerPlainly, startHttp } from '../../support/http-server.ts';
import { follow, loopbackProvider, testUser, type TestUser } from '../../support/oauth-client.ts';
import { until } from '../../support/processes.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { startRawIssuer, without, type RawIssuer } from '../../support/raw-issuer.ts';
import { staticAuthProvider } from '../../support/static-auth-provider.ts';
import { verifies } from '../../requirements/requirements.ts';

const FAILED = 'MCP_CLIENT_AUTHORIZATION_FAILED';

/** A client of an issuer, logging in as this user. */
const clientOf = (issuer: RawIssuer, user: TestUser<unknown>, options: object = {}): MCPClient =>
  openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ ...user, ...options }) } });

/** A user who looks at the page and does nothing. */
const idleUser = (): TestUser<void> => testUser(async () => undefined);

/** Whether the callback server of a login still holds its port. */
async function isFree(user: TestUser<unknown>): Promise<boolean> {
  const port = new URL(user.opened.at(-1)?.searchParams.get('redirect_uri') ?? '').port;
  const server = createServer();
  const outcome = Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
  server.listen({ port: Number(port), host: '127.0.0.1' });
  const free = await outcome;
  server.close();
  return free;
}

describe('the issuer that a browser brings back', () => {
  type Returns = (params: { code: string; iss: string }) => Record<string, string>;
  const wrong: Record<string, Returns> = {
    'of another authorization server': ({ code }) => ({ code, iss: 'https://evil.example' }),
    'with a slash more': ({ code, iss }) => ({ code, iss: `${iss}/` }),
    'in another case': ({ code, iss }) => ({ code, iss: iss.toUpperCase() }),
    'missing although it was promised': ({ code }) => ({ code }),
    'of another one, with an error': () => ({
      iss: 'https://evil.example',
      error: 'access_denied',
      error_description: 'call 0900-EVIL',
    }),
    'missing, with an error': () => ({ error: 'access_denied', error_description: 'call 0900-EVIL' }),
  };
  for (const [name, returns] of Object.entries(wrong)) {
    verifies(['O1', 'O4', 'D19'], `${name} ends the login, and the code is sent nowhere`, async () => {
      await using issuer = await startRawIssuer({ returns });
      const user = testUser();
      await using client = clientOf(issuer, user);
      const error = await rejection(client.authenticate('s'));
      expect(error).toMatchObject({ code: FAILED, reason: 'issuer', serverName: 's' });
      expect(error.message).not.toContain('0900');
      expect(issuer.tokenRequests).toEqual([]);
      const [page] = await Promise.all(user.visits);
      expect(page).toMatchObject({ status: 400, html: expect.stringContaining('Authorization failed') });
      expect(page?.html).not.toContain('0900');
      expect(client.getServerAuthState('s')).toBe('needs-auth');
    });
  }

  verifies(
    ['O1', 'D19'],
    'need not be there where it was not promised, but must be right where it is',
    async () => {
      const metadata = without('authorization_response_iss_parameter_supported');
      await using silent = await startRawIssuer({ metadata, returns: ({ code }) => ({ code }) });
      await using client = clientOf(silent, testUser());
      await client.authenticate('s');
      expect(client.getServerAuthState('s')).toBe('authorized');

      await using foreign = await startRawIssuer({
        metadata,
        returns: ({ code }) => ({ code, iss: 'https://evil.example' }),
      });
      await using other = clientOf(foreign, testUser());
      expect(await rejection(other.authenticate('s'))).toMatchObject({ reason: 'issuer' });
    },
  );

  test('of a server without metadata is the origin of the server', async () => {
    const metadata = (): undefined => undefined;
    await using issuer = await startRawIssuer({ metadata, resource: metadata });
    await using client = clientOf(issuer, testUser());
    await client.authenticate('s');
    await using foreign = await startRawIssuer({
      metadata,
      resource: metadata,
      returns: ({ code }) => ({ code, iss: 'https://x.example' }),
    });
    await using other = clientOf(foreign, testUser());
    expect(await rejection(other.authenticate('s'))).toMatchObject({ reason: 'issuer' });
  });
});

describe('what is sent', () => {
  verifies(
    ['S086', 'S089', 'D19'],
    'is PKCE with S256, a state, the resource, and a native client with every port',
    async () => {
      await using issuer = await startRawIssuer({ scope: 'a b' });
      const user = testUser();
      const redirectUrl = 'http://127.0.0.1:38811/cb';
      await using client = clientOf(issuer, user, { redirectUrl });
      await client.authenticate('s');
      const [registration] = issuer.registrations;
      expect(registration).toMatchObject({
        application_type: 'native',
        client_name: 'Test client',
        scope: 'a b',
      });
      expect(registration?.['redirect_uris']).toHaveLength(11);
      const asked = Object.fromEntries(issuer.authorizations[0] ?? []);
      expect(asked).toMatchObject({
        client_id: 'client-1',
        code_challenge_method: 'S256',
        resource: issuer.url,
        scope: 'a b',
      });
      expect(registration?.['redirect_uris']).toContain(asked['redirect_uri']);
      const form = Object.fromEntries(issuer.tokenRequests[0] ?? []);
      expect(form).toMatchObject({
        grant_type: 'authorization_code',
        code: 'code-of-1-0123456789',
        resource: issuer.url,
        redirect_uri: asked['redirect_uri'],
      });
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(form['code_verifier']));
      expect(asked['code_challenge']).toBe(Buffer.from(digest).toString('base64url'));
    },
  );

  verifies('S097', 'has the state of stateGenerator, where there is one', async () => {
    await using issuer = await startRawIssuer();
    await using client = clientOf(issuer, testUser(), { stateGenerator: async () => 'state-of-mine' });
    await client.authenticate('s');
    expect(issuer.authorizations[0]?.get('state')).toBe('state-of-mine');
  });
});

verifies(
  ['O4', 'C7'],
  'the browser learns that the code could not be exchanged, and the error what was said',
  async () => {
    await using issuer = await startRawIssuer({
      token: form => ({ status: 400, body: `<h1>No</h1> ${form.toString()} ${'x'.repeat(5000)}` }),
    });
    const user = testUser();
    await using client = clientOf(issuer, user);
    const error = await rejection(client.authenticate('s'));
    expect(error).toMatchObject({ code: FAILED, reason: 'token', httpStatus: 400 });
    const text = `${error.message} ${String(error.cause)} ${error.stack}`;
    for (const name of ['code', 'code_verifier']) {
      const secret = issuer.tokenRequests[0]?.get(name) ?? '';
      expect(secret.length).toBeGreaterThan(8);
      expect(text).not.toContain(secret);
    }
    expect(error.message.length).toBeLessThan(700);
    const [page] = await Promise.all(user.visits);
    expect(page).toMatchObject({ status: 400, html: expect.stringContaining('Authorization failed') });
  },
);

describe('waiting for the browser', () => {
  verifies('S087', 'ends at timeoutMs with an error that names it; the port is free again', async () => {
    await using issuer = await startRawIssuer();
    const user = idleUser();
    await using client = clientOf(issuer, user);
    expect(await rejection(client.authenticate('s', { timeoutMs: 150 }))).toMatchObject({
      code: FAILED,
      reason: 'timeout',
      message: expect.stringContaining('150 ms'),
    });
    expect(await isFree(user)).toBe(true);
    expect(client.getServerAuthState('s')).toBe('needs-auth');
  });

  test('takes a limit that is a number of milliseconds', async () => {
    await using issuer = await startRawIssuer();
    await using client = clientOf(issuer, idleUser());
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31, '5' as never]) {
      expect(await rejection(client.authenticate('s', { timeoutMs }))).toMatchObject({ option: 'timeoutMs' });
    }
  });

  verifies('S090', 'is done once for all who authenticate the same server', async () => {
    await using issuer = await startRawIssuer();
    const user = idleUser();
    await using client = clientOf(issuer, user);
    const joined = [client.authenticate('s'), client.authenticate('s', { timeoutMs: 1 })];
    await until('the page is opened', () => user.opened.length > 0);
    joined.push(client.authenticate('s'));
    // A listing meanwhile says what is missing and opens nothing.
    expect(await rejection(client.listTools())).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
    const [page] = user.opened;
    if (page !== undefined) await follow(page);
    await Promise.all(joined);
    expect(user.opened).toHaveLength(1);
    expect(issuer.tokenRequests).toHaveLength(1);
    expect(Object.keys(await client.listTools())).toContain('s_echo');
  });

  verifies('S090', 'goes on apart for different servers, each on a port of its own', async () => {
    await using one = await startRawIssuer();
    await using other = await startRawIssuer();
    const [userOfOne, userOfOther] = [idleUser(), idleUser()];
    // Both prefer the same port.
    const redirectUrl = 'http://127.0.0.1:38831/cb';
    await using client = openClient({
      one: { url: one.url, authProvider: loopbackProvider({ ...userOfOne, redirectUrl }) },
      other: { url: other.url, authProvider: loopbackProvider({ ...userOfOther, redirectUrl }) },
    });
    const logins = [client.authenticate('one'), client.authenticate('other')];
    await until('both pages are opened', () => userOfOne.opened.length + userOfOther.opened.length === 2);
    const pages = [...userOfOne.opened, ...userOfOther.opened];
    expect(new Set(pages.map(page => page.searchParams.get('redirect_uri'))).size).toBe(2);
    await Promise.all(pages.toReversed().map(page => follow(page)));
    await Promise.all(logins);
    expect([client.getServerAuthState('one'), client.getServerAuthState('other')]).toEqual([
      'authorized',
      'authorized',
    ]);
  });

  verifies(
    ['S094', 'S095'],
    'can be cancelled; the login can begin again at once, on the same port',
    async () => {
      await using issuer = await startRawIssuer();
      const user = idleUser();
      await using client = clientOf(issuer, user);
      const login = rejection(client.authenticate('s'));
      await until('the page is opened', () => user.opened.length === 1);
      expect(await client.cancelAuthentication('s')).toBe(true);
      expect(await isFree(user)).toBe(true);
      expect(await login).toMatchObject({ code: FAILED, reason: 'cancelled' });
      expect(client.getServerAuthState('s')).toBe('needs-auth');
      expect(await client.cancelAuthentication('s')).toBe(false);

      const again = client.authenticate('s');
      await until('the page is opened again', () => user.opened.length === 2);
      const page = user.opened[1];
      if (page !== undefined) await follow(page);
      await again;
      expect(client.getServerAuthState('s')).toBe('authorized');
    },
  );

  verifies(['S094', 'S095'], 'can be cancelled before it begins', async () => {
    using unhandled = collectUnhandled();
    let hangs = true;
    await using issuer = await startRawIssuer({
      override: ({ url }) => hangs && url.includes('/.well-known/'),
    });
    const user = testUser();
    await using client = clientOf(issuer, user);
    // In the same breath: nothing was asked, nothing changes.
    const first = rejection(client.authenticate('s'));
    expect(await client.cancelAuthentication('s')).toBe(true);
    expect(await first).toMatchObject({ reason: 'cancelled' });
    expect(client.getServerAuthState('s')).toBeUndefined();
    expect(issuer.http.requests).toHaveLength(0);
    // While discovery hangs.
    const second = rejection(client.authenticate('s'));
    await until('discovery has begun', () =>
      issuer.http.requests.some(({ url }) => url.includes('/.well-known/')),
    );
    expect(await client.cancelAuthentication('s')).toBe(true);
    expect(await second).toMatchObject({ reason: 'cancelled' });
    expect(user.opened).toEqual([]);
    hangs = false;
    await client.authenticate('s');
    expect(await unhandled.found()).toEqual([]);
  });

  test('ends when the client is disconnected', async () => {
    await using issuer = await startRawIssuer();
    const user = idleUser();
    const client = clientOf(issuer, user);
    const login = rejection(client.authenticate('s'));
    await until('the page is opened', () => user.opened.length === 1);
    await client.disconnect();
    expect(await login).toMatchObject({ reason: 'cancelled' });
    expect(await isFree(user)).toBe(true);
  });

  test('ends when the address cannot be handed to the user', async () => {
    await using issuer = await startRawIssuer();
    const user = idleUser();
    const onRedirectToAuthorization = async (url: URL): Promise<void> => {
      user.onRedirectToAuthorization(url);
      throw new Error('no browser');
    };
    await using client = clientOf(issuer, user, { onRedirectToAuthorization });
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      code: FAILED,
      reason: 'callback',
      cause: { message: 'no browser' },
    });
    expect(await isFree(user)).toBe(true);
  });

  test('does not wait for a handler that itself waits for the last page', async () => {
    await using issuer = await startRawIssuer();
    const onRedirectToAuthorization = async (url: URL): Promise<void> => {
      expect((await follow(url)).html).toContain('Authorization complete');
    };
    await using client = clientOf(issuer, idleUser(), { onRedirectToAuthorization });
    await client.authenticate('s');
    expect(client.getServerAuthState('s')).toBe('authorized');
  });
});

describe('authenticate()', () => {
  verifies('S096', 'is refused where there is nothing it could do', async () => {
    await using issuer = await startRawIssuer();
    const user = testUser();
    await using client = openClient({
      local: { command: process.execPath, args: ['-e', ''] },
      open: { url: issuer.url },
      foreign: { url: issuer.url, authProvider: staticAuthProvider() },
      web: {
        url: issuer.url,
        authProvider: loopbackProvider({ ...user, redirectUrl: 'https://app.example/cb' }),
      },
      mute: { url: issuer.url, authProvider: loopbackProvider() },
    });
    const optionOf = async (name: string): Promise<unknown> => {
      const error = await rejection(client.authenticate(name));
      expect(error.code).toBe('MCP_CLIENT_CONFIGURATION_INVALID');
      return 'option' in error ? error.option : undefined;
    };
    expect(await optionOf('nobody')).toBe('serverName');
    for (const name of ['local', 'open', 'foreign', 'web', 'mute']) {
      expect(await optionOf(name)).toBe(`servers.${name}.authProvider`);
    }
    expect(issuer.http.requests).toHaveLength(0);
  });

  verifies(['S091', 'S092'], 'only connects where the server wants nothing', async () => {
    await using server = await startHttp(answerPlainly);
    const user = testUser();
    await using client = openClient({
      s: { url: `${server.origin}/mcp`, authProvider: loopbackProvider({ ...user }) },
    });
    await client.authenticate('s');
    expect(client.getServerStatus()['s']?.state).toBe('ready');
    expect(client.getServerAuthState('s')).toBeUndefined();
    expect(client.getServerAuthState('nobody')).toBeUndefined();
    expect(await client.cancelAuthentication('nobody')).toBe(false);
    expect(user.opened).toEqual([]);
  });

  verifies(['S091', 'S092'], 'opens no browser where stored tokens do', async () => {
    await using issuer = await startRawIssuer();
    const storage = new InMemoryOAuthStorage();
    await using first = clientOf(issuer, testUser(), { storage });
    await first.authenticate('s');
    const user = testUser();
    await using second = clientOf(issuer, user, { storage });
    await second.authenticate('s');
    expect(second.getServerAuthState('s')).toBe('authorized');
    expect(user.opened).toEqual([]);
    // Nor where somebody else logged in after this client was refused.
    issuer.accepted.clear();
    issuer.accepted.add('none');
    storage.delete(`tokens ${issuer.url}`);
    expect(await rejection(second.ping('s'))).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
    await first.authenticate('s');
    await second.authenticate('s');
    await second.ping('s');
    expect(user.opened).toEqual([]);
  });

  test('rejects as connecting does when the server is not there', async () => {
    const server = await startHttp(() => undefined);
    await server.close();
    await using client = openClient({
      s: { url: `${server.origin}/mcp`, authProvider: loopbackProvider({ ...testUser() }) },
    });
    expect(await rejection(client.authenticate('s'))).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
    expect(client.getServerAuthState('s')).toBeUndefined();
  });

  test('gives up on a server that refuses for scopes which it was given, over and over', async () => {
    await using issuer = await startRawIssuer({
      override: ({ message, url, headers }, response) => {
        if (url !== '/mcp' || message?.method !== 'tools/call' || headers.authorization === undefined)
          return false;
        response
          .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' })
          .end();
        return true;
      },
    });
    const user = testUser();
    await using client = clientOf(issuer, user);
    await client.authenticate('s');
    const echo = await executeOf(client, 's_echo');
    let error: unknown;
    for (let round = 0; round < 10 && error === undefined; round += 1) {
      expect(await rejection(echo({}))).toMatchObject({ httpStatus: 403, scopes: ['more'] });
      error = await client.authenticate('s').catch((reason: unknown) => reason);
    }
    expect(error).toMatchObject({ code: FAILED, reason: 'denied', oauthError: 'insufficient_scope' });
    expect(user.opened.length).toBeLessThanOrEqual(4);
  });
});

verifies(['S098', 'S093'], 'one provider for two servers is warned of', async () => {
  await using one = await startRawIssuer();
  await using other = await startRawIssuer();
  const log = recordingLogger();
  const authProvider = loopbackProvider({ ...testUser() });
  await using client = openClient({
    one: { url: one.url, authProvider },
    other: { url: other.url, authProvider },
  });
  client.__setLogger(log.logger);
  await client.authenticate('one');
  // Their credentials are kept apart all the same.
  expect(await rejection(client.ping('other'))).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
  expect(
    log.lines.filter(line => line.startsWith('warn') && line.includes('serves another server')),
  ).toHaveLength(1);
  await client.authenticate('other');
  await Promise.all([client.ping('one'), client.ping('other')]);
});
