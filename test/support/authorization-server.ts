/**
 * A real authorization server on loopback: panva's oidc-provider from test/foreign, with everything in memory, and a user
 * who needs no browser.
 *
 * `startAuthorizationServer` gives issuer, endpoints, a client for introspection, what was asked of it, and tokens at once
 * (`issueToken`). `browse` walks a login as a browser does. PKCE with S256 is required, refresh tokens rotate, resource
 * indicators, dynamic registration, introspection, revocation and RFC 9207 `iss` are on.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportJWK, generateKeyPair } from 'jose';
import { ensureForeign } from './foreign.ts';

export interface AuthorizationServerOptions {
  /** @defaultValue any free one */
  readonly port?: number;
  /** Scopes beside `openid` and `offline_access`. @defaultValue mcp:read, mcp:write */
  readonly scopes?: readonly string[];
  /** @defaultValue 300; less than 5 makes tests flaky on a loaded machine */
  readonly accessTokenSeconds?: number;
  /** @defaultValue opaque */
  readonly accessTokenFormat?: 'opaque' | 'jwt';
  /** Resources that tokens may be asked for. @defaultValue every one */
  readonly resources?: readonly string[];
  /** Clients that are known from the start, as registration metadata with `client_id`. */
  readonly clients?: readonly Readonly<Record<string, unknown>>[];
  /** Whether anybody may register a client. @defaultValue true */
  readonly registration?: boolean;
  /** Client ID Metadata Documents; needs Node 22. @defaultValue false */
  readonly clientIdMetadataDocuments?: boolean;
  /** Changes the discovery documents on their way out. */
  readonly metadata?: (document: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Answers a request in place of the provider; `false` leaves it to the provider, and must not have read the body. */
  readonly override?: (req: IncomingMessage, res: ServerResponse) => boolean;
}

/** A grant that was asked for at the token endpoint. */
export interface Grant {
  /** `authorization_code`, `refresh_token` or `client_credentials`. */
  readonly type: string;
  /** The OAuth error code with which it was refused. */
  readonly error: string | undefined;
}

export interface TokenRequest {
  readonly resource: string;
  /** Separated by spaces. @defaultValue mcp:read */
  readonly scope?: string;
  /** Who logs in. @defaultValue alice */
  readonly login?: string;
}

export interface IssuedTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** With the scope `openid`. */
  readonly id_token?: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly token_type: string;
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  readonly introspectionEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string;
  readonly revocationEndpoint: string;
  readonly jwksUri: string;
  /** The resource server's own credentials; may introspect every token. */
  readonly resourceServer: { readonly clientId: string; readonly clientSecret: string };
  /** `<METHOD> <path>` of every request so far. */
  readonly requests: readonly string[];
  readonly grants: readonly Grant[];
  /** Errors inside the provider that were not the client's fault. */
  readonly errors: readonly unknown[];
  /** Registers a public native client for this redirect URI, which `metadata` completes. */
  register(
    redirectUri: string,
    metadata?: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<Record<string, unknown>> & { readonly client_id: string }>;
  /** Walks the authorization code flow to its end for a user who agrees. */
  issueToken(request: TokenRequest): Promise<IssuedTokens>;
  /** Revokes a token. */
  revoke(token: string): Promise<void>;
  /** Ends an access token as its time would; what came with it stays good. */
  expire(token: string): Promise<void>;
  close(): Promise<void>;
}

/** The little of oidc-provider that is used here; it comes without types. */
interface Provider {
  callback(): (req: IncomingMessage, res: ServerResponse) => void;
  on(event: string, listener: (...args: readonly unknown[]) => void): void;
  readonly AccessToken: { find(token: string): Promise<{ destroy(): Promise<void> } | undefined> };
}
interface ProviderModule {
  readonly Provider: new (issuer: string, configuration: object) => Provider;
  readonly errors: { readonly InvalidTarget: new () => Error };
}

const RESOURCE_SERVER = { clientId: 'resource-server', clientSecret: 'rs-secret-0123456789' } as const;
/** Nobody listens there: `browse` stops before it. */
const OWN_REDIRECT = 'http://127.0.0.1:9/callback';
const OWN_CLIENT = 'issue-token';

/** Starts one. Resolves to `undefined`, with the reason printed, where test/foreign cannot be installed. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer | undefined> {
  const foreign = await ensureForeign();
  if (foreign === undefined) return undefined;
  const entry = path.join(foreign, 'oidc-provider/lib/index.js');
  const module = (await import(pathToFileURL(entry).href)) as ProviderModule;
  let serve = (_req: IncomingMessage, res: ServerResponse): void => void res.writeHead(503).end();
  const requests: string[] = [];
  const server = createServer((req, res) => {
    requests.push(`${req.method} ${new URL(req.url ?? '/', 'http://localhost').pathname}`);
    if (options.override?.(req, res) !== true) serve(req, res);
  });
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new module.Provider(issuer, await configure(options, module));
  const grants: Grant[] = [];
  const errors: unknown[] = [];
  provider.on('grant.success', ctx => grants.push({ type: grantTypeOf(ctx), error: undefined }));
  provider.on('grant.error', (ctx, error) => {
    grants.push({ type: grantTypeOf(ctx), error: String(Reflect.get(Object(error), 'error')) });
  });
  provider.on('server_error', (_ctx, error) => errors.push(error));
  const callback = provider.callback();
  serve = (req, res) => {
    if (options.metadata !== undefined && req.url?.includes('/.well-known/') === true)
      rewriteJson(res, options.metadata);
    callback(req, res);
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const tokenEndpoint = `${issuer}/token`;
  const registrationEndpoint = `${issuer}/reg`;
  const revocationEndpoint = `${issuer}/token/revocation`;
  return {
    issuer,
    introspectionEndpoint: `${issuer}/token/introspection`,
    tokenEndpoint,
    registrationEndpoint,
    revocationEndpoint,
    jwksUri: `${issuer}/jwks`,
    resourceServer: RESOURCE_SERVER,
    requests,
    grants,
    errors,
    register: async (redirectUri, metadata) =>
      (await readJson(
        await fetch(registrationEndpoint, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...nativeClient(redirectUri), ...metadata }),
        }),
        201,
      )) as { readonly client_id: string },
    issueToken: request => issueToken(issuer, tokenEndpoint, request),
    async revoke(token) {
      const body = new URLSearchParams({ token, client_id: OWN_CLIENT });
      const response = await fetch(revocationEndpoint, { method: 'POST', body });
      if (!response.ok) throw new Error(`Revocation was answered ${response.status}`);
    },
    async expire(token) {
      await (await provider.AccessToken.find(token))?.destroy();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function nativeClient(redirectUri: string): object {
  return {
    redirect_uris: [redirectUri],
    client_name: 'Test',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
}

async function configure(options: AuthorizationServerOptions, { errors }: ProviderModule): Promise<object> {
  const scopes = options.scopes ?? ['mcp:read', 'mcp:write'];
  const seconds = options.accessTokenSeconds ?? 300;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'rs', alg: 'RS256', use: 'sig' };
  return {
    clients: [
      {
        client_id: RESOURCE_SERVER.clientId,
        client_secret: RESOURCE_SERVER.clientSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
      { client_id: OWN_CLIENT, ...nativeClient(OWN_REDIRECT) },
      ...(options.clients ?? []),
    ],
    jwks: { keys: [key] },
    scopes: ['openid', 'offline_access', ...scopes],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // Without `offline_access`, which would need `prompt=consent`.
    issueRefreshToken: async (_ctx: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    ttl: {
      AccessToken: seconds,
      AuthorizationCode: 60,
      ClientCredentials: seconds,
      Grant: 3600,
      IdToken: 300,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    cookies: { keys: ['only-for-tests'] },
    clientBasedCORS: () => true,
    findAccount: async (_ctx: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id }),
    }),
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      registration: { enabled: options.registration ?? true, initialAccessToken: false },
      registrationManagement: { enabled: options.registration ?? true },
      revocation: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx: unknown, client: { readonly clientId: string }) =>
          client.clientId === RESOURCE_SERVER.clientId,
      },
      ...(options.clientIdMetadataDocuments === true
        ? { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }
        : {}),
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => undefined,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx: unknown, resource: string) => {
          if (options.resources?.includes(resource) === false) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(' '),
            audience: resource,
            accessTokenTTL: seconds,
            accessTokenFormat: options.accessTokenFormat ?? 'opaque',
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
  };
}

function grantTypeOf(ctx: unknown): string {
  const { oidc } = ctx as { readonly oidc?: { readonly params?: Readonly<Record<string, unknown>> } };
  return String(oidc?.params?.['grant_type']);
}

/** Passes the JSON of an answer through `change` before it is sent. */
function rewriteJson(res: ServerResponse, change: NonNullable<AuthorizationServerOptions['metadata']>): void {
  const end = res.end.bind(res) as (text: string) => ServerResponse;
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  res.write = (chunk: unknown) => {
    keep(chunk);
    return true;
  };
  res.end = ((chunk?: unknown) => {
    keep(chunk);
    let text = Buffer.concat(chunks).toString();
    if (res.statusCode === 200) text = JSON.stringify(change(JSON.parse(text) as Record<string, unknown>));
    res.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof res.end;
}

async function issueToken(
  issuer: string,
  tokenEndpoint: string,
  { resource, scope = 'mcp:read', login = 'alice' }: TokenRequest,
): Promise<IssuedTokens> {
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(`${issuer}/auth`);
  const query = {
    response_type: 'code',
    client_id: OWN_CLIENT,
    redirect_uri: OWN_REDIRECT,
    scope,
    resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const end = await browse(url, { login, until: OWN_REDIRECT });
  const code = end.url.searchParams.get('code');
  if (code === null) throw new Error(`No code: ${end.url.search} after ${end.trail.join(', ')}`);
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: OWN_CLIENT,
    redirect_uri: OWN_REDIRECT,
    code,
    code_verifier: verifier,
    resource,
  });
  return (await readJson(await fetch(tokenEndpoint, { method: 'POST', body }), 200)) as IssuedTokens;
}

async function readJson(response: Response, wanted: number): Promise<unknown> {
  const text = await response.text();
  if (response.status !== wanted) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

export interface BrowseOptions {
  /** @defaultValue alice */
  readonly login?: string;
  /** What the user does once logged in. @defaultValue allow */
  readonly decision?: 'allow' | 'deny';
  /** Stops at a redirect to a URL that begins like this, without going there. */
  readonly until?: string;
}

/** Where a walk ended: at the redirect of `until`, or on a page without a form. */
export interface BrowseEnd {
  readonly url: URL;
  /** `undefined` at the redirect of `until`. */
  readonly status: number | undefined;
  readonly html: string;
  /** `<METHOD> <url without query> -> <status>` of each step. */
  readonly trail: readonly string[];
}

const MAX_STEPS = 25;

/** The user at a browser: keeps cookies, follows redirects, logs in with any name and agrees or cancels. */
export async function browse(start: URL | string, options: BrowseOptions = {}): Promise<BrowseEnd> {
  const { login = 'alice', decision = 'allow', until } = options;
  const cookies = new Map<string, string>();
  const trail: string[] = [];
  let url = new URL(start);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (until !== undefined && url.href.startsWith(until)) return { url, status: undefined, html: '', trail };
    const method = form === undefined ? 'GET' : 'POST';
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1);
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    trail.push(`${method} ${url.origin}${url.pathname} -> ${response.status}`);
    const html = await response.text();
    const location = response.headers.get('location');
    if (location !== null && response.status >= 300 && response.status < 400) {
      url = new URL(location, url);
      form = undefined;
      continue;
    }
    const abort = /href="([^"]+\/abort)"/.exec(html)?.[1];
    const isLogin = /name="login"/.test(html);
    if (decision === 'deny' && abort !== undefined && !isLogin) {
      url = new URL(abort, url);
      form = undefined;
      continue;
    }
    const next = readForm(html, { login, password: 'x' });
    if (next === undefined) return { url, status: response.status, html, trail };
    url = new URL(next.action, url);
    form = next.fields;
  }
  throw new Error(`Too many steps: ${trail.join(', ')}`);
}

/** The first form of a page, filled in. */
function readForm(
  html: string,
  values: Readonly<Record<string, string>>,
): { readonly action: string; readonly fields: URLSearchParams } | undefined {
  const found = /<form[^>]*action="([^"]+)"[\s\S]*?<\/form>/.exec(html);
  const action = found?.[1]?.replaceAll('&amp;', '&');
  if (found === null || action === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [input] of found[0].matchAll(/<input[^>]*>/g)) {
    const name = /name="([^"]+)"/.exec(input)?.[1];
    if (name !== undefined) fields.set(name, values[name] ?? /value="([^"]*)"/.exec(input)?.[1] ?? '');
  }
  return { action, fields };
}
