/**
 * Who authorizes for a server: discovery that is checked before anything of it is used.
 *
 * Owns the order of the documents, and what they must say: the resource is the server, the issuer is the one that was
 * asked (RFC 8414 section 3.3), S256, URLs that may be used. The documents' shapes and places are the SDK's.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-discovery
 */
import { buildDiscoveryUrls, type OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  OAuthMetadataSchema,
  OAuthProtectedResourceMetadataSchema,
  OpenIdProviderDiscoveryMetadataSchema,
  type AuthorizationServerMetadata,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import {
  checkResourceAllowed,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/sdk/shared/auth-utils.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPAuthorizationFailedError } from '../../shared/errors.ts';
import { TransportFailure } from '../connection/transport-failure.ts';
import { problemOfBrowserUrl, problemOfUrl, type OAuthServer } from './oauth-fetch.ts';
import { shown } from './redaction.ts';

/** The server whose authorization is looked for. */
export type DiscoveringServer = Pick<OAuthServer, 'serverName' | 'url' | 'allowedHosts'>;

/** Reports what is wrong with the documents. */
type Refuse = (problem: string, cause?: unknown) => MCPAuthorizationFailedError;

const refuseFor =
  (serverName: string | undefined): Refuse =>
  (problem, cause) =>
    new MCPAuthorizationFailedError('metadata', {
      message: `${serverName === undefined ? '' : `Server ${JSON.stringify(serverName)}: `}${problem}`,
      serverName,
      cause,
    });

/**
 * Finds and checks the authorization server of a server.
 *
 * Without a document about the resource the server's own origin is taken (2025-03-26), without one about the
 * authorization server its default endpoints.
 *
 * @throws MCPAuthorizationFailedError `metadata`; MCPUrlPolicyError for an address that must not be contacted.
 */
export async function discover(
  server: DiscoveringServer,
  options: {
    readonly fetch: FetchLike;
    /** From the challenge. */
    readonly resourceMetadataUrl?: URL | undefined;
    /** The authorization server to take where several are named. */
    readonly preferred?: string | undefined;
    /** Whether a user will be sent to it; a client on its own needs no PKCE. */
    readonly interactive: boolean;
  },
): Promise<OAuthDiscoveryState> {
  const { fetch, resourceMetadataUrl, preferred, interactive } = options;
  const refuse = refuseFor(server.serverName);
  const found = await readResource(server, resourceMetadataUrl, fetch, refuse);
  const listed = found?.metadata.authorization_servers ?? [];
  const named = listed.find(url => preferred !== undefined && isSameIssuer(url, preferred)) ?? listed[0];
  const authorizationServerUrl = named ?? String(new URL('/', server.url));
  if (!URL.canParse(authorizationServerUrl))
    throw refuse('the address of its authorization server is no URL');
  const metadata = await readAuthorizationServer(authorizationServerUrl, fetch, refuse);
  const state: OAuthDiscoveryState = {
    authorizationServerUrl,
    ...(metadata === undefined ? {} : { authorizationServerMetadata: metadata }),
    ...(found === undefined ? {} : { resourceMetadata: found.metadata, resourceMetadataUrl: found.url }),
  };
  assertTrustworthy(state, { server, interactive });
  return state;
}

/**
 * Checks discovered metadata, wherever it comes from. Without `server`, what does not depend on it.
 *
 * @throws MCPAuthorizationFailedError `metadata`
 */
export function assertTrustworthy(
  state: OAuthDiscoveryState,
  { server, interactive }: { readonly server?: DiscoveringServer; readonly interactive: boolean },
): void {
  const refuse = refuseFor(server?.serverName);
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = state;
  if (server !== undefined && resourceMetadata !== undefined) {
    resourceFor(server.url, resourceMetadata.resource, server.serverName);
  }
  const check = (name: string, value: unknown, problemOf: (url: URL) => string | undefined): void => {
    const usable = typeof value === 'string' && URL.canParse(value);
    const problem = usable ? problemOf(new URL(value)) : 'is no URL';
    if (problem !== undefined) throw refuse(`the ${name} of its authorization server ${problem}`);
  };
  const ofRequest = (url: URL): string | undefined =>
    server === undefined ? problemOfBrowserUrl(url) : problemOfUrl(url, server);
  check('address', authorizationServerUrl, ofRequest);
  if (metadata === undefined) {
    const standard = String(new URL('/authorize', authorizationServerUrl));
    if (interactive) check('authorization endpoint', standard, problemOfBrowserUrl);
    return;
  }
  // Where no document names an authorization server, the origin is only where it is looked for (2025-03-26).
  const isNamed = (resourceMetadata?.authorization_servers ?? []).length > 0;
  const isRight = isNamed
    ? isSameIssuer(metadata.issuer, authorizationServerUrl)
    : originOf(metadata.issuer) === originOf(authorizationServerUrl);
  if (!isRight) {
    throw refuse(
      `the metadata of its authorization server ${shown(authorizationServerUrl)} claims to be of ` +
        `${shown(metadata.issuer)} (RFC 8414 section 3.3)`,
    );
  }
  if (interactive && metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw refuse('its authorization server does not say that it supports PKCE with S256');
  }
  if (interactive) check('authorization endpoint', metadata.authorization_endpoint, problemOfBrowserUrl);
  check('token endpoint', metadata.token_endpoint, ofRequest);
  if (metadata.registration_endpoint !== undefined) {
    check('registration endpoint', metadata.registration_endpoint, ofRequest);
  }
}

/**
 * The resource indicator to send (RFC 8707): what the metadata says, letter by letter, or the address of the server.
 *
 * @throws MCPAuthorizationFailedError `metadata` when the metadata is about another resource.
 */
export function resourceFor(serverUrl: URL, resource: string | undefined, serverName?: string): string {
  const own = resourceUrlFromServerUrl(serverUrl);
  if (resource === undefined) {
    return own.pathname === '/' && own.search === '' ? own.origin : own.href;
  }
  const matches =
    URL.canParse(resource) && checkResourceAllowed({ requestedResource: own, configuredResource: resource });
  if (matches) return resource;
  throw refuseFor(serverName)(`its metadata is about another resource, ${shown(resource)}`);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Whether two addresses of authorization servers are the same but for one slash at the end. */
export function isSameIssuer(one: string, other: string): boolean {
  const bare = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);
  return bare(one) === bare(other);
}

/** The metadata of the resource, from the challenge, the path or the root; `undefined` when there is none. */
async function readResource(
  { url }: DiscoveringServer,
  named: URL | undefined,
  fetch: FetchLike,
  refuse: Refuse,
): Promise<{ readonly url: string; readonly metadata: OAuthProtectedResourceMetadata } | undefined> {
  const wellKnown = '/.well-known/oauth-protected-resource';
  const inserted = new URL(`${wellKnown}${url.pathname.replace(/\/$/, '')}${url.search}`, url);
  const places = [...(named === undefined ? [] : [named]), inserted, new URL(wellKnown, url)];
  for (const place of new Map(places.map(one => [one.href, one])).values()) {
    const document = await readDocument(place, fetch, refuse);
    if (document === undefined) continue;
    const parsed = OAuthProtectedResourceMetadataSchema.safeParse(document);
    if (!parsed.success) throw refuse(`the metadata at ${shown(place.href)} is malformed`, parsed.error);
    return { url: place.href, metadata: parsed.data };
  }
  return undefined;
}

async function readAuthorizationServer(
  issuer: string,
  fetch: FetchLike,
  refuse: Refuse,
): Promise<AuthorizationServerMetadata | undefined> {
  for (const { url, type } of buildDiscoveryUrls(issuer)) {
    const document = await readDocument(url, fetch, refuse);
    if (document === undefined) continue;
    const schema = type === 'oauth' ? OAuthMetadataSchema : OpenIdProviderDiscoveryMetadataSchema;
    const parsed = schema.safeParse(document);
    // Parsing a URL takes control characters out without a word.
    const isOdd = Object.values(Object(document)).some(
      value => typeof value === 'string' && /\p{Cc}/u.test(value),
    );
    if (!parsed.success || isOdd) {
      throw refuse(`the metadata at ${shown(url.href)} is malformed`, parsed.error);
    }
    return parsed.data;
  }
  return undefined;
}

/** A document, or `undefined` where there is none; a server in trouble is not the same as none. */
async function readDocument(url: URL, fetch: FetchLike, refuse: Refuse): Promise<unknown> {
  const headers = { accept: 'application/json', 'mcp-protocol-version': LATEST_PROTOCOL_VERSION };
  try {
    const response = await fetch(url, { headers });
    if (response.status >= 500) throw refuse(`HTTP ${response.status} from ${shown(url.href)}`);
    return response.ok ? await response.json() : undefined;
  } catch (error) {
    if (isElsewhere(error)) return undefined;
    const isOurs = isMCPError(error);
    if (isOurs && (error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED' || error.reason === 'metadata'))
      throw error;
    throw refuse(`the metadata at ${shown(url.href)} could not be read`, error);
  }
}

/** A page for people, or a redirect that is not followed, stands for a document that is not there. */
function isElsewhere(error: unknown): boolean {
  if (!isMCPError(error)) return false;
  if (error.code === 'MCP_CLIENT_REDIRECT_REFUSED') return true;
  if (error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED') return false;
  const redirected = error.cause instanceof TransportFailure && error.cause.kind === 'redirect';
  return redirected || (error.reason === 'token' && error.httpStatus !== undefined);
}
