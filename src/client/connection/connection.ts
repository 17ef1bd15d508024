/**
 * One remote server: reach it, keep it, lose it, say why.
 *
 * Owns the state of the connection, the retry rule (D04), crash-loop guard (D15) and what outlives a connection:
 * listeners, answer handlers, progress. Knows no tools and no other server.
 */
import type { IMastraLogger } from '@mastra/core/logger';
import type { RequestContext } from '@mastra/core/request-context';
import type { ElicitRequest, ElicitResult, Implementation } from '@modelcontextprotocol/sdk/types.js';
import { MCPConnectionError, type AnyMCPError, type MCPConnectionAttempt } from '../../shared/errors.ts';
import { PROGRESS_TOKEN_META_KEY } from '../../shared/meta.ts';
import { ProgressTracker, type RequestWatch } from '../capabilities/progress.ts';
import type { ResolvedServerDefinition } from '../options.ts';
import { CrashLoopGuard } from './crash-loop-guard.ts';
import { RevisionRefused, SessionPeer, type Peer, type PeerEvent } from './peer.ts';
import { runInRequestScope } from './request-scope.ts';
import { ConnectDeadline, quote, toConnectError, toRequestError } from './to-error.ts';
import { TransportFailure } from './transport-failure.ts';
import { mayFallBackToSse, transportAttempts } from './transports/choose.ts';
import type { OpenTransport } from './transports/open-transport.ts';

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

/** Answers a request for input of the server (`elicitation/create`). */
export type ElicitationHandler = (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;

export interface RequestOptions {
  /** The operation may run twice at the server without harm. */
  readonly mayRepeat: boolean;
  readonly requestContext?: RequestContext | undefined;
  readonly signal?: AbortSignal | undefined;
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
  /** The one handler for elicitation; without it the answer is `decline`. */
  elicitationHandler: ElicitationHandler | undefined;

  readonly #deps: ConnectionDeps;
  readonly #listeners = new Set<(event: PeerEvent) => void>();
  readonly #crashes = new CrashLoopGuard();
  #state: ConnectionState = 'idle';
  #since = new Date();
  #lastError: AnyMCPError | undefined;
  #peer: SessionPeer | undefined;
  #open: OpenTransport | undefined;
  #connecting: { readonly promise: Promise<SessionPeer>; readonly controller: AbortController } | undefined;
  /** Peers out of use on which requests are still in flight. */
  readonly #retired = new Set<SessionPeer>();
  #instructions: string | undefined;
  #warnedDecline = false;
  #sessionToJoin: boolean;

  constructor(definition: ResolvedServerDefinition, deps: ConnectionDeps) {
    this.definition = definition;
    this.#deps = deps;
    this.progress = new ProgressTracker(error => this.#reportHandlerError(error));
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
  on(listener: (event: PeerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Connects, or joins the connect under way. The whole of it is bounded by `connectTimeout`.
   *
   * @throws MCPConnectionError, MCPAuthorizationRequiredError or MCPUrlPolicyError
   */
  connect(): Promise<Peer> {
    if (this.#peer !== undefined) return Promise.resolve(this.#peer);
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
        return await runInRequestScope(scope, () => operation(peer, watch));
      } catch (error) {
        const gone = this.#judge(peer, error);
        const again = attempt === 1 && gone !== 'alive' && (gone === 'not-run' || options.mayRepeat);
        if (!again) throw this.#toError(error, method);
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
    await this.close();
    this.#crashes.reset();
    this.#setState('idle');
    await this.connect();
  }

  /** Ends connection and connect under way. Idempotent; a later use connects anew. */
  async close(): Promise<void> {
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
    const { connectTimeout, serverName } = this.definition;
    const blocked = this.#crashes.blockedUntil();
    try {
      if (blocked !== undefined) throw this.#crashLoopError(blocked);
      this.#setState('connecting');
      await this.#deps.before;
      const timer = setTimeout(() => controller.abort(new ConnectDeadline(connectTimeout)), connectTimeout);
      const peer = await this.#tryTransports(signal).finally(() => clearTimeout(timer));
      if (signal.aborted) {
        await peer.close();
        throw toConnectError(serverName, [{ transport: peer.transport, cause: signal.reason }], undefined);
      }
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

  async #tryTransports(signal: AbortSignal): Promise<SessionPeer> {
    const attempts: MCPConnectionAttempt[] = [];
    const { definition } = this;
    const known = definition.kind === 'http' && !this.#sessionToJoin;
    const candidates = transportAttempts(known ? { ...definition, sessionId: undefined } : definition, {
      serverName: this.serverName,
      logger: this.#deps.logger,
    });
    for (const candidate of candidates) {
      const open = candidate.open();
      this.#open = open;
      try {
        return await SessionPeer.connect(open, {
          capabilities: this.#capabilities(),
          jsonSchemaValidator: this.definition.jsonSchemaValidator,
          answers: { elicit: params => this.#elicit(params), roots: this.definition.roots },
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

  /** Connects for one request, without outliving the caller's patience. */
  async #connectFor(method: string, signal: AbortSignal | undefined): Promise<SessionPeer> {
    if (this.#peer !== undefined) return this.#peer;
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

  /** Takes a peer out of use; requests still in flight on it may end by themselves. */
  #drop(peer: SessionPeer): void {
    if (!this.#retired.has(peer)) {
      this.#retired.add(peer);
      void peer.retire().finally(() => this.#retired.delete(peer));
    }
    if (this.#peer !== peer) return;
    this.#peer = undefined;
    this.#setState('idle');
  }

  #receive(event: PeerEvent, open: OpenTransport): void {
    if (event.kind === 'closed') this.#onClosed(open, event.failure);
    if (event.kind === 'progress') this.progress.route(event);
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#reportHandlerError(error);
      }
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

  #capabilities(): Parameters<typeof SessionPeer.connect>[1]['capabilities'] {
    const { capabilities, roots } = this.definition;
    return {
      ...capabilities,
      elicitation: { form: {}, ...capabilities.elicitation },
      ...(roots === undefined ? {} : { roots: { listChanged: true, ...capabilities.roots } }),
    };
  }

  async #elicit(params: ElicitRequest['params']): Promise<ElicitResult> {
    const handler = this.elicitationHandler;
    if (handler !== undefined) return await handler(params);
    if (!this.#warnedDecline) {
      this.#warnedDecline = true;
      this.#deps
        .logger()
        .warn(
          `MCP server ${quote(this.serverName)} asked for input; declined, no elicitation handler is set`,
        );
    }
    return { action: 'decline' };
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
