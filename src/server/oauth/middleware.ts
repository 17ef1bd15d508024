/**
 * The guard in front of a server, for node's requests and for web-standard ones.
 *
 * Owns how a verdict reaches whoever answers next: `req.auth` and `req.body` there, a result here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { FetchExchange } from '../http/fetch-exchange.ts';
import { corsHeaders } from '../http/guards.ts';
import type { HTTPSettings } from '../http/http-options.ts';
import { NodeExchange } from '../http/node-exchange.ts';
import { OAuthGuard } from './oauth-guard.ts';
import { resolveOAuthOptions } from './oauth-options.ts';
import type { MCPServerListenOAuthOptions, OAuthLogger, OAuthMiddlewareOptions } from './oauth-options.ts';
import type { TokenValidationResult } from './token-validation.ts';

/** What became of a request. */
export interface OAuthMiddlewareResult {
  /** Whether to go on; if not, the request is answered. */
  readonly proceed: boolean;
  /** The opposite of `proceed`. */
  readonly handled: boolean;
  /** What the validator said, where it was asked. */
  readonly tokenValidation?: TokenValidationResult;
}

/** Judges one request of a node:http server. `url` is the request's, as `startHTTP` takes it. */
export type OAuthMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  url?: URL,
) => Promise<OAuthMiddlewareResult>;

/** What became of a web-standard request. */
export type OAuthFetchResult =
  | {
      readonly proceed: true;
      /** For `server.fetch`; `undefined` where the path needs no token. */
      readonly authInfo: AuthInfo | undefined;
      readonly response?: undefined;
      readonly tokenValidation?: TokenValidationResult;
    }
  | {
      readonly proceed: false;
      readonly authInfo?: undefined;
      /** The answer. */
      readonly response: globalThis.Response;
      readonly tokenValidation?: TokenValidationResult;
    };

/** Judges one web-standard request, whose body can still be read afterwards. */
export type OAuthFetchMiddleware = (request: globalThis.Request) => Promise<OAuthFetchResult>;

/**
 * Protects what comes behind it with OAuth: serves the protected-resource metadata, answers requests without a valid
 * token, and puts who calls on `req.auth`, unless something is there already. The function it returns never rejects.
 *
 * Tells a path from others leniently: in front of a router it covers every way to write `mcpPath`.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming a wrong option; for a missing `validateToken` in
 * production.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
export function createOAuthMiddleware(options: OAuthMiddlewareOptions): OAuthMiddleware {
  const guard = new OAuthGuard(resolveOAuthOptions(options, '/mcp'));
  return (req, res, url) => guardNode(guard, req, res, url);
}

/** What the server itself knows about a listener. */
export interface ListenerProtection {
  readonly oauth: MCPServerListenOAuthOptions;
  readonly mcpPath: string | undefined;
  readonly logger: OAuthLogger;
  readonly http: HTTPSettings;
}

/**
 * Does what `createOAuthMiddleware` does in front of a listener of our own, whose URL is known when it listens.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming a wrong option.
 */
export function protectListener(
  { oauth, mcpPath, logger, http }: ListenerProtection,
  url: () => URL,
): OAuthMiddleware {
  const unknown = 'http://127.0.0.1/';
  const settings = resolveOAuthOptions(
    { oauth: { ...oauth, resource: oauth.resource ?? unknown }, mcpPath, logger },
    '/mcp',
  );
  let guard: OAuthGuard | undefined;
  return async (req, res) => {
    const resource = { ...settings.resource, resource: oauth.resource ?? url().href };
    guard ??= new OAuthGuard({ ...settings, resource }, http.limits);
    return guardNode(guard, req, res, undefined, http);
  };
}

async function guardNode(
  guard: OAuthGuard,
  req: IncomingMessage,
  res: ServerResponse,
  url: URL | undefined,
  http?: HTTPSettings,
): Promise<OAuthMiddlewareResult> {
  const exchange = new NodeExchange(req, res, url);
  const verdict = await guard.check(exchange, http === undefined ? {} : corsHeaders(exchange, http));
  if (verdict.proceed && verdict.authInfo !== undefined) exchange.admit(verdict.authInfo, verdict.body);
  return {
    proceed: verdict.proceed,
    handled: !verdict.proceed,
    ...(verdict.validation === undefined ? {} : { tokenValidation: verdict.validation }),
  };
}

/**
 * Does what `createOAuthMiddleware` does for web-standard requests, in front of `server.fetch`. Since that answers on every
 * path, every path needs a token, unless `mcpPath` is given.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming a wrong option; for a missing `validateToken` in
 * production.
 */
export function createOAuthFetchMiddleware(options: OAuthMiddlewareOptions): OAuthFetchMiddleware {
  const guard = new OAuthGuard(resolveOAuthOptions(options, '/'));
  return async request => {
    // The body is for whoever answers.
    const exchange = new FetchExchange(request, {}, { readsCopy: true });
    const verdict = await guard.check(exchange);
    const more = verdict.validation === undefined ? {} : { tokenValidation: verdict.validation };
    if (verdict.proceed) return { proceed: true, authInfo: verdict.authInfo, ...more };
    return { proceed: false, response: await exchange.response, ...more };
  };
}
