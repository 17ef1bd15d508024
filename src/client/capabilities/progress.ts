/**
 * Progress tokens, the limits of a request and where progress of the server goes.
 *
 * Owns token, routing and both timers (D03): the SDK's own time-out is set out of reach and calls end by AbortSignal.
 * Does not send anything.
 */
import type { ProgressToken } from '@modelcontextprotocol/sdk/types.js';

/** Progress of a call, as handlers get it. The token is a string whatever it was on the wire. */
export interface ProgressUpdate {
  readonly progressToken: string;
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export type ProgressHandler = (update: ProgressUpdate) => void;

/** How long a request may take, in milliseconds. */
export interface RequestLimits {
  readonly idleMs: number;
  readonly totalMs?: number | undefined;
  readonly resetOnProgress: boolean;
}

/** Why a request ended before it was answered. */
export class RequestEnded extends Error {
  readonly kind: 'idle-timeout' | 'total-timeout' | 'aborted';
  /** The limit that was reached, in milliseconds; absent when the caller aborted. */
  readonly limitMs: number | undefined;

  constructor(kind: RequestEnded['kind'], limitMs: number | undefined, cause?: unknown) {
    super(limitMs === undefined ? 'aborted by the caller' : `no answer within ${limitMs} ms`, { cause });
    this.name = 'RequestEnded';
    this.kind = kind;
    this.limitMs = limitMs;
  }
}

/** The limits of one request while it runs. Whoever starts a watch ends it. */
export interface RequestWatch extends Disposable {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
  /** Set once the watch itself ended the request. */
  readonly ended: RequestEnded | undefined;
}

class Watch implements RequestWatch {
  readonly token: string | undefined;
  readonly #controller = new AbortController();
  readonly #limits: RequestLimits;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onEnd: () => void;
  #idle: ReturnType<typeof setTimeout> | undefined;
  readonly #total: ReturnType<typeof setTimeout> | undefined;
  #ended: RequestEnded | undefined;

  constructor(
    limits: RequestLimits,
    token: string | undefined,
    callerSignal: AbortSignal | undefined,
    onEnd: () => void,
  ) {
    this.#limits = limits;
    this.token = token;
    this.#callerSignal = callerSignal;
    this.#onEnd = onEnd;
    if (callerSignal?.aborted) this.#onCallerAbort();
    else callerSignal?.addEventListener('abort', this.#onCallerAbort, { once: true });
    this.touch();
    const { totalMs } = limits;
    if (totalMs !== undefined) this.#total = setTimeout(() => this.#end('total-timeout', totalMs), totalMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): RequestEnded | undefined {
    return this.#ended;
  }

  touch(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end('idle-timeout', this.#limits.idleMs), this.#limits.idleMs);
  }

  progressed(): void {
    if (this.#limits.resetOnProgress && this.#ended === undefined) this.touch();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    this.#callerSignal?.removeEventListener('abort', this.#onCallerAbort);
    this.#onEnd();
  }

  readonly #onCallerAbort = (): void => {
    this.#end('aborted', undefined, this.#callerSignal?.reason);
  };

  #end(kind: RequestEnded['kind'], limitMs: number | undefined, cause?: unknown): void {
    this.#ended ??= new RequestEnded(kind, limitMs, cause);
    this.#controller.abort(this.#ended);
  }
}

/** The progress of one server: which tokens are in flight, who listens. */
export class ProgressTracker {
  readonly #watches = new Map<string, Watch>();
  readonly #handlers = new Set<ProgressHandler>();
  readonly #onHandlerError: (error: unknown) => void;

  constructor(onHandlerError: (error: unknown) => void) {
    this.#onHandlerError = onHandlerError;
  }

  /**
   * Starts the clocks of one request.
   *
   * The token is `preferredToken`, or `preferredToken:n` while a request with that token is in flight, or a random one;
   * `track: false` gives none.
   */
  watch(
    limits: RequestLimits,
    options: {
      readonly track: boolean;
      readonly preferredToken?: string | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): RequestWatch {
    const token = options.track ? this.#freeToken(options.preferredToken) : undefined;
    const watch = new Watch(limits, token, options.signal, () => {
      if (token !== undefined) this.#watches.delete(token);
    });
    if (token !== undefined) this.#watches.set(token, watch);
    return watch;
  }

  /** Takes one `notifications/progress` of the server. Unknown tokens are ignored. */
  route(params: {
    readonly progressToken: ProgressToken;
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  }): void {
    const progressToken = String(params.progressToken);
    const watch = this.#watches.get(progressToken);
    if (watch === undefined) return;
    watch.progressed();
    const { progress, total, message } = params;
    const update: ProgressUpdate = {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    for (const handler of this.#handlers) this.#tell(handler, update);
  }

  /** Adds a handler; the returned function removes it. A handler that throws or rejects is reported and harms nobody. */
  onUpdate(handler: ProgressHandler): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  #tell(handler: ProgressHandler, update: ProgressUpdate): void {
    try {
      // A handler typed as returning nothing may still be an async function.
      void Promise.resolve(handler(update) as unknown).catch(this.#onHandlerError);
    } catch (error) {
      this.#onHandlerError(error);
    }
  }

  #freeToken(preferred: string | undefined): string {
    if (preferred === undefined) return globalThis.crypto.randomUUID();
    if (!this.#watches.has(preferred)) return preferred;
    let n = 2;
    while (this.#watches.has(`${preferred}:${n}`)) n += 1;
    return `${preferred}:${n}`;
  }
}
