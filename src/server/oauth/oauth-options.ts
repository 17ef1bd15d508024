/**
 * What users may set about the protection of a server, and the settings the guard works with.
 *
 * Owns the public option types, every check and every default. An unknown option is refused: a misspelled
 * `validateToken` would let everybody in.
 */
import { ConsoleLogger } from '@mastra/core/logger';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { normalisePath } from './protected-path.ts';
import { DEFAULT_SCOPES } from './protected-resource.ts';
import type { ProtectedResourceOptions } from './protected-resource.ts';
import type { TokenValidator } from './token-validation.ts';

/** How a server is protected. */
export interface MCPServerOAuthOptions extends ProtectedResourceOptions {
  /**
   * Checks tokens. Without it every token is accepted unread, which is good for nothing but trying things out: it is
   * warned of, and refused where `NODE_ENV` is `production`.
   */
  readonly validateToken?: TokenValidator | undefined;
  /** Allows to run without `validateToken` in production, behind a gateway that checks tokens. @defaultValue false */
  readonly allowUnvalidatedTokens?: boolean | undefined;
  /** Scopes without which every request is 403. @defaultValue none */
  readonly requiredScopes?: readonly string[] | undefined;
  /** Further scopes by the name of a tool, without which a call of it is 403. @defaultValue none */
  readonly toolScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Milliseconds `validateToken` may take; after that the request is 503. @defaultValue 5000 */
  readonly validationTimeoutMs?: number | undefined;
}

/** How a server that `listen` starts is protected. */
export interface MCPServerListenOAuthOptions extends Omit<MCPServerOAuthOptions, 'resource'> {
  /** Canonical URL of the server, as clients connect to it. @defaultValue the URL it listens at */
  readonly resource?: string | undefined;
}

/** Where the protection says what an operator has to know. Never told a token. */
export interface OAuthLogger {
  debug(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Options of `createOAuthMiddleware` and `createOAuthFetchMiddleware`. */
export interface OAuthMiddlewareOptions {
  readonly oauth: MCPServerOAuthOptions;
  /**
   * Path the server is served at. Requests to it and below it need a token, all others proceed.
   *
   * @defaultValue `/mcp`; for web-standard requests `/`, which is every path
   */
  readonly mcpPath?: string | undefined;
  /** @defaultValue warnings and errors on the console */
  readonly logger?: OAuthLogger | undefined;
}

/** What the guard works with. */
export interface OAuthSettings {
  readonly resource: ProtectedResourceOptions;
  /** `undefined` accepts every token. */
  readonly validateToken: TokenValidator | undefined;
  readonly requiredScopes: readonly string[];
  readonly toolScopes: ReadonlyMap<string, readonly string[]>;
  readonly validationTimeoutMs: number;
  /** As it was given. */
  readonly mcpPath: string;
  /** Normalised. */
  readonly protectedPath: string;
  readonly logger: OAuthLogger;
}

const VALIDATION_TIMEOUT_MS = 5000;
const OPTIONS = new Set(['oauth', 'mcpPath', 'logger']);
const OAUTH_OPTIONS = new Set([
  'resource',
  'authorizationServers',
  'scopesSupported',
  'resourceName',
  'resourceDocumentation',
  'validateToken',
  'allowUnvalidatedTokens',
  'requiredScopes',
  'toolScopes',
  'validationTimeoutMs',
]);
/** Characters of a scope (RFC 6749 section 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

const UNVALIDATED =
  'OAuth: there is no validateToken, so EVERY bearer token is accepted without a check. ' +
  'Do not let anybody else reach this server';

/**
 * Checks the options of a middleware and fills in the defaults. Warns when no token will be checked.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the option.
 */
export function resolveOAuthOptions(options: OAuthMiddlewareOptions, defaultPath: string): OAuthSettings {
  assertKnown('', options, OPTIONS);
  const { oauth, mcpPath = defaultPath } = options;
  assertKnown('oauth', oauth, OAUTH_OPTIONS);
  assertUrl('oauth.resource', oauth.resource);
  if (new URL(oauth.resource).hash !== '') invalid('oauth.resource', 'must not have a fragment');
  const servers: unknown = oauth.authorizationServers;
  if (!Array.isArray(servers) || servers.length === 0)
    invalid('oauth.authorizationServers', 'must be a list of at least one URL');
  for (const server of servers) assertUrl('oauth.authorizationServers', server);
  if (oauth.resourceName !== undefined && typeof oauth.resourceName !== 'string')
    invalid('oauth.resourceName', 'must be a string');
  if (oauth.resourceDocumentation !== undefined)
    assertUrl('oauth.resourceDocumentation', oauth.resourceDocumentation);
  const protectedPath =
    typeof mcpPath === 'string' && mcpPath.startsWith('/') ? normalisePath(mcpPath) : undefined;
  if (protectedPath === undefined) invalid('mcpPath', 'must be a path that begins with a slash');
  const logger = options.logger ?? new ConsoleLogger({ name: 'MCPServer', level: 'warn' });
  if (oauth.validateToken === undefined) logger.warn(UNVALIDATED);
  return {
    resource: {
      ...oauth,
      scopesSupported: toScopeList('oauth.scopesSupported', oauth.scopesSupported) ?? DEFAULT_SCOPES,
    },
    ...toValidation(oauth),
    mcpPath,
    protectedPath,
    logger,
  };
}

function toValidation(
  oauth: MCPServerOAuthOptions,
): Pick<OAuthSettings, 'validateToken' | 'requiredScopes' | 'toolScopes' | 'validationTimeoutMs'> {
  const { validateToken, validationTimeoutMs = VALIDATION_TIMEOUT_MS } = oauth;
  if (validateToken !== undefined && typeof validateToken !== 'function')
    invalid('oauth.validateToken', 'must be a function');
  if (typeof validationTimeoutMs !== 'number' || !(validationTimeoutMs > 0))
    invalid('oauth.validationTimeoutMs', 'must be a positive number of milliseconds');
  const requiredScopes = toScopeList('oauth.requiredScopes', oauth.requiredScopes) ?? [];
  const toolScopes = new Map<string, readonly string[]>();
  assertObject('oauth.toolScopes', oauth.toolScopes ?? {});
  for (const [tool, scopes] of Object.entries(oauth.toolScopes ?? {}))
    toolScopes.set(tool, toScopeList(`oauth.toolScopes.${tool}`, scopes) ?? []);
  if (validateToken === undefined) {
    if (oauth.allowUnvalidatedTokens !== true && process.env['NODE_ENV'] === 'production')
      invalid('oauth.validateToken', 'is missing: in production that needs allowUnvalidatedTokens');
    // Nobody could say what a token permits.
    if (requiredScopes.length > 0) invalid('oauth.requiredScopes', 'needs validateToken');
    if (toolScopes.size > 0) invalid('oauth.toolScopes', 'needs validateToken');
  }
  return { validateToken, requiredScopes, toolScopes, validationTimeoutMs };
}

function toScopeList(option: string, scopes: unknown): readonly string[] | undefined {
  if (scopes === undefined) return undefined;
  if (!Array.isArray(scopes) || !scopes.every(scope => typeof scope === 'string' && SCOPE.test(scope)))
    invalid(option, 'must be a list of scopes');
  return [...(scopes as readonly string[])];
}

/**
 * Checks a URL of http or https without a user name in it.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the option.
 */
function assertUrl(option: string, value: unknown): asserts value is string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) invalid(option, 'must be a URL of http or https');
  if (url.username !== '' || url.password !== '') invalid(option, 'must not contain credentials');
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks the URL of an authorization server from which facts about tokens come: whoever can change an answer on its way
 * gets in.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the option.
 */
export function toTrustedUrl(option: string, value: string | URL, allowHttp: boolean | undefined): URL {
  const text = String(value);
  assertUrl(option, text);
  const url = new URL(text);
  if (url.protocol === 'http:' && allowHttp !== true && !LOOPBACK_HOST.test(url.hostname))
    invalid(option, 'must be a URL of https; on a network you trust set allowHttp');
  return url;
}

function assertKnown(option: string, value: unknown, known: ReadonlySet<string>): void {
  assertObject(option === '' ? 'options' : option, value);
  for (const [name, entry] of Object.entries(Object(value) as object)) {
    if (entry === undefined || known.has(name)) continue;
    invalid(option === '' ? name : `${option}.${name}`, 'is not an option');
  }
}

function assertObject(option: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    invalid(option, 'must be an object');
}

function invalid(option: string, problem: string): never {
  throw new MCPConfigurationError('server', option, problem);
}
