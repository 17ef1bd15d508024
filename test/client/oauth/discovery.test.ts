import { describe, expect, test } from 'vitest';
import { discover, resourceFor } from '../../../src/client/oauth/discovery.ts';
import { createOAuthFetch } from '../../../src/client/oauth/oauth-fetch.ts';
import { openClient, rejection } from '../../support/client.ts';
import { sendJson, startHttp, type HttpTestServer } from '../../support/http-server.ts';
import { loopbackProvider, testUser } from '../../support/oauth-client.ts';
import { startRawIssuer, without, type RawIssuerOptions } from '../../support/raw-issuer.ts';
import { verifies } from '../../requirements/requirements.ts';

type Documents = (origin: string) => Readonly<Record<string, unknown>>;

/** Serves JSON by path, text as a page for people. */
const startDocuments = (documents: Documents): Promise<HttpTestServer> => {
  const starting = startHttp(async (request, response) => {
    const { origin } = await starting;
    const document = documents(origin)[request.url];
    if (document === undefined) return response.writeHead(404).end();
    if (typeof document === 'number') return response.writeHead(document).end();
    if (typeof document === 'string')
      return response.writeHead(200, { 'content-type': 'text/html' }).end(document);
    return sendJson(response, 200, document);
  });
  return starting;
};

const find = (path: string, server: HttpTestServer, resourceMetadataUrl?: URL) => {
  const url = new URL(path, server.origin);
  const target = { serverName: 's', url, allowedHosts: undefined, requestInit: {}, fetch: undefined };
  return discover(target, { fetch: createOAuthFetch(target), resourceMetadataUrl, interactive: true });
};

const issuerDocument = (issuer: string, more: object = {}): object => ({
  issuer,
  authorization_endpoint: `${issuer}/a`,
  token_endpoint: `${issuer}/t`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  ...more,
});

const PRM = '/.well-known/oauth-protected-resource';
const ASM = '/.well-known/oauth-authorization-server';
const pathsOf = (server: HttpTestServer): string[] => server.requests.map(({ url }) => url);

describe('the documents of a server', () => {
  verifies(
    'S089',
    'are looked for at the place of the challenge, below the path, and at the root',
    async () => {
      await using server = await startDocuments(origin => ({
        [PRM]: { resource: origin, authorization_servers: [origin] },
        [ASM]: issuerDocument(origin),
      }));
      const state = await find('/a/mcp', server, new URL('/named', server.origin));
      expect(state).toMatchObject({
        authorizationServerUrl: server.origin,
        resourceMetadataUrl: `${server.origin}${PRM}`,
      });
      expect(pathsOf(server)).toEqual(['/named', `${PRM}/a/mcp`, PRM, ASM]);
    },
  );

  test('of an issuer with a path are looked for in the three places there are', async () => {
    await using server = await startDocuments(origin => ({
      [`${PRM}/mcp`]: { resource: `${origin}/mcp`, authorization_servers: [`${origin}/tenant`] },
      '/tenant/.well-known/openid-configuration': issuerDocument(`${origin}/tenant`, {
        jwks_uri: `${origin}/jwks`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    }));
    expect(await find('/mcp', server)).toMatchObject({ authorizationServerUrl: `${server.origin}/tenant` });
    expect(pathsOf(server).slice(1)).toEqual([
      `${ASM}/tenant`,
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ]);
  });

  verifies('D19', 'that do not exist leave the origin of the server with its default endpoints', async () => {
    await using server = await startDocuments(() => ({}));
    expect(await find('/mcp', server)).toEqual({ authorizationServerUrl: `${server.origin}/` });
  });

  test('that are pages for people count as none', async () => {
    await using server = await startDocuments(origin => ({
      [`${PRM}/mcp`]: '<h1>Welcome</h1>',
      [PRM]: '<h1>Welcome</h1>',
      [ASM]: issuerDocument(`${origin}/oauth`),
    }));
    expect(await find('/mcp', server)).toMatchObject({
      authorizationServerMetadata: { issuer: `${server.origin}/oauth` },
    });
  });

  test('that a server in trouble does not give are no reason to go elsewhere', async () => {
    await using server = await startDocuments(origin => ({
      [`${PRM}/mcp`]: 503,
      [ASM]: issuerDocument(origin),
    }));
    expect(await rejection(find('/mcp', server))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
      reason: 'metadata',
    });
  });
});

describe('metadata that must not be trusted', () => {
  const other = 'https://honest.example';
  const cases: Record<string, RawIssuerOptions> = {
    'of another issuer': { metadata: own => ({ ...own, issuer: other }) },
    'of an issuer that only begins alike': {
      metadata: own => ({ ...own, issuer: `${String(own['issuer'])}/other` }),
    },
    'without PKCE methods': { metadata: without('code_challenge_methods_supported') },
    'with PKCE plain only': { metadata: own => ({ ...own, code_challenge_methods_supported: ['plain'] }) },
    'with a token endpoint over plain http elsewhere': {
      metadata: own => ({ ...own, token_endpoint: 'http://as.example/token' }),
    },
    'with a registration endpoint that is a file': {
      metadata: own => ({ ...own, registration_endpoint: 'file:///etc/passwd' }),
    },
    'about another resource': { resource: own => ({ ...own, resource: 'https://other.example/mcp' }) },
    'about a resource beside this one': {
      resource: own => ({ ...own, resource: `${String(own['resource'])}-other` }),
    },
    'that names no URL as its issuer': { resource: own => ({ ...own, authorization_servers: ['https://'] }) },
  };
  for (const scheme of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///x',
    'ftp://as.example/x',
    'vscode://x/y',
  ]) {
    cases[`with the authorization endpoint ${scheme}`] = {
      metadata: own => ({ ...own, authorization_endpoint: scheme }),
    };
  }
  cases['with credentials in the authorization endpoint'] = {
    metadata: own => ({ ...own, authorization_endpoint: 'https://u:p@as.example/a' }),
  };
  cases['with control characters in the authorization endpoint'] = {
    metadata: own => ({ ...own, authorization_endpoint: 'https://as.example/a\r\nb' }),
  };

  for (const [name, options] of Object.entries(cases)) {
    verifies(
      ['O2', 'C6', 'D19'],
      `${name} ends the login before anything is opened, registered or sent`,
      async () => {
        await using issuer = await startRawIssuer(options);
        const user = testUser();
        await using client = openClient({
          s: { url: issuer.url, authProvider: loopbackProvider({ ...user }) },
        });
        expect(await rejection(client.authenticate('s'))).toMatchObject({
          code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
          reason: 'metadata',
          serverName: 's',
        });
        expect(user.opened).toEqual([]);
        expect([issuer.registrations.length, issuer.tokenRequests.length]).toEqual([0, 0]);
        expect(client.getServerAuthState('s')).toBe('needs-auth');
      },
    );
  }

  verifies(['C5', 'D19'], 'at an address that is not allowed is not even asked for', async () => {
    await using inner = await startHttp((_, response) => sendJson(response, 200, {}));
    await using server = await startHttp((_, response) =>
      response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${inner.origin}/latest/meta-data"` })
        .end(),
    );
    const user = testUser();
    const { host } = new URL(server.origin);
    await using client = openClient({
      s: { url: `${server.origin}/mcp`, allowedHosts: [host], authProvider: loopbackProvider({ ...user }) },
    });
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
      host: new URL(inner.origin).host,
    });
    expect(inner.requests).toHaveLength(0);
    expect(client.getServerAuthState('s')).toBe('needs-auth');
  });
});

test('the resource that is asked for is the one of the metadata, letter by letter, or the address of the server', () => {
  const server = new URL('https://mcp.example/a/b?c=d#e');
  expect(resourceFor(server, 'https://mcp.example')).toBe('https://mcp.example');
  expect(resourceFor(server, 'https://mcp.example/a')).toBe('https://mcp.example/a');
  expect(resourceFor(server, undefined)).toBe('https://mcp.example/a/b?c=d');
  expect(resourceFor(new URL('https://mcp.example'), undefined)).toBe('https://mcp.example');
});
