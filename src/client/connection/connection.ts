/**
 * One remote server: reach it, keep it, lose it, say why.
 *
 * Owns the state of the connection, the retry rule (D04), crash-loop guard (D15) and what outlives a connection:
 * listeners, answer handlers, progress. Knows no tools and no other server.
 */
import type { IMastraLogger } from '@mastra/core/logger';
import type { RequestContext } from '@mastra/core/request-context';
import type { Implementation } from '@modelcontextprotocol/sdk/types.js';
import {
  MCPConfigurationError,
  MCPConnectionError,
  type AnyMCPError,
  type MCPConnectionAttempt,
} from '../../shared/errors.ts';
import { PROGRESS_TOKEN_META_KEY } from '../../shared/meta.ts';
import { ProgressTracker, type RequestWatch } from '../capabilities/progress.ts';
import { Authorization, type AuthenticateOptions } from '../oauth/authorization.ts';
import type { ResolvedServerDefinition } from '../options.ts';
import { Answers } from './answers.ts';
import { AskedPages } from './asked-pages.ts';
import { CrashLoopGuard } from './crash-loop-guard.ts';
import { RevisionRefused, SessionPeer, type Peer, type PeerEvent } from './peer.ts';
import { runInRequestScope } from './request-scope.ts';
import { ConnectDeadline, quote, toConnectError, toRequestError } from './to-error.ts';
import { TransportFailure } from './transport-failure.ts';
import { mayFallBackToSse, transportAttempts } from './transports/choose.ts';
import type { OpenTransport } from './transports/open-transport.ts';
import { Wishes, type Wish } from './wishes.ts';

export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'needs-auth' | 'failed' | 'closed';

/** What is known about the connection to one server. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** When the state was entered. */
  readonly since: Date;
  readonly transport?: OpenTransport['kind'];
  readonly protocolVersion?: string;
  readonly serverInfo?: Implementation;
  readonly lastError?: AnyMCPError;
}

/** What the caller of a method may say about one request. */
export interface CallerOptions {
  /** Reaches a custom `fetch` as its third argument. */
  readonly requestContext?: RequestContext | undefined;
  /** Ends the request, here and at the server. */
  readonly signal?: AbortSignal | undefined;
}

export interface RequestOptions extends CallerOptions {
  /** The operation may run twice at the server without harm. */
  readonly mayRepeat: boolean;
  /** Ask for progress, with this token if it is free. */
  readonly progress?: { readonly preferredToken?: string | undefined } | undefined;
  /** Idle limit in milliseconds instead of the server's own. */
  readonly timeout?: number | undefined;
}

export interface ConnectionDeps {
  readonly logger: () => IMastraLogger;
  /** Told after every change of state. */
  readonly onStatus: (previous: ConnectionState) => void;
  /** Waited for before the first connect, e.g. the end of the client this one replaces. */
  readonly before?: Promise<void> | undefined;
}

export class Connection {
  readonly definition: ResolvedServerDefinition;
  readonly progress: ProgressTracker;
  /** How requests of the server are answered. */
  readonly answers: Answers;
  /** What every new connection asks the server to tell. */
  readonly wishes: Wishes = new Wishes();
  /** What its requests carry; only with an `authProvider`. */
  readonly authorization: Authorization | undefined;

  readonly #deps: ConnectionDeps;
  readonly #listeners = new Set<(event: PeerEvent) => void | Promise<void>>();
  readonly #crashes = new CrashLoopGuard();
  readonly #pages = new AskedPages();
  #state: ConnectionState = 'idle';
  #since = new Date();
  #lastError: AnyMCPError | undefined;
  #peer: SessionPeer | undefined;
  #open: OpenTransport | undefined;
  #connecting: { readonly promise: Promise<SessionPeer>; readonly controller: AbortController } | undefined;
  /** Peers out of use on which requests are still in flight. */
  readonly #retired = new Set<SessionPeer>();
  #instructions: string | undefined;
  #sessionToJoin: boolean;

  constructor(definition: ResolvedServerDefinition, deps: ConnectionDeps) {
    this.definition = definition;
    this.#deps = deps;
    this.progress = new ProgressTracker(error => this.#reportHandlerError(error));
    this.answers = new Answers(definition, this.#pages, text => deps.logger().warn(text));
    this.authorization =
      definition.kind === 'http' && definition.authProvider !== undefined
        ? new Authorization(definition, definition.authProvider, deps.logger)
        : undefined;
    this.#sessionToJoin = definition.kind === 'http' && definition.sessionId !== undefined;
  }

  get serverName(): string {
    return this.definition.serverName;
  }

  /** The connected server, or `undefined`. */
  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** The transport in use, or the last one: its standard error outlives a crash. */
  get transport(): OpenTransport | undefined {
    return this.#open;
  }

  /** The instructions of the server when it was connected last. */
  get instructions(): string | undefined {
    return this.#instructions;
  }

  get status(): ConnectionStatus {
    const peer = this.#peer;
    return {
      state: this.#state,
      since: this.#since,
      ...(peer === undefined ? {} : { transport: peer.transport }),
      ...(peer?.revision === undefined ? {} : { protocolVersion: peer.revision }),
      ...(peer?.serverInfo === undefined ? {} : { serverInfo: peer.serverInfo }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
  }

  /** Listens to what the server tells; survives reconnects. Returns a function that stops it. */
  on(listener: (event: PeerEvent) => void | Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** As `on`, for one kind of event. */
  onKind(kind: PeerEvent['kind'], listener: () => void | Promise<void>): () => void {
    return this.on(event => (event.kind === kind ? listener() : undefined));
  }

  /**
   * Connects, or joins the connect under way. The whole of it is bounded by `connectTimeout`.
   *
   * @throws MCPConnectionError, MCPAuthorizationRequiredError or MCPUrlPolicyError
   */
  connect(): Promise<Peer> {
    const peer = this.#usablePeer();
    if (peer !== undefined) return Promise.resolve(peer);
    if (this.#connecting === undefined) {
      const controller = new AbortController();
      // Outside any call: the handshake belongs to no request context (S026).
      const promise = runInRequestScope(undefined, () => this.#connect(controller));
      this.#connecting = { promise, controller };
    }
    return this.#connecting.promise;
  }

  /** One request under the retry rule of D04. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: RequestOptions,
  ): Promise<Record<string, unknown>> {
    return this.use(
      method,
      (peer, watch) => {
        const { token } = watch;
        const meta = params['_meta'] as Record<string, unknown> | undefined;
        const sent =
          token === undefined ? params : { ...params, _meta: { ...meta, [PROGRESS_TOKEN_META_KEY]: token } };
        return peer.request(method, sent, watch);
      },
      options,
    );
  }

  /**
   * Makes a wish known, now and on every later connection; one that fails is taken back.
   *
   * @throws AnyMCPError
   */
  async wish(wish: Wish): Promise<Record<string, unknown>> {
    await this.connect();
    // Remembered before it is sent, so that a connection made meanwhile knows it too.
    const takeBack = this.wishes.add(wish);
    try {
      return await this.request(wish.method, wish.params, { mayRepeat: true });
    } catch (error) {
      takeBack();
      throw error;
    }
  }

  /** Tells the server something, where it is connected; does not connect. */
  async notify(method: Parameters<Peer['notify']>[0]): Promise<void> {
    try {
      await this.#peer?.notify(method);
    } catch (error) {
      throw this.#toError(error, method);
    }
  }

  /**
   * Runs an operation on the connected server; once more on a new connection when the first surely did not run, or when
   * `mayRepeat` allows it. Everything else fails once and the next use connects anew.
   *
   * @throws AnyMCPError
   */
  async use<T>(
    method: string,
    operation: (peer: Peer, watch: RequestWatch) => Promise<T>,
    options: RequestOptions,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const peer = await this.#connectFor(method, options.signal);
      const watch = this.#watch(options);
      try {
        if (watch.ended !== undefined) throw this.#toError(watch.ended, method, false);
        // Only a fetch reads the scope, and entering one costs every promise of the call.
        if (peer.transport === 'stdio') return await operation(peer, watch);
        const scope = { requestContext: options.requestContext };
        const result = await runInRequestScope(scope, () => operation(peer, watch));
        if (this.#state === 'needs-auth') this.#setAuthorized(peer);
        return result;
      } catch (error) {
        this.#pages.noteRequired(error);
        const gone = this.#judge(peer, error);
        const again = attempt === 1 && gone !== 'alive' && (gone === 'not-run' || options.mayRepeat);
        if (!again) throw this.#noteRefusal(peer, this.#toError(error, method));
        this.#deps
          .logger()
          .debug(`MCP server ${quote(this.serverName)}: ${method} is sent again on a new connection`);
      } finally {
        watch[Symbol.dispose]();
      }
    }
  }

  /** Drops the connection and connects anew; resets the crash-loop guard. */
  async reconnect(): Promise<void> {
    await this.#end();
    this.#crashes.reset();
    this.#setState('idle');
    await this.connect();
  }

  /**
   * Logs the user in and connects, or only connects where that does.
   *
   * @throws MCPConfigurationError, MCPAuthorizationFailedError; as `connect`
   */
  async authenticate(options: AuthenticateOptions): Promise<void> {
    if (this.authorization === undefined) {
      const option = `servers.${this.serverName}.authProvider`;
      throw new MCPConfigurationError('client', option, 'is required for authenticate()');
    }
    await this.authorization.authenticate(options, this);
  }

  /** Connects anew without cutting off what is in flight. */
  async renew(): Promise<void> {
    if (this.#peer !== undefined) this.#drop(this.#peer, 'leave');
    await this.connect();
  }

  /** Ends connection, connect and login under way. Idempotent; a later use connects anew. */
  async close(): Promise<void> {
    await Promise.all([this.authorization?.cancel(), this.#end()]);
  }

  async #end(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    connecting?.controller.abort(
      new TransportFailure('closed', 'the client was disconnected', { mayHaveExecuted: false }),
    );
    const peers = [this.#peer, ...this.#retired];
    this.#peer = undefined;
    this.#setState('closed');
    await Promise.all([...peers.map(peer => peer?.close()), connecting?.promise.catch(() => undefined)]);
  }

  async #connect(controller: AbortController): Promise<SessionPeer> {
    const { signal } = controller;
    const { connectTimeout } = this.definition;
    const blocked = this.#crashes.blockedUntil();
    try {
      if (blocked !== undefined) throw this.#crashLoopError(blocked);
      this.#setState('connecting');
      await this.#deps.before;
      const deadline = performance.now() + connectTimeout;
      const timer = setTimeout(() => controller.abort(new ConnectDeadline(connectTimeout)), connectTimeout);
      const peer = await this.#tryTransports(signal).finally(() => clearTimeout(timer));
      await this.#renewWishes(peer, deadline, signal);
      if (signal.aborted || peer.gone) throw await this.#giveUp(peer, signal);
      this.#peer = peer;
      this.#instructions = peer.instructions;
      this.#lastError = undefined;
      this.#setState('ready');
      return peer;
    } catch (error) {
      const failure = this.#toError(error, 'connect');
      this.#lastError = failure;
      if (!(signal.aborted && !(signal.reason instanceof ConnectDeadline))) {
        this.#setState(failure.code === 'MCP_CLIENT_AUTHORIZATION_REQUIRED' ? 'needs-auth' : 'failed');
      }
      throw failure;
    } finally {
      if (this.#connecting?.controller === controller) this.#connecting = undefined;
    }
  }

  /** Ends a peer that is not wanted any more, or ended by itself, before it was of use. */
  async #giveUp(peer: SessionPeer, signal: AbortSignal): Promise<AnyMCPError> {
    const open = this.#open;
    if (peer.gone && open !== undefined) this.#noteCrash(open);
    await peer.close();
    const cause: unknown = signal.aborted
      ? signal.reason
      : (open?.closeFailure() ?? 'the connection was closed');
    return toConnectError(this.serverName, [{ transport: peer.transport, cause }], undefined);
  }

  async #tryTransports(signal: AbortSignal): Promise<SessionPeer> {
    for (;;) {
      const peer = await this.#tryTransportsOnce(signal);
      // A handler that came during the handshake is declared by another one.
      if (signal.aborted || !this.#isOutgrown(peer)) return peer;
      this.#drop(peer, 'leave');
    }
  }

  async #tryTransportsOnce(signal: AbortSignal): Promise<SessionPeer> {
    const attempts: MCPConnectionAttempt[] = [];
    const { definition } = this;
    const known = definition.kind === 'http' && !this.#sessionToJoin;
    const candidates = transportAttempts(known ? { ...definition, sessionId: undefined } : definition, {
      serverName: this.serverName,
      logger: this.#deps.logger,
      authorization: this.authorization,
    });
    for (const candidate of candidates) {
      const open = candidate.open();
      this.#open = open;
      try {
        return await SessionPeer.connect(open, {
          capabilities: this.answers.capabilities,
          jsonSchemaValidator: this.definition.jsonSchemaValidator,
          answers: this.answers,
          onHandlerError: error => this.#reportHandlerError(error),
          onEvent: event => this.#receive(event, open),
          onProtocolError: error => this.#debug(error),
          signal,
        });
      } catch (error) {
        const output = open.sideOutput?.();
        attempts.push({ transport: candidate.kind, cause: error, ...(output ? { output } : {}) });
        if (open.kind === 'stdio' && !(error instanceof RevisionRefused)) this.#noteCrash(open);
        if (signal.aborted || !mayFallBackToSse(error)) break;
      }
    }
    const deadline = signal.reason instanceof ConnectDeadline ? signal.reason : undefined;
    throw toConnectError(this.serverName, attempts, deadline);
  }

  /** Tells a new peer what the one before was told. What it refuses is reported and stays wished for. */
  async #renewWishes(peer: SessionPeer, deadline: number, signal: AbortSignal): Promise<void> {
    const renew = async ({ method, params }: Wish): Promise<void> => {
      using watch = this.#watch({
        mayRepeat: true,
        timeout: Math.max(1, deadline - performance.now()),
        signal,
      });
      try {
        await peer.request(method, params, watch);
      } catch (error) {
        if (!signal.aborted) this.#deps.logger().warn(this.#toError(error, method).message);
      }
    };
    await Promise.all(Array.from(this.wishes, renew));
  }

  /** The connected peer; not one that was told less than can be answered by now: capabilities are declared once. */
  #usablePeer(): SessionPeer | undefined {
    const peer = this.#peer;
    if (peer === undefined || !this.#isOutgrown(peer)) return peer;
    this.#drop(peer, 'leave');
    return undefined;
  }

  #isOutgrown(peer: SessionPeer): boolean {
    // Who joined a session declared nothing.
    return peer.revision !== undefined && this.answers.exceed(peer.declared);
  }

  /** Connects for one request, without outliving the caller's patience. */
  async #connectFor(method: string, signal: AbortSignal | undefined): Promise<SessionPeer> {
    const peer = this.#usablePeer();
    if (peer !== undefined) return peer;
    const connecting = this.connect() as Promise<SessionPeer>;
    if (signal === undefined) return connecting;
    using watch = this.progress.watch(
      { idleMs: this.definition.connectTimeout + 1000, resetOnProgress: false },
      { track: false, signal },
    );
    const aborted = new Promise<never>((_, reject) => {
      const stop = (): void => reject(this.#toError(watch.ended, method, false));
      if (watch.signal.aborted) stop();
      else watch.signal.addEventListener('abort', stop, { once: true });
    });
    connecting.catch(() => undefined);
    return await Promise.race([connecting, aborted]);
  }

  #watch(options: RequestOptions): RequestWatch {
    const { timeout, maxTotalTimeout, resetTimeoutOnProgress } = this.definition;
    return this.progress.watch(
      {
        idleMs: options.timeout ?? timeout,
        totalMs: maxTotalTimeout,
        resetOnProgress: resetTimeoutOnProgress,
      },
      {
        track: options.progress !== undefined,
        preferredToken: options.progress?.preferredToken,
        signal: options.signal,
      },
    );
  }

  /** What a failed request says about its connection; drops the connection when it is gone. */
  #judge(peer: SessionPeer, error: unknown): 'alive' | 'not-run' | 'unknown' {
    if (!(error instanceof TransportFailure)) return 'alive';
    const { kind, facts } = error;
    if (kind === 'status' && facts.status === 404 && facts.hadSession === true) {
      this.#sessionToJoin = false;
      this.#drop(peer);
      return 'not-run';
    }
    if (kind !== 'lost' && kind !== 'unreachable') return 'alive';
    // Over Streamable HTTP one answer can be lost while the session lives on; if it is gone, the next request says 404.
    if (kind === 'unreachable' || peer.transport !== 'http') this.#drop(peer);
    return facts.mayHaveExecuted ? 'unknown' : 'not-run';
  }

  /** A connected server that wants the user to authorize stays connected. */
  #noteRefusal(peer: SessionPeer, failure: AnyMCPError): AnyMCPError {
    if (failure.code === 'MCP_CLIENT_AUTHORIZATION_REQUIRED' && this.#peer === peer) {
      this.#lastError = failure;
      this.#setState('needs-auth');
    }
    return failure;
  }

  #setAuthorized(peer: SessionPeer): void {
    if (this.#peer !== peer) return;
    this.#lastError = undefined;
    this.#setState('ready');
  }

  /** Takes a peer out of use; requests still in flight on it may end by themselves. */
  #drop(peer: SessionPeer, how?: 'leave'): void {
    if (!this.#retired.has(peer)) {
      this.#retired.add(peer);
      void peer.retire(how).finally(() => this.#retired.delete(peer));
    }
    if (this.#peer !== peer) return;
    this.#peer = undefined;
    this.#setState('idle');
  }

  #receive(event: PeerEvent, open: OpenTransport): void {
    if (event.kind === 'closed') this.#onClosed(open, event.failure);
    if (event.kind === 'progress') this.progress.route(event);
    if (event.kind === 'elicitation_complete' && !this.#pages.finish(event.elicitationId)) return;
    for (const listener of this.#listeners) {
      void this.#tell(listener, event);
    }
  }

  async #tell(listener: (event: PeerEvent) => void | Promise<void>, event: PeerEvent): Promise<void> {
    try {
      await listener(event);
    } catch (error) {
      this.#reportHandlerError(error);
    }
  }

  #onClosed(open: OpenTransport, failure: TransportFailure): void {
    if (this.#open !== open || this.#peer === undefined) return;
    this.#noteCrash(open);
    this.#lastError = this.#toError(failure, 'connection');
    this.#drop(this.#peer);
  }

  #noteCrash(open: OpenTransport): void {
    if (open.kind === 'stdio' && open.closeFailure()?.facts.exit !== undefined) this.#crashes.note();
  }

  #crashLoopError(blockedMs: number): MCPConnectionError {
    return new MCPConnectionError('MCP_CLIENT_CONNECT_FAILED', {
      message:
        `Server ${quote(this.serverName)} crashed ${CrashLoopGuard.limit} times in ` +
        `${CrashLoopGuard.windowMs / 1000} s; it is not started again for ${Math.ceil(blockedMs / 1000)} s`,
      serverName: this.serverName,
      mayHaveExecuted: false,
      cause: this.#lastError,
    });
  }

  #toError(error: unknown, method: string, mayHaveExecuted = true): AnyMCPError {
    return toRequestError(error, { serverName: this.serverName, method, mayHaveExecuted });
  }

  #setState(state: ConnectionState): void {
    const previous = this.#state;
    if (previous === state) return;
    this.#state = state;
    this.#since = new Date();
    this.#deps.onStatus(previous);
  }

  #debug(error: Error): void {
    this.#deps.logger().debug(`MCP server ${quote(this.serverName)}: ${error.message}`);
  }

  #reportHandlerError(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#deps.logger().warn(`MCP server ${quote(this.serverName)}: a handler failed: ${quote(text)}`);
  }
}
