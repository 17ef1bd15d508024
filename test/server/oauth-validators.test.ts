import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  createIntrospectionValidator,
  createJwtValidator,
  createStaticTokenValidator,
} from '../../src/server/index.ts';
import type { IntrospectionOptions, JwtOptions, TokenValidator } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { sendJson, startHttp } from '../support/http-server.ts';
import type { HttpTestServer, ReceivedRequest } from '../support/http-server.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import { authInfoOf, callTool, ISSUER, keepLogs, startProtected } from './oauth-harness.ts';

const RESOURCE = 'https://mcp.example.com/mcp';
const now = (): number => Math.floor(Date.now() / 1000);

describe('createStaticTokenValidator', () => {
  verifies(['S227', 'M7'], 'accepts each of its tokens and no other', async () => {
    const tokens = ['token-number-one-', 'token-number-two-'];
    const validate = createStaticTokenValidator(tokens);
    for (const token of tokens)
      expect(await validate(token, RESOURCE)).toEqual({ valid: true, scopes: ['mcp:read', 'mcp:write'] });
    for (const token of [
      'token-number-one',
      'token-number-one-x',
      'TOKEN-NUMBER-ONE-',
      '',
      'x'.repeat(100_000),
    ])
      expect(await validate(token, RESOURCE)).toMatchObject({ valid: false, error: 'invalid_token' });
    expect(await createStaticTokenValidator([])('x', RESOURCE)).toMatchObject({ valid: false });
  });

  verifies('M7', 'tells who a token stands for, until it expires, for the server it is for', async () => {
    const later = now() + 60;
    const validate = createStaticTokenValidator([
      { token: 'a'.repeat(16), subject: 'ada', clientId: 'cli', scopes: ['mcp:read'], expiresAt: later },
      { token: 'b'.repeat(16), expiresAt: now() - 1 },
      { token: 'c'.repeat(16), resource: `${RESOURCE}/` },
      { token: 'd'.repeat(16), resource: 'https://other.example/mcp' },
    ]);
    expect(await validate('a'.repeat(16), RESOURCE)).toEqual({
      valid: true,
      scopes: ['mcp:read'],
      subject: 'ada',
      clientId: 'cli',
      expiresAt: later,
    });
    expect(await validate('b'.repeat(16), RESOURCE)).toMatchObject({ valid: false });
    expect(await validate('c'.repeat(16), RESOURCE)).toMatchObject({ valid: true });
    expect(await validate('d'.repeat(16), RESOURCE)).toMatchObject({ valid: false });
  });

  verifies('M7', 'refuses tokens that nobody can send, and warns of short ones', async () => {
    for (const token of ['', 'a b', 'tökens-with-umlauts', 'a:b'])
      expect(() => createStaticTokenValidator(['long-enough-token', token]), token).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_CONFIGURATION_INVALID', option: 'tokens.1' }),
      );
    for (const entry of [undefined, null, 7, {}, { token: 'a'.repeat(16), expiresAt: 'never' }])
      expect(() => createStaticTokenValidator([entry as never])).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_CONFIGURATION_INVALID' }),
      );
    const logger = keepLogs();
    const validate = createStaticTokenValidator(['allowed-token-1', 'long-enough-token'], { logger });
    expect(logger.lines).toEqual([
      'warn OAuth: 1 static token(s) have less than 16 characters and can be guessed',
    ]);
    expect(await validate('allowed-token-1', RESOURCE)).toMatchObject({ valid: true });
  });

  verifies(['S227', 'S230'], 'keeps callers apart by what they call with', async () => {
    const validateToken = createStaticTokenValidator([
      { token: 'token-of-somebody', subject: 'ada' },
      'another-long-token',
    ]);
    await using host = await startProtected({ oauth: { validateToken } });
    expect(authInfoOf(await callTool(host.origin, { token: 'token-of-somebody' }))).toMatchObject({
      extra: { subject: 'ada' },
    });
    expect(authInfoOf(await callTool(host.origin, { token: 'another-long-token' }))).toMatchObject({
      token: 'another-long-token',
      scopes: ['mcp:read', 'mcp:write'],
    });
    expect((await callTool(host.origin, { token: 'yet-another-token-' })).status).toBe(401);
  });
});

type Endpoint = HttpTestServer & { readonly tokens: () => readonly string[] };

/** An introspection endpoint that says what the test wants. */
async function startEndpoint(
  answer: (token: string, response: ServerResponse, request: ReceivedRequest) => unknown,
): Promise<Endpoint> {
  const server = await startHttp(async (request, response) => {
    const token = new URLSearchParams(request.body).get('token') ?? '';
    const value = await answer(token, response, request);
    if (value !== undefined) sendJson(response, 200, value);
  });
  const tokens = (): readonly string[] =>
    server.requests.map(({ body }) => new URLSearchParams(body).get('token') ?? '');
  return Object.assign(server, { tokens });
}

function introspector(endpoint: Endpoint, more: Partial<IntrospectionOptions> = {}): TokenValidator {
  return createIntrospectionValidator(`${endpoint.origin}/introspect`, {
    clientId: 'mcp-server',
    clientSecret: 'secret',
    ...more,
  });
}

const facts = { authorizationServers: [ISSUER] };

describe('createIntrospectionValidator', () => {
  const active = { active: true, aud: RESOURCE };

  verifies('S228', 'asks the endpoint as RFC 7662 says and passes on what it learns', async () => {
    const exp = now() + 60;
    const answer = { ...active, sub: 'ada', client_id: 'cli', scope: 'mcp:read  mcp:write', exp };
    await using endpoint = await startEndpoint(() => answer);
    expect(await introspector(endpoint)('tok+en/=', RESOURCE, facts)).toEqual({
      valid: true,
      scopes: ['mcp:read', 'mcp:write'],
      subject: 'ada',
      clientId: 'cli',
      expiresAt: exp,
      claims: answer,
      audienceChecked: true,
    });
    const [asked] = endpoint.requests;
    expect(asked).toMatchObject({
      method: 'POST',
      url: '/introspect',
      body: 'token=tok%2Ben%2F%3D&token_type_hint=access_token',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    });
  });

  verifies('M5', 'form-encodes its credentials before it sends them', async () => {
    await using endpoint = await startEndpoint(() => active);
    const validate = introspector(endpoint, { clientId: 'id:with colon', clientSecret: 's%c/ré+t' });
    await validate('t', RESOURCE);
    const [, encoded = ''] = endpoint.requests[0]?.headers.authorization?.split('Basic ') ?? [];
    expect(Buffer.from(encoded, 'base64').toString()).toBe('id%3Awith+colon:s%25c%2Fr%C3%A9%2Bt');
  });

  const rejected: Readonly<Record<string, object>> = {
    'active is not true': { ...active, active: false },
    'active is missing': { aud: RESOURCE },
    'active is the text "false"': { ...active, active: 'false' },
    'active is the text "true"': { ...active, active: 'true' },
    'active is 1': { ...active, active: 1 },
    'it has expired': { ...active, exp: now() - 60 },
    'its expiry is no number': { ...active, exp: String(now() + 60) },
    'it is not valid yet': { ...active, nbf: now() + 60 },
    'its start is no number': { ...active, nbf: 'yesterday' },
    'it is bound to a proof (DPoP)': { ...active, token_type: 'DPoP' },
    'it is bound to a key': { ...active, token_type: 'Bearer', cnf: { jkt: 'x' } },
    'its type is no text': { ...active, token_type: 7 },
    'it comes from another issuer': { ...active, iss: 'https://other.example' },
    'it names another audience': { ...active, aud: 'https://other.example/mcp' },
    'it names other audiences': { ...active, aud: ['https://other.example/mcp', 7] },
    'it names only the origin': { ...active, aud: 'https://mcp.example.com/' },
    'it names no audience': { active: true },
    'its audience is nothing': { active: true, aud: null },
  };

  verifies(['M5', 'M4'], 'rejects a token when any part of the answer speaks against it', async () => {
    await using endpoint = await startEndpoint(token => rejected[decodeURIComponent(token)]);
    const validate = introspector(endpoint);
    for (const why of Object.keys(rejected))
      expect(await validate(encodeURIComponent(why), RESOURCE, facts), why).toMatchObject({
        valid: false,
        error: 'invalid_token',
      });
  });

  verifies(['M5', 'M4'], 'accepts what the rules allow', async () => {
    const accepted: Readonly<Record<string, object>> = {
      plain: active,
      slash: { ...active, aud: `${RESOURCE}/` },
      host: { ...active, aud: 'HTTPS://MCP.example.com:443/mcp' },
      list: { ...active, aud: ['https://x.example', RESOURCE] },
      skew: { ...active, exp: now() - 1, nbf: now() + 3 },
      type: { ...active, token_type: 'bearer' },
      issuer: { ...active, iss: `${ISSUER}/` },
    };
    await using endpoint = await startEndpoint(token => accepted[token] ?? { active: true });
    const validate = introspector(endpoint);
    for (const name of Object.keys(accepted))
      expect(await validate(name, RESOURCE, facts), name).toMatchObject({ valid: true });
    const lenient = introspector(endpoint, { allowMissingAudience: true });
    expect(await lenient('none', RESOURCE)).toMatchObject({ valid: true });
    const named = introspector(endpoint, { audience: ['api://x', 'https://x.example'] });
    expect(await named('list', RESOURCE)).toMatchObject({ valid: true });
    expect(await named('plain', RESOURCE)).toMatchObject({ valid: false });
    const issuers = introspector(endpoint, { issuers: ['https://other.example'] });
    expect(await issuers('issuer', RESOURCE, facts)).toMatchObject({ valid: false });
  });

  verifies(
    ['M5', 'R23'],
    'rejects, instead of deciding, when the endpoint gives no usable answer',
    async () => {
      const broken: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
        'a failure': response => sendJson(response, 500, active),
        'wrong credentials': response => sendJson(response, 401, { error: 'invalid_client' }),
        'no JSON': response => void response.end('<html>'),
        'a list': response => sendJson(response, 200, [active]),
        nothing: response => void response.writeHead(204).end(),
        'a reset': response => void response.destroy(),
        'a broken answer': response => {
          response.writeHead(200, { 'content-length': '100' }).write('{"active":');
          setTimeout(() => response.destroy(), 20);
        },
        'too much': response => {
          sendJson(response, 200, { ...active, filler: 'x'.repeat(65 * 1024) });
        },
        'too much without end': response => {
          response.writeHead(200);
          const more = setInterval(() => response.write('x'.repeat(16 * 1024)), 1);
          response.on('close', () => clearInterval(more));
        },
        'a redirect': response => void response.writeHead(307, { location: '/other' }).end(),
      };
      await using endpoint = await startEndpoint((token, response) => {
        broken[decodeURIComponent(token)]?.(response);
      });
      const validate = introspector(endpoint);
      for (const how of Object.keys(broken))
        await expect(validate(encodeURIComponent(how), RESOURCE), how).rejects.toMatchObject({
          code: 'MCP_SERVER_TOKEN_VALIDATION_FAILED',
          details: { status: 503 },
        });
      expect(endpoint.requests.filter(({ url }) => url === '/other')).toEqual([]);
      const before = endpoint.requests.length;
      await expect(validate('nothing', RESOURCE)).rejects.toBeDefined();
      expect(endpoint.requests, 'a failure is not remembered').toHaveLength(before + 1);
    },
  );

  verifies(
    ['M5', 'R23', 'M2'],
    'is unavailable in 5 seconds when the endpoint hangs or is down, and serves all others',
    async () => {
      using unhandled = collectUnhandled();
      await using endpoint = await startEndpoint(token => (token === 'good' ? { active: true } : undefined));
      const validateToken = introspector(endpoint, { allowMissingAudience: true });
      await using host = await startProtected({ oauth: { validateToken } });
      expect((await callTool(host.origin, { token: 'good' })).status).toBe(200);
      const started = performance.now();
      const hanging = callTool(host.origin, { token: 'hangs' });
      expect((await callTool(host.origin, { token: 'good' })).status).toBe(200);
      expect((await hanging).status).toBe(503);
      expect(performance.now() - started).toBeGreaterThan(4500);
      expect(performance.now() - started).toBeLessThan(15_000);
      await endpoint.close();
      const down = performance.now();
      expect((await callTool(host.origin, { token: 'other' })).status).toBe(503);
      expect(performance.now() - down).toBeLessThan(5000);
      expect((await callTool(host.origin, { token: 'good' })).status).toBe(200);
      expect(host.logs.join('\n')).toContain('ECONNREFUSED');
      expect(await unhandled.found()).toEqual([]);
    },
    40_000,
  );

  verifies('M5', 'asks once for calls of one token at a time, and remembers the answer', async () => {
    let release = (): void => {};
    const gate = new Promise<void>(resolve => {
      release = resolve;
    });
    await using endpoint = await startEndpoint(async token => {
      await gate;
      return token === 'good' ? { ...active, exp: now() + 600 } : { active: false };
    });
    const validate = introspector(endpoint);
    const calls = ['good', 'bad'].flatMap(token =>
      Array.from({ length: 20 }, () => validate(token, RESOURCE)),
    );
    release();
    const results = await Promise.all(calls);
    expect(results.map(({ valid }) => valid)).toEqual([...Array(20).fill(true), ...Array(20).fill(false)]);
    await validate('good', RESOURCE);
    await validate('bad', RESOURCE);
    expect(endpoint.tokens().toSorted()).toEqual(['bad', 'good']);
    // What is remembered of a token is judged for each server.
    expect(await validate('good', 'https://other.example/mcp')).toMatchObject({ valid: false });
    expect(endpoint.requests).toHaveLength(2);
  });

  verifies('M5', 'remembers a token no longer than it is valid, and asks every time if told', async () => {
    const exp = now() + 2;
    await using endpoint = await startEndpoint(() => ({ ...active, exp }));
    const validate = introspector(endpoint, { clockSkewSeconds: 0 });
    expect(await validate('t', RESOURCE)).toMatchObject({ valid: true });
    await pause(exp * 1000 - Date.now() + 20);
    expect(await validate('t', RESOURCE)).toMatchObject({ valid: false });
    expect(endpoint.requests).toHaveLength(2);
    const always = introspector(endpoint, { cacheMs: 0 });
    await always('t', RESOURCE);
    await always('t', RESOURCE);
    expect(endpoint.requests).toHaveLength(4);
  });

  test('bounds what is asked at the same time', async () => {
    let release = (): void => {};
    const gate = new Promise<void>(resolve => {
      release = resolve;
    });
    await using endpoint = await startEndpoint(() => gate.then(() => active));
    const validate = introspector(endpoint, { timeoutMs: 20_000 });
    const asked = Array.from({ length: 256 }, (_, index) => validate(`t${index}`, RESOURCE));
    await expect(validate('one-more', RESOURCE)).rejects.toMatchObject({
      code: 'MCP_SERVER_TOKEN_VALIDATION_FAILED',
    });
    release();
    expect(await Promise.all(asked)).toHaveLength(256);
    expect(await validate('one-more', RESOURCE)).toMatchObject({ valid: true });
  });

  verifies('S228', 'refuses wrong options by name', () => {
    const good = { clientId: 'id', clientSecret: 'secret' };
    const optionOf = (endpoint: unknown, options: object): unknown => {
      try {
        createIntrospectionValidator(endpoint as string, options as IntrospectionOptions);
      } catch (error) {
        return Reflect.get(Object(error), 'option');
      }
      return undefined;
    };
    for (const endpoint of ['', 'x', 'file:///x', 'https://u:p@auth.example/', 'http://auth.example/i'])
      expect(optionOf(endpoint, good), endpoint).toBe('endpoint');
    for (const endpoint of ['https://a/i', 'http://localhost/i', 'http://127.0.0.1/i', 'http://[::1]/i'])
      expect(optionOf(endpoint, good), endpoint).toBeUndefined();
    expect(optionOf('http://auth.internal/i', { ...good, allowHttp: true })).toBeUndefined();
    expect(optionOf(new URL('https://a/i'), { ...good, clientId: '' })).toBe('clientId');
    expect(optionOf('https://a/i', { clientId: 'id' })).toBe('clientSecret');
  });
});

describe('createJwtValidator', () => {
  interface Issuer extends HttpTestServer {
    readonly jwksUri: string;
    readonly key: CryptoKey;
    /** Answers of the keys; `undefined` for the keys as they are. */
    broken: ((response: ServerResponse) => unknown) | undefined;
    keys: object[];
    sign(claims?: object, header?: object, key?: CryptoKey): Promise<string>;
  }

  async function startIssuer(algorithm = 'RS256'): Promise<Issuer> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const server = await startHttp((_request, response) => {
      if (issuer.broken === undefined) sendJson(response, 200, { keys: issuer.keys });
      else issuer.broken(response);
    });
    const issuer: Issuer = Object.assign(server, {
      jwksUri: `${server.origin}/jwks`,
      key: privateKey,
      broken: undefined as Issuer['broken'],
      keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: algorithm }] as object[],
      sign: (claims: object = {}, header: object = {}, key: CryptoKey = privateKey) =>
        new SignJWT({
          iss: ISSUER,
          aud: RESOURCE,
          sub: 'ada',
          exp: now() + 60,
          client_id: 'cli',
          scope: 'mcp:read',
          ...claims,
        })
          .setProtectedHeader({ alg: algorithm, kid: 'k1', ...header })
          .sign(key),
    });
    return issuer;
  }

  const validator = ({ jwksUri }: Issuer, more: Partial<JwtOptions> = {}): TokenValidator =>
    createJwtValidator({ issuer: ISSUER, jwksUri, ...more });

  verifies(['S222', 'M4'], 'verifies a token by the keys of its issuer, which it fetches once', async () => {
    await using issuer = await startIssuer();
    const validate = validator(issuer);
    expect(issuer.requests).toHaveLength(0);
    const token = await issuer.sign({ email: 'ada@example.com' }, { typ: 'at+jwt' });
    const results = await Promise.all(Array.from({ length: 8 }, () => validate(token, RESOURCE)));
    for (const result of results)
      expect(result).toMatchObject({
        valid: true,
        scopes: ['mcp:read'],
        subject: 'ada',
        clientId: 'cli',
        claims: { iss: ISSUER, email: 'ada@example.com' },
        audienceChecked: true,
      });
    expect(issuer.requests).toHaveLength(1);
  });

  verifies(['M4', 'M2'], 'rejects a token when anything about it is wrong', async () => {
    await using issuer = await startIssuer();
    const validate = validator(issuer);
    const other = await generateKeyPair('RS256');
    const secret = new TextEncoder().encode(JSON.stringify(issuer.keys[0]));
    const parts = (await issuer.sign()).split('.');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${parts[1]}.`;
    const changed = Buffer.from(JSON.stringify({ iss: ISSUER, aud: RESOURCE, exp: now() + 60 }));
    const tokens: Readonly<Record<string, string>> = {
      'no JWT': 'opaque-token',
      'three parts of nothing': 'a.b.c',
      'without a signature': none,
      'with other claims': `${parts[0]}.${changed.toString('base64url')}.${parts[2]}`,
      'signed by somebody else': await issuer.sign({}, {}, other.privateKey),
      'signed with an unknown key': await issuer.sign({}, { kid: 'k2' }, other.privateKey),
      'signed with the public key as a secret': await new SignJWT({ iss: ISSUER, aud: RESOURCE })
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .setExpirationTime('1m')
        .sign(secret),
      'of another issuer': await issuer.sign({ iss: 'https://other.example' }),
      'without an issuer': await issuer.sign({ iss: undefined }),
      'for another audience': await issuer.sign({ aud: 'https://other.example/mcp' }),
      'without an audience': await issuer.sign({ aud: undefined }),
      expired: await issuer.sign({ exp: now() - 60 }),
      'without an end': await issuer.sign({ exp: undefined }),
      'not valid yet': await issuer.sign({ nbf: now() + 60 }),
      'bound to a key': await issuer.sign({ cnf: { jkt: 'x' } }),
      'a proof': await issuer.sign({}, { typ: 'dpop+jwt' }),
    };
    for (const [how, token] of Object.entries(tokens))
      expect(await validate(token, RESOURCE), how).toMatchObject({ valid: false, error: 'invalid_token' });
  });

  verifies(
    ['S175', 'M4'],
    'takes audience, claims, scopes and algorithms as an issuer has them',
    async () => {
      await using issuer = await startIssuer('ES256');
      const named = validator(issuer, { audience: 'api://mine', requiredClaims: ['email'] });
      const aud = 'api://mine';
      expect(await named(await issuer.sign({ aud, email: 'a@b' }), RESOURCE)).toMatchObject({ valid: true });
      expect(await named(await issuer.sign({ aud }), RESOURCE)).toMatchObject({ valid: false });
      expect(await named(await issuer.sign({ email: 'a@b' }), RESOURCE)).toMatchObject({ valid: false });
      const azure = { client_id: undefined, azp: 'app', scope: undefined, scp: ['x', 'y'] };
      expect(await validator(issuer)(await issuer.sign(azure), RESOURCE)).toMatchObject({
        clientId: 'app',
        scopes: ['x', 'y'],
      });
      const lenient = validator(issuer, { allowMissingAudience: true });
      expect(await lenient(await issuer.sign({ aud: undefined }), RESOURCE)).toMatchObject({ valid: true });
      const strict = validator(issuer, { algorithms: ['RS256'] });
      expect(await strict(await issuer.sign(), RESOURCE)).toMatchObject({ valid: false });
      const several = validator(issuer, { issuer: ['https://a.example', ISSUER] });
      expect(await several(await issuer.sign(), RESOURCE)).toMatchObject({ valid: true });
    },
  );

  test('tries each key that could be meant where a token does not say', async () => {
    await using issuer = await startIssuer();
    const others = await Promise.all([1, 2].map(() => generateKeyPair('RS256', { extractable: true })));
    const [own] = issuer.keys;
    const jwks = await Promise.all(others.map(({ publicKey }) => exportJWK(publicKey)));
    issuer.keys = [...jwks, own ?? {}].map(key => Object.assign({}, key, { kid: undefined }));
    const validate = validator(issuer);
    const header = { kid: undefined };
    expect(await validate(await issuer.sign({}, header), RESOURCE)).toMatchObject({ valid: true });
    expect(await validate(await issuer.sign({ exp: now() - 60 }, header), RESOURCE)).toMatchObject({
      valid: false,
    });
    const stranger = await generateKeyPair('RS256');
    expect(await validate(await issuer.sign({}, header, stranger.privateKey), RESOURCE)).toMatchObject({
      valid: false,
    });
  });

  verifies(['M2', 'R23'], 'rejects, instead of deciding, while the keys cannot be had', async () => {
    await using issuer = await startIssuer();
    const token = await issuer.sign();
    const validate = validator(issuer, { timeoutMs: 300 });
    const broken: readonly ((response: ServerResponse) => unknown)[] = [
      response => sendJson(response, 500, {}),
      response => void response.end('<html>'),
      response => sendJson(response, 200, { keys: 'none' }),
      response => void response.destroy(),
      response => void response.writeHead(302, { location: '/elsewhere' }).end(),
      response => sendJson(response, 200, { keys: issuer.keys, filler: 'x'.repeat(600 * 1024) }),
      () => undefined,
    ];
    for (const answer of broken) {
      issuer.broken = answer;
      await expect(validate(token, RESOURCE)).rejects.toMatchObject({
        code: 'MCP_SERVER_TOKEN_VALIDATION_FAILED',
      });
    }
    expect(issuer.requests.map(({ url }) => url)).toEqual(broken.map(() => '/jwks'));
    await using host = await startProtected({ oauth: { validateToken: validate } });
    expect((await callTool(host.origin, { token })).status).toBe(503);
    issuer.broken = undefined;
    expect(await validate(token, RESOURCE)).toMatchObject({ valid: true });
  });

  verifies('S222', 'refuses wrong options by name', () => {
    const good = { issuer: ISSUER, jwksUri: 'https://auth.example.com/jwks' };
    const optionOf = (more: object): unknown => {
      try {
        createJwtValidator({ ...good, ...more });
      } catch (error) {
        return Reflect.get(Object(error), 'option');
      }
      return undefined;
    };
    expect(optionOf({})).toBeUndefined();
    for (const issuer of [undefined, '', [], ['']]) expect(optionOf({ issuer })).toBe('issuer');
    for (const jwksUri of [undefined, 'x', 'http://auth.example.com/jwks'])
      expect(optionOf({ jwksUri })).toBe('jwksUri');
    for (const algorithms of [[], ['HS256'], ['RS256', 'none']])
      expect(optionOf({ algorithms })).toBe('algorithms');
  });
});
