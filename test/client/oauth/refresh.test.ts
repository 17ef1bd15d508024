import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  createClientCredentialsProvider,
  InMemoryOAuthStorage,
  type OAuthStorage,
} from '../../../src/client/index.ts';
import { executeOf, openClient, rejection } from '../../support/client.ts';
import { startHttp } from '../../support/http-server.ts';
import { loopbackProvider, testUser } from '../../support/oauth-client.ts';
import { until } from '../../support/processes.ts';
import { startRawIssuer, without, type RawIssuer } from '../../support/raw-issuer.ts';
import { verifies } from '../../requirements/requirements.ts';

const REQUIRED = 'MCP_CLIENT_AUTHORIZATION_REQUIRED';

/** A storage whose access token has ended. */
function ended(issuer: RawIssuer, more: object = {}): InMemoryOAuthStorage {
  const storage = new InMemoryOAuthStorage();
  const tokens = { access_token: 'ended', refresh_token: 'refresh-0', token_type: 'Bearer', ...more };
  storage.set(`tokens ${issuer.url}`, JSON.stringify({ issuer: issuer.issuer, ...tokens }));
  storage.set(`client_info ${issuer.url}`, JSON.stringify({ client_id: 'c', issuer: issuer.issuer }));
  return storage;
}

const stored = (storage: InMemoryOAuthStorage, issuer: RawIssuer): Record<string, unknown> =>
  JSON.parse(storage.get(`tokens ${issuer.url}`) ?? '{}') as Record<string, unknown>;

/** A provider of somebody else: nothing of ours, and no storage. */
function foreignProvider(first: OAuthTokens): OAuthClientProvider & { readonly invalidated: string[] } {
  let tokens: OAuthTokens | undefined = first;
  const invalidated: string[] = [];
  return {
    invalidated,
    redirectUrl: 'https://app.example/cb',
    clientMetadata: { redirect_uris: ['https://app.example/cb'] },
    clientInformation: () => ({ client_id: 'c' }),
    tokens: () => tokens,
    saveTokens: saved => void (tokens = saved),
    invalidateCredentials: kind => {
      invalidated.push(kind);
      tokens = undefined;
    },
    redirectToAuthorization: () => {
      throw new Error('no call opens a browser');
    },
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'v',
  };
}

describe('an access token that is refused', () => {
  verifies(
    ['S044', 'D19'],
    'is renewed once, with the resource, and kept with what came before',
    async () => {
      await using issuer = await startRawIssuer();
      const storage = ended(issuer, { scope: 'a b' });
      await using client = openClient({
        s: { url: issuer.url, authProvider: loopbackProvider({ storage }) },
      });
      await Promise.all(Array.from({ length: 64 }, () => client.ping('s')));
      expect(issuer.tokenRequests.map(form => Object.fromEntries(form))).toEqual([
        { grant_type: 'refresh_token', refresh_token: 'refresh-0', client_id: 'c', resource: issuer.url },
      ]);
      expect(stored(storage, issuer)).toMatchObject({
        access_token: 'access-1-0123456789',
        refresh_token: 'refresh-1-0123456789',
        scope: 'a b',
        issuer: issuer.issuer,
      });
      expect(client.getServerAuthState('s')).toBe('authorized');
    },
  );

  verifies('D19', 'is renewed once for calls that were refused at different times', async () => {
    await using issuer = await startRawIssuer();
    const storage = ended(issuer);
    await using client = openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ storage }) } });
    const echo = await executeOf(client, 's_echo');
    for (let round = 2; round <= 4; round += 1) {
      issuer.accepted.clear();
      await Promise.all(Array.from({ length: 16 }, (_, index) => echo({ index })));
      expect(issuer.tokenRequests).toHaveLength(round);
    }
  });

  verifies(
    ['S044', 'D19'],
    'of a provider of somebody else is renewed once, and opens no browser',
    async () => {
      await using issuer = await startRawIssuer();
      const authProvider = foreignProvider({
        access_token: 'ended',
        refresh_token: 'refresh-0',
        token_type: 'Bearer',
      });
      // Two clients with the same object share its refresh.
      await using one = openClient({ s: { url: issuer.url, authProvider } });
      await using other = openClient({ s: { url: issuer.url, authProvider } });
      await Promise.all(Array.from({ length: 32 }, (_, index) => (index % 2 === 0 ? one : other).ping('s')));
      expect(issuer.tokenRequests).toHaveLength(1);
      expect([one, other].map(client => client.getServerAuthState('s'))).toEqual([
        'authorized',
        'authorized',
      ]);
    },
  );

  verifies(
    ['D19', 'S092', 'S093'],
    'and cannot be renewed fails the call with what is needed, and opens no browser',
    async () => {
      await using issuer = await startRawIssuer({
        scope: 'a b',
        token: () => ({ status: 400, body: { error: 'invalid_grant' } }),
      });
      const authProvider = foreignProvider({
        access_token: 'ended',
        refresh_token: 'refresh-0',
        token_type: 'Bearer',
      });
      await using client = openClient({ s: { url: issuer.url, authProvider } });
      expect(await rejection(client.ping('s'))).toMatchObject({
        code: REQUIRED,
        httpStatus: 401,
        scopes: ['a', 'b'],
        message: expect.stringContaining('invalid_grant'),
      });
      expect(authProvider.invalidated).toEqual(['tokens']);
      expect(client.getServerAuthState('s')).toBe('needs-auth');
      expect(client.getServerStatus()['s']).toMatchObject({
        state: 'needs-auth',
        lastError: { code: REQUIRED },
      });
      // Nothing is left to try with.
      expect(await rejection(client.ping('s'))).toMatchObject({ code: REQUIRED });
      expect(issuer.tokenRequests).toHaveLength(1);
    },
  );

  verifies('D19', 'for want of scopes is not renewed: that gives no more of them', async () => {
    await using issuer = await startRawIssuer({
      override: ({ message }, response) => {
        if (message?.method !== 'tools/call') return false;
        response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end();
        return true;
      },
    });
    const authProvider = loopbackProvider({ storage: ended(issuer) });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    const echo = await executeOf(client, 's_echo');
    expect(await rejection(echo({}))).toMatchObject({ code: REQUIRED, httpStatus: 403, scopes: [] });
    expect(issuer.tokenRequests).toHaveLength(1);
  });

  test('with a 403 that asks for nothing is no matter of authorization', async () => {
    await using issuer = await startRawIssuer({
      override: ({ message }, response) => {
        if (message?.method !== 'tools/call') return false;
        response.writeHead(403).end('no');
        return true;
      },
    });
    await using client = openClient({
      s: { url: issuer.url, authProvider: loopbackProvider({ storage: ended(issuer) }) },
    });
    const echo = await executeOf(client, 's_echo');
    expect(await rejection(echo({}))).toMatchObject({ code: 'MCP_CLIENT_REQUEST_FAILED', httpStatus: 403 });
    expect(client.getServerAuthState('s')).toBe('authorized');
  });

  test('is kept while the authorization server is in trouble, and renewed when it is not any more', async () => {
    let trouble = true;
    await using issuer = await startRawIssuer({
      token: () => (trouble ? { status: 503, body: 'later' } : undefined),
    });
    const storage = ended(issuer);
    await using client = openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ storage }) } });
    expect(await rejection(client.ping('s'))).toMatchObject({
      code: REQUIRED,
      message: expect.stringContaining('503'),
    });
    expect(stored(storage, issuer)).toMatchObject({ refresh_token: 'refresh-0' });
    trouble = false;
    await client.ping('s');
    expect(client.getServerAuthState('s')).toBe('authorized');
  });

  test('is kept when the authorization server cannot be reached', async () => {
    const gone = await startHttp(() => undefined);
    await gone.close();
    await using issuer = await startRawIssuer({
      metadata: own => ({ ...own, token_endpoint: `${gone.origin}/token` }),
    });
    const storage = ended(issuer);
    await using client = openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ storage }) } });
    expect(await rejection(client.ping('s'))).toMatchObject({
      code: REQUIRED,
      message: expect.stringContaining('could not be reached'),
    });
    expect(stored(storage, issuer)).toMatchObject({ refresh_token: 'refresh-0' });
  });

  test('cannot be read when the storage fails, which the error says: nothing was sent', async () => {
    await using issuer = await startRawIssuer();
    const failing: OAuthStorage = {
      get: () => Promise.reject(new Error('the database is down')),
      set: () => undefined,
      delete: () => undefined,
    };
    const authProvider = loopbackProvider({ ...testUser(), storage: failing });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    for (const attempt of [client.ping('s'), client.authenticate('s')]) {
      expect(await rejection(attempt)).toMatchObject({
        code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
        reason: 'storage',
        cause: { message: 'the database is down' },
        mayHaveExecuted: false,
      });
    }
    expect(issuer.http.requests).toEqual([]);
  });

  verifies(['O6', 'D19'], 'of another authorization server is not shown to this one', async () => {
    await using issuer = await startRawIssuer();
    for (const more of [{ issuer: 'https://elsewhere.example' }]) {
      const authProvider = loopbackProvider({ storage: ended(issuer, more) });
      await using client = openClient({ s: { url: issuer.url, authProvider } });
      expect(await rejection(client.ping('s'))).toMatchObject({ code: REQUIRED });
    }
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('by a host that may not be contacted fails with that, before anything is sent there', async () => {
    await using elsewhere = await startHttp((_, response) => response.end('{}'));
    await using issuer = await startRawIssuer({
      resource: own => ({ ...own, authorization_servers: [elsewhere.origin] }),
    });
    const authProvider = loopbackProvider({ storage: ended(issuer) });
    const allowedHosts = [new URL(issuer.url).host];
    await using client = openClient({ s: { url: issuer.url, authProvider, allowedHosts } });
    expect(await rejection(client.ping('s'))).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
    expect(elsewhere.requests).toEqual([]);
    expect(client.getServerAuthState('s')).toBe('needs-auth');
  });

  test('in a call that is given up ends the call, while the renewal goes on for others', async () => {
    let release: () => void = () => undefined;
    let held = Promise.resolve();
    await using issuer = await startRawIssuer({ token: () => held.then(() => undefined) });
    const authProvider = loopbackProvider({ storage: ended(issuer) });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    const echo = await executeOf(client, 's_echo');
    held = new Promise<void>(resolve => (release = resolve));
    issuer.accepted.clear();
    const controller = new AbortController();
    const given = rejection(echo({}, { abortSignal: controller.signal }));
    const staying = echo({});
    await until('the renewal has begun', () => issuer.tokenRequests.length === 2);
    controller.abort();
    expect(await given).toMatchObject({ code: 'MCP_CLIENT_REQUEST_ABORTED' });
    release();
    await staying;
    expect(issuer.tokenRequests).toHaveLength(2);
  });
});

describe('a client without a user', () => {
  verifies('D19', 'gets its token by itself, once for all calls, and again when it ends', async () => {
    const requests: (string | undefined)[] = [];
    await using issuer = await startRawIssuer({
      metadata: own => ({
        ...without('code_challenge_methods_supported')(own),
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      }),
      token: (_, { headers }) => void requests.push(headers.authorization),
    });
    const authProvider = createClientCredentialsProvider({
      clientId: 'machine',
      clientSecret: 'sesame',
      issuer: issuer.issuer,
      scope: 'a',
    });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    await Promise.all(Array.from({ length: 16 }, () => client.ping('s')));
    expect(issuer.tokenRequests.map(form => Object.fromEntries(form))).toEqual([
      { grant_type: 'client_credentials', scope: 'a', resource: issuer.url },
    ]);
    expect(requests).toEqual([`Basic ${Buffer.from('machine:sesame').toString('base64')}`]);
    issuer.accepted.clear();
    await client.ping('s');
    expect(issuer.tokenRequests).toHaveLength(2);
    expect(client.getServerAuthState('s')).toBe('authorized');
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      code: 'MCP_CLIENT_CONFIGURATION_INVALID',
    });
  });

  verifies('D19', 'asks for the scopes it lacks, besides those it had', async () => {
    let needs = false;
    await using issuer = await startRawIssuer({
      override: ({ url, message }, response) => {
        if (url !== '/mcp' || message?.method !== 'tools/call' || needs) return false;
        needs = true;
        response
          .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="b c"' })
          .end();
        return true;
      },
    });
    const authProvider = createClientCredentialsProvider({
      clientId: 'machine',
      clientSecret: 'sesame',
      issuer: issuer.issuer,
      scope: 'a',
    });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    const echo = await executeOf(client, 's_echo');
    await echo({});
    expect(issuer.tokenRequests.map(form => form.get('scope'))).toEqual(['a', 'a b c']);
  });

  verifies('D19', 'proves itself with a signed assertion', async () => {
    await using issuer = await startRawIssuer();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const authProvider = createClientCredentialsProvider({
      clientId: 'machine',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      issuer: issuer.issuer,
    });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    await client.ping('s');
    const assertion = issuer.tokenRequests[0]?.get('client_assertion') ?? '';
    expect(decodeJwt(assertion)).toMatchObject({ iss: 'machine', sub: 'machine', aud: issuer.issuer });
  });

  verifies(['D19', 'O6'], 'shows its secret to no other authorization server than its own', async () => {
    await using issuer = await startRawIssuer();
    const authProvider = createClientCredentialsProvider({
      clientId: 'machine',
      clientSecret: 'sesame',
      issuer: 'https://own.example',
    });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    expect(await rejection(client.ping('s'))).toMatchObject({ code: REQUIRED });
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('needs an id and a secret or a key', () => {
    const make = (options: object) => () => createClientCredentialsProvider(options as never);
    expect(make({ clientId: '', clientSecret: 's' })).toThrow(
      expect.objectContaining({ option: 'clientId' }),
    );
    expect(make({ clientId: 'c' })).toThrow(expect.objectContaining({ option: 'clientSecret' }));
  });
});

test('over HTTP+SSE the stream and the messages carry the token, and are renewed alike', async () => {
  await using issuer = await startRawIssuer({
    override: ({ url, method, headers }, response) => {
      if (url !== '/mcp' || method !== 'GET') return false;
      const token = headers.authorization?.replace('Bearer ', '') ?? '';
      if (!issuer.accepted.has(token)) return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /mcp\n\n');
      return true;
    },
  });
  const authProvider = loopbackProvider({ ...testUser(), storage: ended(issuer) });
  await using client = openClient({
    s: { url: issuer.url, authProvider, transport: 'sse', connectTimeout: 1000 },
  });
  // Its answers never come over the stream; what counts is what was sent.
  await rejection(client.ping('s'));
  const sent = issuer.http.requests
    .filter(({ url }) => url === '/mcp')
    .map(({ method, headers }) => [method, headers.authorization]);
  expect(sent.slice(0, 3)).toEqual([
    ['GET', 'Bearer ended'],
    ['GET', 'Bearer access-1-0123456789'],
    ['POST', 'Bearer access-1-0123456789'],
  ]);
});
