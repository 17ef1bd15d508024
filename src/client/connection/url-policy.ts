/**
 * Which URLs may be contacted for one server, and which headers go along.
 *
 * Owns the host list, redirects (followed by hand, one check per hop) and the headers of `requestInit`. Does not resolve
 * names and does not look at addresses; redirects that a custom `fetch` follows by itself are only seen afterwards.
 *
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { MCPUrlPolicyError } from '../../shared/errors.ts';
import { TransportFailure } from './transport-failure.ts';

/** What one server may contact, and what it gets sent. */
export interface UrlPolicy {
  readonly serverName: string;
  /** The server's own URL. Only its origin gets `requestInit.headers`. */
  readonly url: URL;
  /** `URL.host` of every host that may be contacted; `undefined` allows any, an empty list none. */
  readonly allowedHosts: readonly string[] | undefined;
  readonly requestInit: RequestInit;
  /** Follow redirects only within the origin, whatever the host list says. */
  readonly withinOrigin?: boolean;
}

const MAX_HOPS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that only the origin they were made for may see. */
const PERSONAL_HEADERS = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'mcp-session-id',
  'last-event-id',
];

/** Whether the host of `url` is in the list: exact, case-insensitive, with the port where it is not the default. */
export function isAllowedHost(url: URL, allowedHosts: readonly string[] | undefined): boolean {
  return allowedHosts === undefined || allowedHosts.some(entry => entry.toLowerCase() === url.host);
}

/**
 * Wraps `fetch` for one server: checks the first URL and every redirect before anything is sent, follows at most five
 * redirects, and adds `requestInit`. Headers of the request win over those of `requestInit`.
 *
 * Without a host list only redirects within the origin are followed, with one also those to listed hosts; never from
 * https to http. A redirect that would turn a POST into a GET is refused.
 *
 * @throws MCPUrlPolicyError `MCP_CLIENT_HOST_NOT_ALLOWED` or `MCP_CLIENT_REDIRECT_REFUSED`
 * @throws TransportFailure `redirect`, naming the target
 */
export function guardFetch(send: FetchLike, policy: UrlPolicy): FetchLike {
  return async (input, init) => {
    let url = new URL(input);
    if (!isAllowedHost(url, policy.allowedHosts)) {
      throw hostError(policy, url.host, 'the request was not sent', false);
    }
    const request = toRequest(url, init, policy);
    for (let hops = 0; ; hops += 1) {
      // A copy: what a custom fetch adds for this hop must not reach the next one.
      const response = await send(url, { ...request, headers: new Headers(request.headers) });
      if (!REDIRECTS.has(response.status) && response.type !== 'opaqueredirect') {
        await assertFinalUrl(response, policy);
        return response;
      }
      await response.body?.cancel().catch(() => undefined);
      const target = nextUrl(url, response, request, hops, policy);
      if (target.origin !== url.origin) dropPersonalHeaders(request.headers, policy);
      url = target;
    }
  };
}

interface OutgoingRequest extends RequestInit {
  readonly method: string;
  readonly headers: Headers;
}

function toRequest(url: URL, init: RequestInit | undefined, policy: UrlPolicy): OutgoingRequest {
  const { headers: ownHeaders, method: _method, body: _body, ...own } = policy.requestInit;
  const headers = new Headers(init?.headers);
  if (url.origin === policy.url.origin) {
    for (const [name, value] of new Headers(ownHeaders)) if (!headers.has(name)) headers.set(name, value);
  }
  return { ...own, ...init, method: init?.method ?? 'GET', headers, redirect: 'manual' };
}

function nextUrl(
  from: URL,
  response: Response,
  request: OutgoingRequest,
  hops: number,
  policy: UrlPolicy,
): URL {
  const { status } = response;
  const location = response.headers.get('location');
  const target = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  // A 303 tells that the request was processed; the others that it was not.
  const mayHaveExecuted = status === 303;
  const address = target === undefined ? undefined : `${target.origin}${target.pathname}`;
  const unfollowed = (why: string): TransportFailure =>
    new TransportFailure('redirect', `HTTP ${status} from ${JSON.stringify(from.host)}: ${why}`, {
      mayHaveExecuted,
      status,
      target: address,
    });
  if (target === undefined) throw unfollowed('a redirect without a usable Location');
  const shown = JSON.stringify(address);
  const { redirect = 'follow' } = policy.requestInit;
  if (redirect !== 'follow')
    throw unfollowed(`a redirect to ${shown}, and requestInit.redirect is ${redirect}`);
  if (hops === MAX_HOPS) throw unfollowed(`more than ${MAX_HOPS} redirects, the last one to ${shown}`);
  if (status < 307 && request.method !== 'GET') {
    throw unfollowed(
      `a redirect to ${shown}, which a ${request.method} does not follow; set url to that address`,
    );
  }
  const refused = refusal(from, target, policy);
  if (refused !== undefined) {
    throw new MCPUrlPolicyError('MCP_CLIENT_REDIRECT_REFUSED', {
      message: `Server ${JSON.stringify(policy.serverName)}: the redirect to ${shown} was not followed: ${refused}`,
      serverName: policy.serverName,
      host: target.host,
      mayHaveExecuted,
    });
  }
  if (!isAllowedHost(target, policy.allowedHosts)) {
    const where = `the redirect from ${JSON.stringify(from.host)} was not followed`;
    throw hostError(policy, target.host, where, mayHaveExecuted);
  }
  return target;
}

/** Why a redirect is refused whatever its host. */
function refusal(from: URL, target: URL, policy: UrlPolicy): string | undefined {
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return 'it is neither http nor https';
  if (from.protocol === 'https:' && target.protocol === 'http:') return 'it leads from https to http';
  if (target.username !== '' || target.password !== '') return 'its address holds credentials';
  if (target.origin === from.origin) return undefined;
  if (policy.withinOrigin) return 'it leaves the origin';
  return policy.allowedHosts === undefined
    ? 'it leaves the origin of the server, and allowedHosts is not set'
    : undefined;
}

function dropPersonalHeaders(headers: Headers, policy: UrlPolicy): void {
  const own = new Headers(policy.requestInit.headers);
  for (const name of [...PERSONAL_HEADERS, ...own.keys()]) headers.delete(name);
}

/** A custom `fetch` may have followed redirects by itself; one that makes up its response has no URL to check. */
async function assertFinalUrl(response: Response, policy: UrlPolicy): Promise<void> {
  if (policy.allowedHosts === undefined || !response.url) return;
  const final = new URL(response.url);
  if (isAllowedHost(final, policy.allowedHosts)) return;
  await response.body?.cancel().catch(() => undefined);
  throw hostError(policy, final.host, 'its answer was rejected after the custom fetch went there', true);
}

function hostError(
  policy: UrlPolicy,
  host: string,
  outcome: string,
  mayHaveExecuted: boolean,
): MCPUrlPolicyError {
  const list = policy.allowedHosts?.map(entry => JSON.stringify(entry)).join(', ') || 'none';
  return new MCPUrlPolicyError('MCP_CLIENT_HOST_NOT_ALLOWED', {
    message:
      `Server ${JSON.stringify(policy.serverName)}: host ${JSON.stringify(host)} is not allowed ` +
      `(allowedHosts: ${list}); ${outcome}`,
    serverName: policy.serverName,
    host,
    mayHaveExecuted,
  });
}
