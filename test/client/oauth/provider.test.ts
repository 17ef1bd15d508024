import { describe, expect, test } from 'vitest';
// As an interface it is imported as a type; importing it as a value, as the reference does, would name nothing.
import type { OAuthStorage } from '../../../src/index.ts';
import * as entry from '../../../src/index.ts';
import {
  auth,
  createSimpleTokenProvider,
  InMemoryOAuthStorage,
  MCPOAuthClientProvider,
  UnauthorizedError,
  type MCPOAuthClientProviderOptions,
} from '../../../src/index.ts';
import { openClient, rejection } from '../../support/client.ts';
import { loopbackProvider, testUser } from '../../support/oauth-client.ts';
import { startRawIssuer, without } from '../../support/raw-issuer.ts';
import { verifies } from '../../requirements/requirements.ts';

const clientMetadata = {
  redirect_uris: ['https://app.example/callback'],
  client_name: 'My MCP Client',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

describe('MCPOAuthClientProvider', () => {
  verifies('S097', 'says who the client is, native for a loopback redirect and web for any other', () => {
    const web = new MCPOAuthClientProvider({ redirectUrl: 'https://app.example/callback', clientMetadata });
    expect(web.redirectUrl).toBe('https://app.example/callback');
    expect(web.clientMetadata).toEqual({ ...clientMetadata, application_type: 'web' });
    expect(loopbackProvider().clientMetadata.application_type).toBe('native');
    expect(loopbackProvider({ redirectUrl: 'http://localhost:1/cb' }).clientMetadata.application_type).toBe(
      'native',
    );
    const chosen = new MCPOAuthClientProvider({
      redirectUrl: new URL('https://app.example/callback'),
      clientMetadata: { redirect_uris: [], application_type: 'native' },
    });
    expect(chosen.clientMetadata).toMatchObject({
      application_type: 'native',
      client_name: expect.any(String),
    });
  });

  test('makes a state of 256 random bits for each authorization', async () => {
    const provider = loopbackProvider();
    const states = await Promise.all(Array.from({ length: 10 }, () => provider.state()));
    expect(new Set(states).size).toBe(10);
    expect(states.every(state => /^[\w-]{43}$/.test(state))).toBe(true);
  });

  test('refuses options that cannot work', () => {
    const options = { redirectUrl: 'https://app.example/cb', clientMetadata };
    const wrong: Record<string, Partial<Record<keyof MCPOAuthClientProviderOptions, unknown>>> = {
      redirectUrl: { redirectUrl: 'no url' },
      clientMetadata: { clientMetadata: undefined },
      clientMetadataUrl: { clientMetadataUrl: 'http://app.example/client.json' },
      storage: { storage: {} },
    };
    for (const [option, more] of Object.entries(wrong)) {
      const make = (): unknown => new MCPOAuthClientProvider({ ...options, ...more } as never);
      expect(make).toThrow(expect.objectContaining({ code: 'MCP_CLIENT_CONFIGURATION_INVALID', option }));
    }
    const document = { ...options, clientMetadataUrl: 'https://app.example/' };
    expect(() => new MCPOAuthClientProvider(document)).toThrow(
      expect.objectContaining({ option: 'clientMetadataUrl' }),
    );
  });

  verifies('C6', 'hands over no address that a browser should not open, whoever drives it', async () => {
    const user = testUser(async () => undefined);
    const provider = loopbackProvider({ ...user });
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'http://as.example/a']) {
      expect(await rejection(provider.redirectToAuthorization(new URL(url)))).toMatchObject({
        reason: 'metadata',
      });
    }
    expect(user.opened).toEqual([]);
    await provider.redirectToAuthorization(new URL('https://as.example/a'));
    expect(user.opened.map(String)).toEqual(['https://as.example/a']);
  });

  test('knows whether its token has ended, and forgets everything on request', async () => {
    const storage = new InMemoryOAuthStorage();
    const provider = loopbackProvider({ storage });
    expect(await provider.hasValidTokens()).toBe(false);
    await provider.saveTokens({ access_token: 'a', token_type: 'Bearer', expires_in: 60 });
    expect(await provider.hasValidTokens()).toBe(true);
    await provider.saveTokens({ access_token: 'a', token_type: 'Bearer', expires_in: -1 });
    expect(await provider.hasValidTokens()).toBe(false);
    await provider.clear();
    expect(await provider.tokens()).toBeUndefined();
    const server = 'https://mcp.example/mcp';
    storage.set(`tokens ${server}`, JSON.stringify({ access_token: 'a', token_type: 'Bearer' }));
    expect(await provider.hasValidTokens(server)).toBe(true);
    await provider.clear(new URL(server));
    expect(await provider.hasValidTokens(server)).toBe(false);
    expect(await rejection(provider.codeVerifier())).toMatchObject({ reason: 'token' });
  });
});

describe('a login that the host drives itself, with auth() of the SDK', () => {
  verifies(
    ['S101', 'S251', 'S104'],
    'works with an https redirect, and MCPClient uses what it stored',
    async () => {
      await using issuer = await startRawIssuer();
      const values = new Map<string, string>();
      const storage: OAuthStorage = {
        set: async (key, value) => void values.set(key, value),
        get: async key => values.get(key),
        delete: async key => void values.delete(key),
      };
      const opened: URL[] = [];
      const make = (): MCPOAuthClientProvider =>
        new MCPOAuthClientProvider({
          redirectUrl: 'https://app.example/callback',
          clientMetadata,
          storage,
          onRedirectToAuthorization: url => void opened.push(url),
        });
      const serverUrl = issuer.url;
      expect(await auth(make(), { serverUrl })).toBe('REDIRECT');
      const back = await fetch(opened[0] ?? '', { redirect: 'manual' });
      const params = new URL(back.headers.get('location') ?? '').searchParams;
      // Another provider object: the web application may have been restarted meanwhile.
      const authorizationCode = params.get('code') ?? '';
      expect(await auth(make(), { serverUrl, authorizationCode })).toBe('AUTHORIZED');
      expect(issuer.registrations[0]).toMatchObject({
        application_type: 'web',
        redirect_uris: clientMetadata.redirect_uris,
      });
      expect(issuer.tokenRequests[0]?.get('resource')).toBe(issuer.url);

      await using client = openClient({ s: { url: issuer.url, authProvider: make() } });
      await client.ping('s');
      expect(client.getServerAuthState('s')).toBe('authorized');
      expect([...values.keys()].every(key => key.endsWith(issuer.url))).toBe(true);
    },
  );

  verifies(['O2', 'C6', 'D19', 'S251'], 'is protected from metadata that must not be trusted', async () => {
    await using issuer = await startRawIssuer({
      metadata: own => ({ ...own, issuer: 'https://honest.example' }),
    });
    const user = testUser();
    const provider = loopbackProvider({ ...user });
    expect(await rejection(auth(provider, { serverUrl: issuer.url }))).toMatchObject({ reason: 'metadata' });
    expect(user.opened).toEqual([]);
    expect(issuer.registrations).toEqual([]);
  });

  test('knows the issuer that the browser must bring back', async () => {
    await using issuer = await startRawIssuer();
    const provider = loopbackProvider({ ...testUser(async () => undefined) });
    await auth(provider, { serverUrl: issuer.url });
    expect(provider.discoveryState()?.authorizationServerMetadata?.issuer).toBe(issuer.issuer);
    await provider.invalidateCredentials('discovery');
    expect(provider.discoveryState()).toBeUndefined();
  });
});

describe('a client that was registered beforehand', () => {
  const clientInformation = { client_id: 'mine', client_secret: 'sesame-0123456789' };

  verifies(['S097', 'D19'], 'is used as it is and never registered', async () => {
    await using issuer = await startRawIssuer({
      metadata: own => ({ ...own, token_endpoint_auth_methods_supported: ['client_secret_post'] }),
    });
    const storage = new InMemoryOAuthStorage();
    const authProvider = loopbackProvider({ ...testUser(), clientInformation, storage });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    await client.authenticate('s');
    expect(issuer.registrations).toEqual([]);
    expect(issuer.tokenRequests[0]?.get('client_secret')).toBe(clientInformation.client_secret);
    // What is kept is where it was accepted, not its secret.
    expect(storage.get(`client_info ${issuer.url}`)).toBe(
      JSON.stringify({ client_id: 'mine', issuer: issuer.issuer }),
    );
  });

  verifies(
    ['D19', 'O6'],
    'is shown to no other authorization server than its own, or the first that accepted it',
    async () => {
      await using one = await startRawIssuer();
      let named = one.issuer;
      await using other = await startRawIssuer({
        resource: own => ({ ...own, authorization_servers: [named] }),
      });
      const authProvider = loopbackProvider({ ...testUser(), clientInformation });
      await using client = openClient({ s: { url: other.url, authProvider } });
      await rejection(client.authenticate('s'));
      expect(one.tokenRequests[0]?.get('code')).toBeDefined();
      // The server now names another one.
      named = other.issuer;
      expect(await rejection(client.authenticate('s'))).toMatchObject({ reason: 'registration' });
      expect(other.tokenRequests).toEqual([]);
      await authProvider.clear();
      await client.authenticate('s');

      const bound = loopbackProvider({
        ...testUser(),
        clientInformation: { ...clientInformation, issuer: one.issuer },
      });
      await using careful = openClient({ s: { url: other.url, authProvider: bound } });
      expect(await rejection(careful.authenticate('s'))).toMatchObject({ reason: 'registration' });
    },
  );
});

describe('a Client ID Metadata Document', () => {
  const clientMetadataUrl = 'https://app.example/client.json';

  verifies(
    ['D19', 'S097'],
    'names the client where the authorization server reads such documents',
    async () => {
      await using issuer = await startRawIssuer({
        metadata: own => ({ ...own, client_id_metadata_document_supported: true }),
      });
      await using client = openClient({
        s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser(), clientMetadataUrl }) },
      });
      await client.authenticate('s');
      expect(issuer.registrations).toEqual([]);
      expect(issuer.authorizations[0]?.get('client_id')).toBe(clientMetadataUrl);
      expect(issuer.tokenRequests[0]?.get('client_id')).toBe(clientMetadataUrl);
    },
  );

  test('is not used where it does not; the client registers', async () => {
    await using issuer = await startRawIssuer();
    await using client = openClient({
      s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser(), clientMetadataUrl }) },
    });
    await client.authenticate('s');
    expect(issuer.registrations).toHaveLength(1);
  });

  test('or a client registered beforehand is needed where nobody can register', async () => {
    await using issuer = await startRawIssuer({ metadata: without('registration_endpoint') });
    await using client = openClient({
      s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser() }) },
    });
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      reason: 'registration',
      message: expect.stringContaining('clientInformation'),
    });
  });
});

describe('a registration from earlier', () => {
  const redirectUrl = 'http://127.0.0.1:38971/cb';
  const after = async (change: (client: Record<string, unknown>) => object): Promise<number> => {
    await using issuer = await startRawIssuer();
    const storage = new InMemoryOAuthStorage();
    const authProvider = loopbackProvider({ ...testUser(), storage, redirectUrl });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    await client.authenticate('s');
    const key = `client_info ${issuer.url}`;
    storage.set(key, JSON.stringify(change(JSON.parse(storage.get(key) ?? '{}') as Record<string, unknown>)));
    storage.delete(`tokens ${issuer.url}`);
    await client.authenticate('s');
    return issuer.registrations.length;
  };

  test('is used again', async () => {
    expect(await after(client => client)).toBe(1);
  });

  test('is not, once it has ended, belongs elsewhere, or has other addresses', async () => {
    expect(await after(client => ({ ...client, client_secret_expires_at: 1 }))).toBe(2);
    expect(await after(client => ({ ...client, issuer: 'https://elsewhere.example' }))).toBe(2);
    expect(await after(client => ({ ...client, redirect_uris: ['http://127.0.0.1:1/cb'] }))).toBe(2);
  });
});

verifies('S103', 'createSimpleTokenProvider() gives a provider around a token', async () => {
  await using issuer = await startRawIssuer();
  issuer.accepted.add('your-access-token');
  const redirectUrl = 'http://localhost:3000/callback';
  const provider = createSimpleTokenProvider('your-access-token', {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Test Client' },
  });
  expect(await provider.tokens()).toEqual({ access_token: 'your-access-token', token_type: 'Bearer' });
  await using client = openClient({ s: { url: issuer.url, authProvider: provider } });
  await client.ping('s');
  expect(client.getServerAuthState('s')).toBe('authorized');

  const renewable = createSimpleTokenProvider('ended', {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: { client_id: 'c' },
    tokenType: 'bearer',
    refreshToken: 'r',
    expiresIn: 1,
    scope: 'a b',
  });
  expect(await renewable.tokens()).toMatchObject({ token_type: 'bearer', expires_in: 1, scope: 'a b' });
  await using other = openClient({ s: { url: issuer.url, authProvider: renewable } });
  await other.ping('s');
  expect(issuer.tokenRequests[0]?.get('refresh_token')).toBe('r');
  expect(await renewable.tokens()).toMatchObject({ access_token: 'access-1-0123456789', scope: 'a b' });
});

verifies(['X24', 'S104'], 'OAuthStorage is an interface: a type to import, and no value', () => {
  expect(Object.keys(entry)).not.toContain('OAuthStorage');
  expect(Object.keys(entry)).toContain('InMemoryOAuthStorage');
});

verifies('S251', 'the functions of the SDK for OAuth come along', () => {
  expect(Object.keys(entry)).toEqual(
    expect.arrayContaining([
      'auth',
      'buildDiscoveryUrls',
      'discoverAuthorizationServerMetadata',
      'discoverOAuthMetadata',
      'discoverOAuthProtectedResourceMetadata',
      'exchangeAuthorization',
      'extractResourceMetadataUrl',
      'parseErrorResponse',
      'refreshAuthorization',
      'registerClient',
      'selectResourceURL',
      'startAuthorization',
    ]),
  );
  expect(new UnauthorizedError()).toBeInstanceOf(Error);
});
