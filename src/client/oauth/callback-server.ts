/**
 * The loopback server that a browser returns to, once.
 *
 * Owns binding, what counts as the return (method, path, Host, `state`), and the page the browser gets. Does not know
 * what a code is good for: who waits decides, and may keep the browser waiting until the outcome is known.
 *
 * @see https://datatracker.ietf.org/doc/html/rfc8252#section-7.3
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MCPAuthorizationFailedError, MCPConfigurationError } from '../../shared/errors.ts';
import { getCallbackUrlCandidates, isLoopbackRedirect } from './loopback.ts';
import { shown } from './redaction.ts';

/** What the authorization server sent along with the browser. */
export interface CallbackParams {
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  /** Issuer (RFC 9207). */
  readonly iss: string | undefined;
}

/** What the browser is told. */
export type CallbackPage = 'done' | 'failed' | 'again' | 'finishing';

/** The browser that came back. It waits until `answer` is called or the server is closed. */
export interface Callback {
  readonly params: CallbackParams;
  answer(page: CallbackPage): void;
}

const PAGES: Readonly<Record<CallbackPage, readonly [title: string, text: string]>> = {
  done: ['Authorization complete', 'You can close this window and return to the application.'],
  failed: ['Authorization failed', 'Nothing was authorized. The application says why.'],
  again: ['One more step', 'The application has to ask once more; it opens another page.'],
  finishing: [
    'You can return to the application',
    'It finishes the authorization; this window can be closed.',
  ],
};
const DEFAULT_WAIT_MS = 300_000;
/** A browser that does not take its page in this time does without. */
const FAREWELL_MS = 1000;
/** Ports that are taken, or not ours to take; and an address family the machine does not have. */
const TAKEN: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EACCES']);
const NO_FAMILY: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** A bound callback server that accepts one return of the browser. */
export class CallbackListener {
  /** The URL actually bound. */
  readonly url: URL;
  readonly #servers: readonly Server[];
  readonly #waiting = new Set<ServerResponse>();
  #state: string | undefined;
  #used = false;
  #accept: (callback: Callback) => void = () => undefined;

  private constructor(url: URL, servers: readonly Server[]) {
    this.url = url;
    this.#servers = servers;
    for (const server of servers)
      server.on('request', (request, response) => this.#receive(request, response));
  }

  /**
   * Binds the first free candidate of a redirect URL, and nothing but its loopback address.
   *
   * @throws MCPConfigurationError when it is no loopback URL; MCPAuthorizationFailedError `callback` when no port is free.
   */
  static async open(redirectUrl: string | URL): Promise<CallbackListener> {
    if (!isLoopbackRedirect(redirectUrl)) {
      throw new MCPConfigurationError('client', 'redirectUrl', 'must be an http URL of a loopback address');
    }
    const candidates = getCallbackUrlCandidates(redirectUrl);
    let last: unknown;
    for (const candidate of candidates) {
      try {
        const servers = await bind(candidate);
        const bound = new URL(candidate);
        bound.port = String(portOf(servers));
        return new CallbackListener(bound, servers);
      } catch (error) {
        last = error;
        if (!TAKEN.has((error as NodeJS.ErrnoException).code)) break;
      }
    }
    const [first, end] = [candidates[0], candidates.at(-1)].map(url => url?.port || '80');
    throw new MCPAuthorizationFailedError('callback', {
      message: `No callback server could be bound at ${candidates[0]?.hostname}, ports ${first} to ${end}`,
      cause: last,
    });
  }

  /** The browser that returns with this `state`. Never rejects; others get an error and change nothing. */
  expect(state: string): Promise<Callback> {
    this.#state = state;
    return new Promise(resolve => (this.#accept = resolve));
  }

  /** Frees the port. A browser that still waits is told to return to the application. */
  async close(): Promise<void> {
    for (const response of this.#waiting) finish(response, 200, 'finishing');
    await Promise.all(this.#servers.map(stop));
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    // The path and the host of a request are the sender's to choose: a page elsewhere may send any browser here.
    const target = request.url ?? '';
    const url = URL.canParse(target, this.url.href) ? new URL(target, this.url) : undefined;
    if (request.headers.host?.toLowerCase() !== this.url.host) return finish(response, 421);
    if (url?.pathname !== this.url.pathname) return finish(response, 404);
    if (request.method !== 'GET') {
      response.setHeader('allow', 'GET');
      return finish(response, 405);
    }
    if (this.#used) return finish(response, 410);
    const params = read(url.searchParams);
    const isOurs = this.#state !== undefined && isSame(params?.state, this.#state);
    if (params === undefined || !isOurs || (params.code === undefined) === (params.error === undefined)) {
      return finish(response, 400);
    }
    this.#used = true;
    this.#waiting.add(response);
    response.on('close', () => this.#waiting.delete(response));
    this.#accept({
      params,
      answer: page => finish(response, page === 'failed' ? 400 : 200, page),
    });
  }
}

/** Options of `createOAuthCallbackServer`. */
export interface OAuthCallbackServerOptions {
  /** Loopback URL to return to; the ten following ports are tried when its own is taken. */
  readonly redirectUrl: string | URL;
  /** The `state` of the authorization request; a return with another one is ignored. */
  readonly state: string;
}

/** A one-shot callback server for hosts that drive the login themselves. */
export interface OAuthCallbackServer extends AsyncDisposable {
  /** The URL actually bound: use it as `redirect_uri`. */
  readonly url: URL;
  readonly port: number;
  /**
   * The code, once the browser is back. `iss` is the issuer that the authorization server named: compare it with the one
   * you asked (RFC 9207) before the code is sent anywhere.
   *
   * @throws MCPAuthorizationFailedError `denied` (with `oauthError`), `timeout`, or `cancelled` when it is closed.
   */
  waitForCode(options?: {
    /** @defaultValue 300000 */
    readonly timeoutMs?: number | undefined;
  }): Promise<{ readonly code: string; readonly state: string; readonly iss?: string }>;
  /** Frees the port. Idempotent. */
  close(): Promise<void>;
}

/**
 * Binds a callback server on a loopback address, over plain http. Web applications use an endpoint of their own.
 *
 * Only a GET of the exact path with the right Host and `state` counts, and only the first one.
 *
 * @throws MCPConfigurationError when the redirect URL is no loopback URL or the state is empty.
 * @throws MCPAuthorizationFailedError `callback` when no port is free.
 */
export async function createOAuthCallbackServer(
  options: OAuthCallbackServerOptions,
): Promise<OAuthCallbackServer> {
  const { redirectUrl, state } = options;
  if (typeof state !== 'string' || state === '') {
    throw new MCPConfigurationError('client', 'state', 'must be a non-empty string');
  }
  const listener = await CallbackListener.open(redirectUrl);
  let closing: Promise<void> | undefined;
  let onClose: () => void = () => undefined;
  const closed = new Promise<undefined>(resolve => (onClose = () => resolve(undefined)));
  const returned = listener.expect(state).then(callback => {
    // The exchange is still to come, and not ours.
    callback.answer(callback.params.error === undefined ? 'finishing' : 'failed');
    return callback.params;
  });
  const close = (): Promise<void> => {
    onClose();
    closing ??= listener.close();
    return closing;
  };
  return {
    url: listener.url,
    port: Number(listener.url.port || 80),
    close,
    [Symbol.asyncDispose]: close,
    async waitForCode({ timeoutMs = DEFAULT_WAIT_MS } = {}) {
      const params = await within(timeoutMs, Promise.race([returned, closed]));
      if (params === undefined) {
        throw new MCPAuthorizationFailedError('cancelled', { message: 'The callback server was closed' });
      }
      const { code, iss } = params;
      if (code === undefined) throw toDenied(params);
      return { code, state, ...(iss === undefined ? {} : { iss }) };
    },
  };
}

/** The error for an authorization that the authorization server refused. */
export function toDenied(params: CallbackParams, serverName?: string): MCPAuthorizationFailedError {
  const { error = '', errorDescription } = params;
  const said = errorDescription === undefined ? '' : `: ${shown(errorDescription)}`;
  const who = serverName === undefined ? '' : `Server ${JSON.stringify(serverName)}: `;
  return new MCPAuthorizationFailedError('denied', {
    message: `${who}the authorization was refused (${shown(error)}${said})`,
    serverName,
    oauthError: error.slice(0, 64),
  });
}

/** Waits for a browser. @throws MCPAuthorizationFailedError `timeout`, naming the limit. */
export async function within<T>(limitMs: number, work: Promise<T>, serverName?: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const who = serverName === undefined ? '' : `Server ${JSON.stringify(serverName)}: `;
      const message = `${who}the browser did not return within ${limitMs} ms`;
      reject(new MCPAuthorizationFailedError('timeout', { message, serverName }));
    }, limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** `undefined` when a parameter came twice: which of both would count is anybody's guess. */
function read(query: URLSearchParams): (CallbackParams & { readonly state: string | undefined }) | undefined {
  const names = ['code', 'state', 'iss', 'error', 'error_description'] as const;
  if (names.some(name => query.getAll(name).length > 1)) return undefined;
  const [code, state, iss, error, errorDescription] = names.map(name => query.get(name) ?? undefined);
  return { code: code === '' ? undefined : code, state, iss, error, errorDescription };
}

/** Compares without telling by its duration how much was right. */
function isSame(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false;
  const [one, other] = [given, expected].map(text => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

function finish(response: ServerResponse, status: number, page?: CallbackPage): void {
  if (response.writableEnded) return;
  const [title, text] = page === undefined ? ['Nothing here', 'This is no page for you.'] : PAGES[page];
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  // Nothing of the request is repeated here.
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>`,
  );
}

/** Binds one loopback address; for `localhost`, which may mean either, both. */
async function bind(candidate: URL): Promise<readonly Server[]> {
  const port = Number(candidate.port || 80);
  if (candidate.hostname !== 'localhost')
    return [await listen(candidate.hostname.replace(/^\[|\]$/g, ''), port)];
  const first = await listen('127.0.0.1', port);
  try {
    return [first, await listen('::1', portOf([first]))];
  } catch (error) {
    if (NO_FAMILY.has((error as NodeJS.ErrnoException).code)) return [first];
    await stop(first);
    throw error;
  }
}

function listen(host: string, port: number): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

function portOf(servers: readonly Server[]): number {
  const address = servers[0]?.address() as AddressInfo | undefined;
  return address?.port ?? 0;
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return;
  const timer = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
  await new Promise<void>(resolve => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
