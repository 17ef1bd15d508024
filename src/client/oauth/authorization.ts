/**
 * The authorization of one server: what its requests carry, and what happens when it is refused.
 *
 * Owns the state of authorization, the challenge that waits for the user, what was discovered, and the one login under
 * way. No request opens a browser: it renews the token where that needs no user, and else fails.
 */
import type { IMastraLogger } from '@mastra/core/logger';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError, MCPAuthorizationFailedError, MCPConfigurationError } from '../../shared/errors.ts';
import { runInRequestScope } from '../connection/request-scope.ts';
import { refusalFacts } from '../connection/response-guard.ts';
import { TransportFailure } from '../connection/transport-failure.ts';
import { challengeOf, scopesOf, unionOf, type Challenge } from './challenge.ts';
import { credentialsIn, type Credentials } from './credentials.ts';
import { discover } from './discovery.ts';
import { logIn } from './login.ts';
import { isLoopbackRedirect } from './loopback.ts';
import { createOAuthFetch, type OAuthServer } from './oauth-fetch.ts';
import { sessionOf, type ProviderSession } from './provider.ts';
import { isNonInteractive, renewToken } from './refresh.ts';
import { untilAborted } from './until-aborted.ts';

/**
 * - `needs-auth`: the server refused, and only the user can help: `authenticate()`.
 * - `authorized`: the server accepted the credentials of the provider.
 */
export type ServerAuthState = 'needs-auth' | 'authorized';

/** How a login reaches the connection it is for. */
export interface LoginConnection {
  /** Connects, anew where it is connected; requests in flight may end on the connection they are on. */
  renew(): Promise<unknown>;
}

/** Options of `authenticate`. */
export interface AuthenticateOptions {
  /** How long the browser may take to return, in milliseconds. @defaultValue 300000 */
  readonly timeoutMs?: number | undefined;
}

/** A refusal that no renewal could lift. */
interface Unresolved {
  readonly challenge: Challenge;
  /** The access token that was refused. */
  readonly token: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 300_000;
/** Logins that may ask for the same scopes in vain. */
const MAX_VAIN_LOGINS = 3;

export class Authorization {
  readonly #server: OAuthServer;
  readonly #provider: OAuthClientProvider;
  readonly #logger: () => IMastraLogger;
  readonly #session: ProviderSession | undefined;
  readonly #credentials: Credentials;
  readonly #fetch: FetchLike;
  #discovery: OAuthDiscoveryState | undefined;
  #unresolved: Unresolved | undefined;
  #isAccepted = false;
  /** The access token sent last: a server may repeat it in an answer. */
  #lastToken: string | undefined;
  /** Scopes that completed logins asked for. */
  #asked: readonly string[] = [];
  #vainLogins = 0;
  #mayWarn: boolean;
  #login: { readonly promise: Promise<void>; readonly controller: AbortController } | undefined;

  constructor(server: OAuthServer, provider: OAuthClientProvider, logger: () => IMastraLogger) {
    this.#server = server;
    this.#provider = provider;
    this.#logger = logger;
    this.#session = sessionOf(provider, server.url);
    this.#credentials = this.#session?.credentials ?? credentialsIn(provider);
    this.#fetch = createOAuthFetch(server);
    this.#mayWarn = this.#session?.isShared ?? false;
  }

  /** `undefined` before the server said anything about credentials. */
  get state(): ServerAuthState | undefined {
    if (this.#unresolved !== undefined) return 'needs-auth';
    return this.#isAccepted ? 'authorized' : undefined;
  }

  /** What must not come back in a text. */
  secrets(): readonly string[] {
    return this.#lastToken === undefined ? [] : [this.#lastToken];
  }

  /**
   * Wraps the fetch of a transport: adds the access token; answers a refusal with one renewal, shared by all, and one
   * more attempt.
   *
   * @throws TransportFailure `status` when the token could not be renewed; MCPUrlPolicyError
   */
  authorize(send: FetchLike): FetchLike {
    return async (url, init = {}) => {
      const attempt = async (token: string | undefined): Promise<Response> => {
        if (token === undefined) return await send(url, init);
        this.#lastToken = token;
        const headers = new Headers(init.headers);
        headers.set('authorization', `Bearer ${token}`);
        return await send(url, { ...init, headers });
      };
      this.#warnOnce();
      const token = (await this.#credentials.tokens())?.access_token;
      const response = await attempt(token);
      const challenge = this.#judge(response, token);
      // Nobody waits for the end of a session.
      if (challenge === undefined || init.method === 'DELETE') return response;
      const renewed = await this.#renewFor(response, challenge, token, init);
      if (renewed === undefined) return response;
      await response.body?.cancel().catch(() => undefined);
      const second = await attempt(renewed);
      this.#judge(second, renewed);
      return second;
    };
  }

  /**
   * Makes the server accept this client, by a login of the user where stored credentials do not do. Joins the login
   * under way, if there is one.
   *
   * @throws MCPConfigurationError, MCPAuthorizationFailedError, or what connecting throws.
   */
  authenticate(options: AuthenticateOptions, connection: LoginConnection): Promise<void> {
    const session = this.#interactiveSession();
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 1 && timeoutMs <= 0x7fff_ffff)) {
      throw new MCPConfigurationError(
        'client',
        'timeoutMs',
        'must be a number of milliseconds from 1 to 2147483647',
      );
    }
    if (this.#login !== undefined) return this.#login.promise;
    const controller = new AbortController();
    const run = async (): Promise<void> => {
      // A turn later, so that a cancellation in the same breath finds nothing begun.
      await Promise.resolve();
      controller.signal.throwIfAborted();
      await this.#authenticate(session, timeoutMs, connection, controller.signal);
    };
    const promise = runInRequestScope(undefined, run).finally(() => (this.#login = undefined));
    this.#login = { promise, controller };
    return promise;
  }

  /** Ends the login under way; resolves to whether there was one, once everything it opened is closed. */
  async cancel(): Promise<boolean> {
    const login = this.#login;
    if (login === undefined) return false;
    const message = `${this.#named}: the authentication was cancelled`;
    const { serverName } = this.#server;
    login.controller.abort(new MCPAuthorizationFailedError('cancelled', { message, serverName }));
    await login.promise.catch(() => undefined);
    return true;
  }

  async #authenticate(
    session: ProviderSession,
    timeoutMs: number,
    connection: LoginConnection,
    signal: AbortSignal,
  ): Promise<void> {
    if (await this.#isAcceptedAlready(connection, signal)) return;
    const challenge = this.#unresolved?.challenge;
    this.#assertNotInVain(challenge);
    const stored = scopesOf((await this.#credentials.tokens())?.scope);
    const { discovery, scopes } = await logIn({
      server: this.#server,
      provider: this.#provider,
      session,
      fetch: this.#fetch,
      challenge,
      earlierScopes: unionOf(stored, this.#asked),
      timeoutMs,
      signal,
      debug: text => this.#debug(text),
    });
    this.#discovery = discovery;
    this.#asked = unionOf(this.#asked, scopes);
    this.#unresolved = undefined;
    await untilAborted(signal, connection.renew());
  }

  /** Whether the stored credentials do, which only the server can tell. */
  async #isAcceptedAlready(connection: LoginConnection, signal: AbortSignal): Promise<boolean> {
    const before = this.#unresolved;
    const stored = (await this.#credentials.tokens())?.access_token;
    if (before !== undefined && stored === before.token) return false;
    try {
      // Anew, where it is connected: an open connection tells nothing about the credentials of now.
      await untilAborted(signal, connection.renew());
    } catch (error) {
      if (isMCPError(error) && error.code === 'MCP_CLIENT_AUTHORIZATION_REQUIRED') return false;
      throw error;
    }
    if (this.#unresolved !== before) return this.#unresolved === undefined;
    this.#unresolved = undefined;
    return true;
  }

  /** A server that keeps asking for scopes which it was given must not send the user round in circles. */
  #assertNotInVain(challenge: Challenge | undefined): void {
    const isVain = challenge?.status === 403 && challenge.scopes.every(scope => this.#asked.includes(scope));
    this.#vainLogins = isVain ? this.#vainLogins + 1 : 0;
    if (this.#vainLogins < MAX_VAIN_LOGINS) return;
    this.#vainLogins = 0;
    throw new MCPAuthorizationFailedError('denied', {
      message: `${this.#named}: it still refuses for want of scopes after ${MAX_VAIN_LOGINS} logins that asked for them`,
      serverName: this.#server.serverName,
      oauthError: 'insufficient_scope',
      httpStatus: 403,
    });
  }

  /** Notes what an answer says about the credentials; the challenge, when it is a refusal. */
  #judge(response: Response, token: string | undefined): Challenge | undefined {
    const challenge = challengeOf(response);
    if (challenge !== undefined) {
      this.#unresolved = { challenge, token };
    } else if (response.ok && token !== undefined) {
      this.#isAccepted = true;
      // With the token that was refused for something else, this proves nothing about that.
      if (this.#unresolved?.token !== token) this.#unresolved = undefined;
    }
    return challenge;
  }

  /** Another token, or `undefined` when the refusal stands. */
  async #renewFor(
    response: Response,
    challenge: Challenge,
    token: string | undefined,
    init: RequestInit,
  ): Promise<string | undefined> {
    const provider = this.#provider;
    const needs = {
      server: this.#server,
      provider,
      credentials: this.#credentials,
      isPreRegistered: this.#session?.isPreRegistered ?? false,
      fetch: this.#fetch,
      discovery: () => this.#discover(challenge),
    };
    const missing = challenge.status === 403 ? challenge.scopes : undefined;
    try {
      // A caller who leaves does not end what others wait for.
      const renewing = runInRequestScope(undefined, () => renewToken(needs, { token, missing }));
      const renewed = await untilAborted(init.signal ?? undefined, renewing);
      if (renewed !== undefined) this.#debug('the access token was renewed');
      return renewed;
    } catch (error) {
      this.#discovery = undefined;
      if (!isMCPError(error) || error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED') throw error;
      await response.body?.cancel().catch(() => undefined);
      const hadSession = new Headers(init.headers).has('mcp-session-id');
      throw new TransportFailure('status', `HTTP ${challenge.status}; ${error.message}`, {
        ...refusalFacts(response, { hadSession, secrets: [] }),
        cause: error,
      });
    }
  }

  async #discover({ resourceMetadataUrl }: Challenge): Promise<OAuthDiscoveryState> {
    this.#discovery ??= await discover(this.#server, {
      fetch: this.#fetch,
      resourceMetadataUrl,
      preferred: (await this.#credentials.client())?.issuer,
      interactive: !isNonInteractive(this.#provider),
    });
    return this.#discovery;
  }

  #interactiveSession(): ProviderSession {
    const option = `servers.${this.#server.serverName}.authProvider`;
    const session = this.#session;
    if (session === undefined) {
      throw new MCPConfigurationError(
        'client',
        option,
        'must be an MCPOAuthClientProvider for authenticate()',
      );
    }
    if (!isLoopbackRedirect(session.redirectUrl)) {
      throw new MCPConfigurationError(
        'client',
        option,
        'must have an http redirectUrl of a loopback address for authenticate(); ' +
          'a web application completes the login at its own endpoint',
      );
    }
    if (session.canRedirect) return session;
    throw new MCPConfigurationError(
      'client',
      option,
      'must have onRedirectToAuthorization for authenticate()',
    );
  }

  /** Not when it is made: the logger of a client comes later. */
  #warnOnce(): void {
    if (!this.#mayWarn) return;
    this.#mayWarn = false;
    const problem =
      'its MCPOAuthClientProvider serves another server as well; give each server one of its own';
    this.#logger().warn(`${this.#named}: ${problem}`);
  }

  get #named(): string {
    return `MCP server ${JSON.stringify(this.#server.serverName)}`;
  }

  #debug(text: string): void {
    this.#logger().debug(`${this.#named}, OAuth: ${text}`);
  }
}
