import express from 'express';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOAuthFetchMiddleware, createOAuthMiddleware } from '../../src/server/index.ts';
import type { MCPServerOAuthOptions, TokenValidationResult } from '../../src/server/index.ts';
import { isAtOrBelow, normalisePath } from '../../src/server/oauth/protected-path.ts';
import { verifies } from '../requirements/requirements.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import {
  adapters,
  authInfoOf,
  callTool,
  challengeOf,
  ISSUER,
  JSON_HEADERS,
  keepLogs,
  request,
  serve,
  startProtected,
  toolCall,
  whoServer,
} from './oauth-harness.ts';

const ROOT = '/.well-known/oauth-protected-resource';

describe.each(adapters)('protection of %s requests', adapter => {
  verifies(['S219', 'S221'], 'asks for a token with a challenge that names the metadata', async () => {
    await using host = await startProtected({ adapter });
    for (const headers of [[], [['authorization', 'Basic YTpi']]] as const) {
      const answer = await request(host.origin, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe(`Bearer resource_metadata="${host.origin}${ROOT}/mcp"`);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.json).toEqual({ error: 'unauthorized', error_description: 'A bearer token is needed' });
    }
    expect(host.results).toEqual(Array.from({ length: 2 }, () => ({ proceed: false, handled: true })));
  });

  verifies(
    ['S219', 'S222', 'S229'],
    'lets a valid token through and says why a wrong one is not',
    async () => {
      await using host = await startProtected({
        adapter,
        oauth: {
          validateToken: async token =>
            token === 'good'
              ? { valid: true, scopes: ['mcp:read'], subject: 'ada' }
              : { valid: false, error: 'invalid_token', errorDescription: 'Not today' },
        },
      });
      expect((await callTool(host.origin, { token: 'good' })).status).toBe(200);
      const refused = await callTool(host.origin, { token: 'bad' });
      expect(refused.status).toBe(401);
      expect(challengeOf(refused)).toEqual({
        resource_metadata: `${host.origin}${ROOT}/mcp`,
        error: 'invalid_token',
        error_description: 'Not today',
      });
      expect(host.results).toEqual([
        {
          proceed: true,
          handled: false,
          tokenValidation: { valid: true, scopes: ['mcp:read'], subject: 'ada' },
        },
        {
          proceed: false,
          handled: true,
          tokenValidation: { valid: false, error: 'invalid_token', errorDescription: 'Not today' },
        },
      ]);
    },
  );

  verifies(
    ['S220', 'S223', 'S224'],
    'serves the metadata at the root and with the path inserted, also to browsers',
    async () => {
      await using host = await startProtected({
        adapter,
        oauth: { resourceName: 'Mine', resourceDocumentation: 'https://docs.example.com/' },
      });
      for (const path of [ROOT, `${ROOT}/mcp`, `${ROOT}/mcp?x=1`]) {
        const answer = await request(host.origin, { path });
        expect(answer.status, path).toBe(200);
        expect(answer.json).toEqual({
          resource: host.url,
          authorization_servers: [ISSUER],
          scopes_supported: ['mcp:read', 'mcp:write'],
          bearer_methods_supported: ['header'],
          resource_name: 'Mine',
          resource_documentation: 'https://docs.example.com/',
        });
        expect(answer.headers).toMatchObject({
          'content-type': 'application/json',
          'cache-control': 'max-age=3600',
          'access-control-allow-origin': '*',
        });
        expect(await request(host.origin, { path, method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
        const asked = await request(host.origin, { path, method: 'OPTIONS' });
        expect(asked).toMatchObject({
          status: 204,
          headers: {
            'access-control-allow-origin': '*',
            'access-control-allow-methods': 'GET, HEAD, OPTIONS',
          },
        });
        expect(await request(host.origin, { path, method: 'POST', body: '{}' })).toMatchObject({
          status: 405,
          headers: { allow: 'GET, HEAD, OPTIONS' },
        });
      }
      expect(host.passed).toEqual([]);
      const other = `${ROOT}/other`;
      expect((await request(host.origin, { path: other })).status).toBe(adapter === 'node' ? 404 : 401);
    },
  );

  verifies(
    ['S224', 'S223'],
    'takes the scopes and every authorization server as they were given',
    async () => {
      const authorizationServers = ['https://one.example/tenant', 'https://two.example'];
      await using host = await startProtected({
        adapter,
        oauth: { resource: 'https://mcp.example.com/a/b', scopesSupported: ['x'], authorizationServers },
      });
      const answer = await request(host.origin, { path: `${ROOT}/a/b` });
      expect(answer.json).toMatchObject({
        resource: 'https://mcp.example.com/a/b',
        authorization_servers: authorizationServers,
        scopes_supported: ['x'],
      });
      expect(challengeOf(await request(host.origin))).toEqual({
        resource_metadata: `https://mcp.example.com${ROOT}/a/b`,
      });
    },
  );

  verifies(
    ['S230', 'X19', 'X20'],
    'gives tools the whole of what was found out, as authInfo itself',
    async () => {
      const claims = { client_id: 'cli', iss: ISSUER, tenant: 7 };
      await using host = await startProtected({
        adapter,
        oauth: {
          validateToken: async () => ({
            valid: true,
            scopes: ['mcp:read', 'mcp:write'],
            subject: 'ada',
            expiresAt: 4_000_000_000,
            claims,
          }),
        },
      });
      expect(authInfoOf(await callTool(host.origin, { token: 'good' }))).toEqual({
        token: 'good',
        clientId: 'cli',
        scopes: ['mcp:read', 'mcp:write'],
        expiresAt: 4_000_000_000,
        extra: { subject: 'ada', claims },
      });
    },
  );

  verifies(['S222', 'M2'], 'is unavailable, and lets nobody in, when a token cannot be checked', async () => {
    using unhandled = collectUnhandled();
    const secret = 'token-with-a-secret';
    const broken: Readonly<Record<string, MCPServerOAuthOptions['validateToken']>> = {
      'throws at once': token => {
        throw new TypeError(`No ${token}`, { cause: new Error('connect ECONNREFUSED') });
      },
      rejects: async token => {
        throw new Error(`No ${token}`);
      },
      'rejects with nothing': () => Promise.reject(),
      'gives nothing': (async () => undefined) as never,
      'gives text instead of true': (async () => ({ valid: 'true' })) as never,
      'is too slow': () => new Promise(() => {}),
      'fails too late': () =>
        new Promise((_, reject) => {
          setTimeout(() => reject(new Error('late')), 150);
        }),
    };
    for (const [how, validateToken] of Object.entries(broken)) {
      await using host = await startProtected({
        adapter,
        oauth: { validateToken, validationTimeoutMs: 100 },
      });
      const answer = await callTool(host.origin, { token: secret });
      expect(answer.status, how).toBe(503);
      expect(answer.headers['retry-after'], how).toBe('5');
      expect(answer.json, how).toMatchObject({ error: 'temporarily_unavailable' });
      expect(host.passed, how).toEqual([]);
      expect(
        host.logs.filter(line => line.startsWith('error ')),
        how,
      ).toHaveLength(1);
      expect(`${host.logs.join('\n')}${answer.body}`, how).not.toContain(secret);
    }
    expect(await unhandled.found()).toEqual([]);
  });

  verifies(['S222', 'M8'], 'answers insufficient_scope with 403 and all that is needed', async () => {
    const results: Record<string, TokenValidationResult> = {
      plain: { valid: false, error: 'insufficient_scope' },
      named: { valid: false, error: 'insufficient_scope', requiredScopes: ['mcp:read', 'mcp:admin'] },
    };
    await using host = await startProtected({
      adapter,
      oauth: { validateToken: async token => results[token] ?? { valid: false } },
    });
    const plain = await callTool(host.origin, { token: 'plain' });
    expect(plain.status).toBe(403);
    expect(challengeOf(plain)).toMatchObject({
      resource_metadata: `${host.origin}${ROOT}/mcp`,
      scope: 'mcp:read mcp:write',
      error: 'insufficient_scope',
    });
    const named = await callTool(host.origin, { token: 'named' });
    expect(named.status).toBe(403);
    expect(challengeOf(named)['scope']).toBe('mcp:read mcp:admin');
  });

  verifies('M8', 'needs the scopes of every request, and those of a tool for its calls', async () => {
    await using host = await startProtected({
      adapter,
      oauth: {
        requiredScopes: ['mcp:read'],
        toolScopes: { write: ['mcp:write'] },
        validateToken: async token => ({ valid: true, scopes: token.split('-').map(name => `mcp:${name}`) }),
      },
    });
    const url = `${host.origin}${ROOT}/mcp`;
    expect(challengeOf(await request(host.origin))).toEqual({ resource_metadata: url, scope: 'mcp:read' });
    const nothing = await callTool(host.origin, { token: 'other' });
    expect(nothing.status).toBe(403);
    expect(challengeOf(nothing)['scope']).toBe('mcp:read');
    expect((await callTool(host.origin, { token: 'read' })).status).toBe(200);
    const refused = await callTool(host.origin, { name: 'write', token: 'read' });
    expect(refused.status).toBe(403);
    expect(challengeOf(refused)).toMatchObject({
      resource_metadata: url,
      scope: 'mcp:read mcp:write',
      error: 'insufficient_scope',
    });
    const allowed = await callTool(host.origin, { name: 'write', token: 'read-write' });
    expect(authInfoOf(allowed)).toMatchObject({ scopes: ['mcp:read', 'mcp:write'] });
    const batch = JSON.stringify([toolCall('whoami', 1), toolCall('write', 2)]);
    const batched = await request(host.origin, {
      method: 'POST',
      headers: JSON_HEADERS,
      token: 'read',
      body: batch,
    });
    expect(batched.status).toBe(403);
    // What is no JSON is the server's to refuse, not the middleware's.
    const broken = await request(host.origin, {
      method: 'POST',
      headers: JSON_HEADERS,
      token: 'read',
      body: '{"method":"tools/call"',
    });
    expect(broken).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
    const big = await request(host.origin, {
      method: 'POST',
      headers: JSON_HEADERS,
      token: 'read',
      body: ' '.repeat(4 * 1024 * 1024 + 1),
    });
    expect(big.status).toBe(413);
  });

  verifies('M4', 'does not accept claims that name another audience', async () => {
    const audiences: Record<string, unknown> = {
      own: '',
      slash: '/',
      list: [],
      other: 'https://other.example/mcp',
      others: ['https://other.example/mcp', 'https://third.example'],
      nothing: [],
    };
    let resource = '';
    await using host = await startProtected({
      adapter,
      oauth: {
        validateToken: async (token, canonical) => {
          resource = canonical;
          const aud = audiences[token];
          if (token === 'own' || token === 'slash')
            return { valid: true, claims: { aud: `${resource}${String(aud)}` } };
          if (token === 'list') return { valid: true, claims: { aud: ['https://x.example', resource] } };
          if (token === 'checked')
            return { valid: true, claims: { aud: 'api://mine' }, audienceChecked: true };
          return { valid: true, claims: { aud } };
        },
      },
    });
    for (const token of ['own', 'slash', 'list', 'checked'])
      expect((await callTool(host.origin, { token })).status, token).toBe(200);
    for (const token of ['other', 'others', 'nothing']) {
      const answer = await callTool(host.origin, { token });
      expect(answer.status, token).toBe(401);
      expect(challengeOf(answer)['error']).toBe('invalid_token');
    }
    expect(resource).toBe(host.url);
  });

  verifies('S222', 'does not accept what has expired, whatever the validator says', async () => {
    await using host = await startProtected({
      adapter,
      oauth: {
        validateToken: async token => ({ valid: true, expiresAt: Date.now() / 1000 + Number(token) }),
      },
    });
    expect((await callTool(host.origin, { token: '60' })).status).toBe(200);
    expect((await callTool(host.origin, { token: '-60' })).status).toBe(401);
  });

  verifies('M9', 'reads one bearer token, from the header alone', async () => {
    await using host = await startProtected({ adapter });
    const statusOf = async (
      headers: readonly (readonly [string, string])[],
      path = '/mcp',
    ): Promise<number> =>
      (
        await request(host.origin, {
          path,
          method: 'POST',
          headers: [...JSON_HEADERS, ...headers],
          body: JSON.stringify(toolCall('whoami')),
        })
      ).status;
    for (const header of ['Bearer good', 'bearer good', 'BEARER   good'])
      expect(await statusOf([['Authorization', header]]), header).toBe(200);
    for (const header of ['Bearer a b', 'Bearer good good', 'Bearer', 'Bearer good,', 'good', 'Token good'])
      expect(await statusOf([['Authorization', header]]), header).toBe(401);
    expect(await statusOf([], '/mcp?access_token=good')).toBe(401);
    expect(
      await statusOf([
        ['Authorization', 'Bearer good'],
        ['authorization', 'Bearer bad'],
      ]),
    ).toBe(400);
    expect(
      await statusOf([
        ['Authorization', 'Basic YTpi'],
        ['Authorization', 'Bearer good'],
      ]),
    ).toBe(400);
  });

  verifies('M3', 'sends one clean header, whatever a validator says', async () => {
    await using host = await startProtected({
      adapter,
      oauth: {
        validateToken: async () => ({
          valid: false,
          error: 'weird", x="y',
          errorDescription: 'a\r\nSet-Cookie: x="1"',
        }),
      },
    });
    const answer = await callTool(host.origin, { token: 'bad' });
    expect(answer.status).toBe(401);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(challengeOf(answer)).toEqual({
      resource_metadata: `${host.origin}${ROOT}/mcp`,
      error: 'invalid_token',
      error_description: 'aSet-Cookie: x="1"',
    });
  });

  verifies('S225', 'accepts every token without a validator, and says so loudly, once', async () => {
    await using host = await startProtected({ adapter, oauth: { validateToken: undefined } });
    const answer = await callTool(host.origin, { token: 'anything' });
    expect(authInfoOf(answer)).toEqual({ token: 'anything', clientId: '', scopes: [], extra: {} });
    await callTool(host.origin, { token: 'more' });
    expect(host.results[0]).toEqual({ proceed: true, handled: false, tokenValidation: { valid: true } });
    const warnings = host.logs.filter(line => line.startsWith('warn '));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('EVERY bearer token is accepted');
    expect((await request(host.origin)).status).toBe(401);
  });

  test('lets a browser ask whether it may come, and nothing else of that kind', async () => {
    await using host = await startProtected({ adapter });
    const origin = ['origin', 'http://localhost:5173'] as const;
    const asks = ['access-control-request-method', 'POST'] as const;
    expect((await request(host.origin, { method: 'OPTIONS', headers: [origin, asks] })).status).toBe(405);
    expect(host.passed).toEqual(['/mcp']);
    expect((await request(host.origin, { method: 'OPTIONS', headers: [origin] })).status).toBe(401);
    expect((await request(host.origin, { method: 'POST', headers: [origin, asks] })).status).toBe(401);
  });
});

/** Ways to write `/mcp` that some router behind the middleware may take for it. */
const TRICKS = [
  '/MCP',
  '//mcp',
  '/%6dcp',
  '/%4D%43%50',
  '/mcp/',
  '/mcp//',
  '/./mcp',
  '/x/../mcp',
  '/x/%2e%2e/mcp',
  '/%2Fmcp',
  '/mcp%2Fx',
  '/mcp/x',
  '/\\mcp',
  '/%5Cmcp',
  '/../mcp',
  '/mcp?x=1',
  '/mcp#x',
  'http://evil.example/mcp',
];

describe('the path rule', () => {
  verifies(
    ['M1', 'S226'],
    'covers every way to write the path, in front of the most lenient router',
    async () => {
      await using mcp = whoServer();
      await using host = await startProtected({
        // Whatever arrives here is taken for a call of the server.
        behind: (req, res) =>
          mcp.startHTTP({ url: new URL('http://localhost/mcp'), httpPath: '/mcp', req, res }),
      });
      for (const path of TRICKS) expect((await callTool(host.origin, { path })).status, path).toBe(401);
      expect(host.passed).toEqual([]);
      for (const path of ['/%zz', '/mcp%', '/%E0%A4%A', '/static/%C3%28'])
        expect((await callTool(host.origin, { path })).status, path).toBe(400);
      expect(host.passed).toEqual([]);
      await mcp.close();
    },
  );

  verifies(['M1', 'S226'], 'leaves all other paths to whoever serves them', async () => {
    await using host = await startProtected({ behind: (_req, res) => res.end('served') });
    const others = [
      '/',
      '/mcpx',
      '/xmcp',
      '/mcp-x',
      '/x/mcp',
      '/mc',
      '/mcp;x',
      '/mcp%00',
      '/%256dcp',
      '/mcp/../x',
    ];
    for (const path of others)
      expect(await request(host.origin, { path }), path).toMatchObject({ status: 200, body: 'served' });
    expect(host.passed).toEqual(others);
  });

  verifies('M1', 'holds behind a router that cuts paths, and for a path of its own', async () => {
    const oauth = {
      resource: 'https://mcp.example.com/mcp',
      authorizationServers: [ISSUER],
      validateToken: async () => ({ valid: false }),
    };
    const app = express();
    const protect = createOAuthMiddleware({ oauth, mcpPath: '/api/Tools/' });
    app.use('/api', (req, res, next) =>
      protect(req, res).then(({ proceed }) => {
        if (proceed) next();
      }),
    );
    app.use((req, res) => void res.end(`served ${req.originalUrl}`));
    await using host = await serve(app);
    const { origin } = host;
    for (const path of ['/api/tools', '/api//TOOLS/x', '/API/%74ools'])
      expect((await request(origin, { path })).status, path).toBe(401);
    for (const path of ['/api/tools2', '/tools'])
      expect((await request(origin, { path })).body, path).toBe(`served ${path}`);
  });

  verifies('M1', 'finds the path in any mixture of spellings', () => {
    const letter = (char: string): fc.Arbitrary<string> =>
      fc.constantFrom(
        char,
        char.toUpperCase(),
        `%${(char.codePointAt(0) ?? 0).toString(16)}`,
        `%${(char.toUpperCase().codePointAt(0) ?? 0).toString(16).toUpperCase()}`,
      );
    const noise = fc.array(fc.constantFrom('/', '/./', '/x/../', '%2f', '/%2e/', '\\', '/%2E%2e/'), {
      maxLength: 4,
    });
    const spelling = fc
      .tuple(noise, letter('m'), letter('c'), letter('p'), fc.constantFrom('', '/', '/x', '%2Fx', '//'))
      .map(([before, m, c, p, after]) => `/${before.join('')}${m}${c}${p}${after}`);
    fc.assert(
      fc.property(spelling, path => {
        // A segment of dots that noise has put together is none of these spellings.
        fc.pre(!/x\/\.\.\/[^/]*x/.test(path));
        const normal = normalisePath(path);
        expect(normal !== undefined && isAtOrBelow(normal, '/mcp'), `${path} is ${normal}`).toBe(true);
      }),
    );
  });

  verifies('S226', 'protects every path of web-standard requests, unless told which', async () => {
    const oauth = { resource: 'https://mcp.example.com/mcp', authorizationServers: [ISSUER] };
    const validated = { ...oauth, validateToken: async () => ({ valid: true }) };
    const everything = createOAuthFetchMiddleware({ oauth: validated });
    const some = createOAuthFetchMiddleware({ oauth: validated, mcpPath: '/mcp' });
    const at = (path: string): Request => new Request(`https://mcp.example.com${path}`);
    for (const path of ['/', '/mcp', '/elsewhere'])
      expect((await everything(at(path))).response?.status).toBe(401);
    expect((await everything(at(ROOT))).response?.status).toBe(200);
    expect((await some(at('/mcp'))).response?.status).toBe(401);
    expect(await some(at('/elsewhere'))).toEqual({ proceed: true, authInfo: undefined });
  });
});

describe('the middleware for node', () => {
  verifies(['S230', 'X19'], 'leaves what an earlier middleware put on req.auth', async () => {
    const before = { token: 't', clientId: 'gateway', scopes: [] };
    await using host = await startProtected({ before: req => void Object.assign(req, { auth: before }) });
    expect(authInfoOf(await callTool(host.origin, { token: 'good' }))).toEqual(before);
    expect((await callTool(host.origin, { token: 'bad' })).status).toBe(401);
  });

  verifies('S219', 'works as the reference shows it, and without a url', async () => {
    await using mcp = whoServer();
    const protect = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: [ISSUER],
        validateToken: async token => ({ valid: token === 'good' }),
      },
    });
    await using host = await serve(async (req, res) => {
      const { proceed } = await protect(req, res);
      if (!proceed) return;
      const url = new URL(req.url ?? '', 'https://mcp.example.com');
      await mcp.startHTTP({ url, httpPath: '/mcp', req, res, options: { serverless: true } });
    });
    const { origin } = host;
    expect((await callTool(origin, { token: 'good' })).status).toBe(200);
    expect((await callTool(origin, {})).status).toBe(401);
  });

  verifies('M8', 'looks for the tool in a body that was parsed before', async () => {
    await using mcp = whoServer();
    const app = express();
    app.use(express.json());
    const protect = createOAuthMiddleware({
      oauth: {
        resource: 'https://mcp.example.com/mcp',
        authorizationServers: [ISSUER],
        toolScopes: { write: ['mcp:write'] },
        validateToken: async () => ({ valid: true, scopes: ['mcp:read'] }),
      },
    });
    app.all('/mcp', (req, res) =>
      protect(req, res).then(({ proceed }) => {
        const url = new URL(req.url, 'http://localhost');
        const options = { serverless: true };
        return proceed ? mcp.startHTTP({ url, httpPath: '/mcp', req, res, options }) : undefined;
      }),
    );
    await using host = await serve(app);
    const { origin } = host;
    expect((await callTool(origin, { name: 'write', token: 't' })).status).toBe(403);
    expect((await callTool(origin, { name: 'whoami', token: 't' })).status).toBe(200);
  });
});

describe('wrong options', () => {
  const good = { resource: 'https://mcp.example.com/mcp', authorizationServers: [ISSUER] };
  const validateToken = async (): Promise<TokenValidationResult> => ({ valid: true });
  const optionOf = (oauth: object, more: object = {}): unknown => {
    try {
      createOAuthMiddleware({
        oauth: { ...good, validateToken, ...oauth },
        logger: keepLogs(),
        ...more,
      });
    } catch (error) {
      expect(error).toMatchObject({ code: 'MCP_SERVER_CONFIGURATION_INVALID' });
      return Reflect.get(Object(error), 'option');
    }
    return undefined;
  };

  verifies(['S223', 'S224', 'S226'], 'are refused by name when the middleware is made', () => {
    expect(optionOf({})).toBeUndefined();
    for (const resource of [undefined, '', '/mcp', 'ftp://a/', 'https://a/#b', 'https://u:p@a/'])
      expect(optionOf({ resource }), resource).toBe('oauth.resource');
    for (const authorizationServers of [undefined, [], 'https://as', ['as'], [7]])
      expect(optionOf({ authorizationServers })).toBe('oauth.authorizationServers');
    expect(optionOf({ scopesSupported: ['a b'] })).toBe('oauth.scopesSupported');
    expect(optionOf({ scopesSupported: 'a' })).toBe('oauth.scopesSupported');
    expect(optionOf({ requiredScopes: ['"'] })).toBe('oauth.requiredScopes');
    expect(optionOf({ toolScopes: { write: 'x' } })).toBe('oauth.toolScopes.write');
    expect(optionOf({ toolScopes: [] })).toBe('oauth.toolScopes');
    expect(optionOf({ resourceName: 7 })).toBe('oauth.resourceName');
    expect(optionOf({ resourceDocumentation: 'x' })).toBe('oauth.resourceDocumentation');
    expect(optionOf({ validateToken: 'x' })).toBe('oauth.validateToken');
    expect(optionOf({ validationTimeoutMs: 0 })).toBe('oauth.validationTimeoutMs');
    expect(optionOf({ validateTokn: validateToken })).toBe('oauth.validateTokn');
    expect(optionOf({}, { path: '/mcp' })).toBe('path');
    expect(optionOf({}, { mcpPath: 'mcp' })).toBe('mcpPath');
    expect(optionOf({}, { mcpPath: '/%zz' })).toBe('mcpPath');
    expect(optionOf({}, { oauth: undefined })).toBe('oauth');
  });

  verifies(['S225', 'M2'], 'include no validator in production, unless that is meant', () => {
    const before = process.env['NODE_ENV'];
    try {
      process.env['NODE_ENV'] = 'production';
      expect(optionOf({ validateToken: undefined })).toBe('oauth.validateToken');
      expect(optionOf({ validateToken: undefined, allowUnvalidatedTokens: 'yes' })).toBe(
        'oauth.validateToken',
      );
      const logger = keepLogs();
      expect(
        optionOf({ validateToken: undefined, allowUnvalidatedTokens: true }, { logger }),
      ).toBeUndefined();
      expect(logger.lines).toHaveLength(1);
      process.env['NODE_ENV'] = 'development';
      expect(optionOf({ validateToken: undefined })).toBeUndefined();
    } finally {
      process.env['NODE_ENV'] = before;
    }
    expect(optionOf({ validateToken: undefined, requiredScopes: ['a'] })).toBe('oauth.requiredScopes');
    expect(optionOf({ validateToken: undefined, toolScopes: { a: ['a'] } })).toBe('oauth.toolScopes');
  });
});

describe('listen with oauth', () => {
  const validateToken = async (token: string): Promise<TokenValidationResult> =>
    token === 'good' ? { valid: true, subject: 'ada', clientId: 'cli' } : { valid: false };

  verifies(
    ['S219', 'S223', 'X19'],
    'protects the server it starts, under the URL it listens at',
    async () => {
      await using server = whoServer();
      const listener = await server.listen({
        port: 0,
        path: '/tools',
        oauth: { authorizationServers: [ISSUER], validateToken },
        options: { serverless: true },
      });
      const { origin, href } = listener.url;
      const answer = await request(origin, { path: `${ROOT}/tools` });
      expect(answer.json).toMatchObject({ resource: href, authorization_servers: [ISSUER] });
      const refused = await callTool(origin, { path: '/tools' });
      expect(refused.status).toBe(401);
      expect(challengeOf(refused)['resource_metadata']).toBe(`${origin}${ROOT}/tools`);
      expect((await callTool(origin, { path: '/TOOLS' })).status).toBe(401);
      expect((await callTool(origin, { path: '/other' })).status).toBe(404);
      expect(authInfoOf(await callTool(origin, { path: '/tools', token: 'good' }))).toEqual({
        token: 'good',
        clientId: 'cli',
        scopes: [],
        extra: { subject: 'ada' },
      });
    },
  );

  verifies('S219', 'tells browsers of listed pages what is missing', async () => {
    await using server = whoServer();
    const { url } = await server.listen({
      port: 0,
      oauth: { resource: 'https://mcp.example.com/mcp', authorizationServers: [ISSUER], validateToken },
      options: { cors: { origins: ['https://app.example'] } },
    });
    const headers = [['origin', 'https://app.example']] as const;
    const refused = await request(url.origin, { headers });
    expect(refused.status).toBe(401);
    expect(challengeOf(refused)['resource_metadata']).toBe(`https://mcp.example.com${ROOT}/mcp`);
    expect(refused.headers['access-control-allow-origin']).toBe('https://app.example');
    expect(refused.headers['access-control-expose-headers']).toContain('www-authenticate');
    const asked = await request(url.origin, {
      method: 'OPTIONS',
      headers: [...headers, ['access-control-request-method', 'POST']],
    });
    expect(asked.status).toBe(204);
    await expect(
      server.listen({ port: 0, oauth: { authorizationServers: [], validateToken } }),
    ).rejects.toMatchObject({ option: 'oauth.authorizationServers' });
  });
});

verifies('M6', 'a token is in authInfo for tools, and in nothing that is logged or answered', async () => {
  const token = 'live-secret-0123456789';
  await using host = await startProtected({
    oauth: {
      validateToken: async given => {
        if (given !== token) return { valid: false, errorDescription: `I do not know ${given.length}` };
        return { valid: true, scopes: ['mcp:read'] };
      },
      requiredScopes: ['mcp:read'],
      toolScopes: { write: ['mcp:write'] },
    },
  });
  expect(authInfoOf(await callTool(host.origin, { token }))).toMatchObject({ token });
  const answers = [
    await callTool(host.origin, { token, name: 'write' }),
    await callTool(host.origin, { token: `${token}x` }),
    await request(host.origin, { path: `/mcp?access_token=${token}` }),
    await request(host.origin, { headers: [['authorization', `Bearer ${token} ${token}`]] }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 401, 401, 401]);
  const seen = JSON.stringify([answers.map(({ headers, body }) => [headers, body]), host.logs]);
  expect(host.logs).toHaveLength(4);
  expect(seen).not.toContain(token);
});
