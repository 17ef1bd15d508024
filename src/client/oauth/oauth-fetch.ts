/**
 * The guarded fetch of OAuth: which URLs of authorization servers and of metadata may be contacted for one server.
 *
 * Owns schemes, private addresses, limits of time and size, and that no answer carries back a secret we sent. Hosts and
 * redirects are the URL policy's. Custom `fetch` functions are asked to send, after the name was looked at.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#communication-security
 */
import type { LookupFunction } from 'node:net';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError, MCPAuthorizationFailedError, MCPUrlPolicyError } from '../../shared/errors.ts';
import { guardFetch, isAllowedHost } from '../connection/url-policy.ts';
import type { ResolvedHttpServer } from '../options.ts';
import { isLoopbackHost } from './loopback.ts';
import {
  addressesOf,
  fetchPinned,
  isPrivateAddress,
  PrivateAddressRefused,
  systemLookup,
} from './private-addresses.ts';
import { redact } from './redaction.ts';

/** What the room needs to know of a server definition. */
export type OAuthServer = Pick<
  ResolvedHttpServer,
  'serverName' | 'url' | 'allowedHosts' | 'requestInit' | 'fetch'
>;

const REQUEST_LIMIT_MS = 10_000;
/** Metadata, registrations and tokens are far smaller. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Members of a form that an answer must not bring back into a text. */
const SECRET_FIELDS = [
  'code',
  'code_verifier',
  'refresh_token',
  'client_secret',
  'client_assertion',
  'assertion',
];
const MIN_SECRET_LENGTH = 4;

/**
 * Why an OAuth URL must not be used, or `undefined`: it must be https, or http to this machine while the server is there
 * too, to the server's own origin, or to a host that `allowedHosts` names.
 */
export function problemOfUrl(
  url: URL,
  server: Pick<OAuthServer, 'url' | 'allowedHosts'>,
): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither https nor http';
  if (url.username !== '' || url.password !== '') return 'holds credentials';
  if (url.protocol === 'https:' || url.origin === server.url.origin) return undefined;
  if (isLoopbackHost(url.hostname) && isLoopbackHost(server.url.hostname)) return undefined;
  const isNamed = server.allowedHosts !== undefined && isAllowedHost(url, server.allowedHosts);
  return isNamed ? undefined : 'is plain http, which is for this machine and for what allowedHosts names';
}

/**
 * Why a URL must not be opened in the browser of a user, or `undefined`: it must be https, or http to this machine.
 *
 * @see https://datatracker.ietf.org/doc/html/rfc9700#section-4.11
 */
export function problemOfBrowserUrl(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return 'holds credentials';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:' && isLoopbackHost(url.hostname)) return undefined;
  return 'is neither https nor http to this machine';
}

/**
 * The fetch for everything OAuth does for one server. Each request ends within 10 s; the answer has been read, is JSON
 * where it is a success, and holds none of the secrets that were posted where it is a failure.
 *
 * @throws MCPUrlPolicyError for a URL that must not be contacted; nothing was sent then.
 * @throws MCPAuthorizationFailedError for an answer that is too large or no JSON.
 */
export function createOAuthFetch(server: OAuthServer, lookup: LookupFunction = systemLookup): FetchLike {
  const { serverName, url: own, allowedHosts, fetch: custom } = server;
  let ownIsPublic: Promise<boolean> | undefined;

  /** Whether only public addresses will do (D19): the server is public, and nobody named the host. */
  const mustBePublic = async (url: URL): Promise<boolean> => {
    if (url.host === own.host || allowedHosts !== undefined) return false;
    ownIsPublic ??= isPublicHost(own.hostname, lookup);
    return await ownIsPublic;
  };
  const refuse = (url: URL, problem: string, cause?: unknown): MCPUrlPolicyError =>
    new MCPUrlPolicyError('MCP_CLIENT_HOST_NOT_ALLOWED', {
      message:
        `Server ${JSON.stringify(serverName)}: the OAuth address ${JSON.stringify(`${url.origin}${url.pathname}`)} ` +
        `${problem}; the request was not sent`,
      serverName,
      host: url.host,
      cause,
    });

  const send: FetchLike = async (input, init = {}) => {
    const url = new URL(input);
    const problem = problemOfUrl(url, server);
    if (problem !== undefined) throw refuse(url, problem);
    const careful = await mustBePublic(url);
    if (custom !== undefined) {
      if (careful && (await addressesOf(url.hostname, lookup)).some(isPrivateAddress)) {
        throw refuse(url, 'is private, and the server is public');
      }
      return await custom(url, init, null);
    }
    if (!careful) return await fetch(url, init);
    try {
      return await fetchPinned(
        url,
        {
          method: init.method ?? 'GET',
          headers: new Headers(init.headers),
          body: textOf(init.body),
        },
        { lookup, signal: init.signal ?? undefined },
      );
    } catch (error) {
      if (!(error instanceof PrivateAddressRefused)) throw error;
      throw refuse(url, 'is private, and the server is public', error);
    }
  };

  const guarded = guardFetch(send, { ...server, withinOrigin: true });
  return async (input, init = {}) => {
    const url = new URL(input);
    const limit = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const signal =
      init.signal === undefined || init.signal === null ? limit : AbortSignal.any([limit, init.signal]);
    const failed = (problem: string, status?: number, cause?: unknown): MCPAuthorizationFailedError =>
      new MCPAuthorizationFailedError('token', {
        message: `Server ${JSON.stringify(serverName)}: ${url.origin}${url.pathname} ${problem}`,
        serverName,
        httpStatus: status,
        cause,
      });
    try {
      const response = await guarded(url, { ...init, signal });
      const text = await readAll(response);
      const { status, headers } = response;
      if (text === undefined) throw failed(`answered more than ${MAX_ANSWER_BYTES} bytes`, status);
      if (!response.ok) {
        const clean = redact(text, secretsOf(init), MIN_SECRET_LENGTH);
        return new Response(clean === '' ? null : clean, { status, headers: plain(headers) });
      }
      // The SDK would quote it, token and all.
      if (!isJson(text)) throw failed('answered something that is not JSON', status);
      return new Response(text, { status, headers: plain(headers) });
    } catch (error) {
      if (isMCPError(error) || init.signal?.aborted === true) throw error;
      const why = limit.aborted ? `did not answer within ${REQUEST_LIMIT_MS} ms` : 'could not be reached';
      throw failed(why, undefined, error);
    }
  };
}

async function isPublicHost(hostname: string, lookup: LookupFunction): Promise<boolean> {
  if (isLoopbackHost(hostname)) return false;
  const addresses = await addressesOf(hostname, lookup);
  // A name that we cannot resolve is somebody else's to reach; it gives no claim to our network.
  return addresses.length === 0 || addresses.some(address => !isPrivateAddress(address));
}

/** What an answer may still say about itself once its body was read and written anew. */
function plain(headers: Headers): Headers {
  const type = headers.get('content-type');
  return new Headers(type === null ? {} : { 'content-type': type });
}

async function readAll(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_ANSWER_BYTES) {
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** What OAuth posts is text or a form. */
function textOf(body: RequestInit['body']): string | undefined {
  return typeof body === 'string' || body instanceof URLSearchParams ? body.toString() : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function secretsOf({ body, headers }: RequestInit): readonly string[] {
  const form = body instanceof URLSearchParams ? body : undefined;
  const basic = /^basic (.+)$/i.exec(new Headers(headers).get('authorization') ?? '')?.[1];
  const [, secret] = basic === undefined ? [] : Buffer.from(basic, 'base64').toString().split(/:(.*)/s);
  return [...SECRET_FIELDS.flatMap(name => form?.getAll(name) ?? []), basic, secret].filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}
