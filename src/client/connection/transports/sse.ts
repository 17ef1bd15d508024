/**
 * HTTP+SSE of 2024-11-05: the SDK's transport behind our guards.
 *
 * Owns the rule that the event stream is the connection: when it ends the transport is closed, and nothing reopens it
 * behind the back of the Connection, since the server would see a new session.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo } from '@modelcontextprotocol/sdk/types.js';
import type { MastraFetchLike, ResolvedHttpServer } from '../../options.ts';
import { runInRequestScope } from '../request-scope.ts';
import {
  guardEvents,
  isEventStream,
  isFact,
  noEventStream,
  toNetworkFailure,
  toRefusal,
  toUnexpectedType,
} from '../response-guard.ts';
import { serverFetch } from '../server-fetch.ts';
import { TransportFailure } from '../transport-failure.ts';
import type { OpenTransport, TransportDeps } from './open-transport.ts';

/** Opens HTTP+SSE to a server; `start()` opens its event stream. */
export function openSse(definition: ResolvedHttpServer, deps: TransportDeps): OpenTransport {
  const transport = new SseTransport(definition, deps);
  return { kind: 'sse', transport, closeFailure: () => transport.closeFailure };
}

/** One start or one message on its way. */
interface Attempt {
  /** Why it failed, as a fact; the SDK keeps only a text. */
  refused?: Error;
}

/** The start or send under way. One for all transports: each storage costs every promise of the process a little. */
const currentAttempt = new AsyncLocalStorage<Attempt>();

class SseTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  closeFailure: TransportFailure | undefined;

  readonly #definition: ResolvedHttpServer;
  readonly #deps: TransportDeps;
  readonly #inner: SSEClientTransport;
  readonly #wire: FetchLike;
  readonly #streamWire: FetchLike;
  /** Ends a `start()` under way, which the SDK leaves pending when it is closed. */
  #stopStart: ((failure: TransportFailure) => void) | undefined;
  /** Messages being sent; each has a signal of its own, since listeners pile up on one that is shared. */
  readonly #sending = new Set<AbortController>();
  #opened = false;
  #closed = false;

  constructor(definition: ResolvedHttpServer, deps: TransportDeps) {
    this.#definition = definition;
    this.#deps = deps;
    const { eventSourceInit } = definition;
    const { fetch: streamFetch, ...eventSource } = eventSourceInit ?? {};
    const authorized = (wire: FetchLike): FetchLike => deps.authorization?.authorize(wire) ?? wire;
    this.#wire = authorized(serverFetch(definition));
    this.#streamWire = authorized(serverFetch(definition, streamFetch as MastraFetchLike | undefined));
    this.#inner = new SSEClientTransport(definition.url, {
      // No requestInit and no authProvider: the guarded fetch takes care of both, the stream included.
      fetch: (url, init) => this.#fetch(url, init),
      eventSourceInit: eventSource,
    });
    this.#inner.onmessage = message => this.onmessage?.(message);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = error => {
      if (!this.#closed) this.onerror?.(error);
    };
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    const attempt: Attempt = {};
    const stopped = new Promise<never>((_, reject) => (this.#stopStart = reject));
    // The stream outlives the call that may have started it.
    const start = (): Promise<void> => runInRequestScope(undefined, () => this.#inner.start());
    try {
      await Promise.race([currentAttempt.run(attempt, start), stopped]);
    } catch (error) {
      const failure = toFailure(error, attempt);
      await this.close();
      throw failure;
    } finally {
      this.#stopStart = undefined;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw this.closeFailure ?? closed();
    const attempt: Attempt = {};
    try {
      await currentAttempt.run(attempt, () => this.#inner.send(message));
    } catch (error) {
      throw toFailure(error, attempt);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopStart?.(this.closeFailure ?? closed());
    for (const controller of this.#sending) controller.abort();
    await this.#inner.close();
  }

  #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const accept = new Headers(init.headers).get('accept') ?? '';
    return accept.includes('text/event-stream') ? this.#openStream(url, init) : this.#post(url, init);
  }

  async #post(url: string | URL, init: RequestInit): Promise<Response> {
    const controller = new AbortController();
    this.#sending.add(controller);
    try {
      const response = await this.#reach(this.#wire, url, { ...init, signal: controller.signal });
      if (response.ok) return response;
      throw await toRefusal(response, this.#sentRequest());
    } finally {
      this.#sending.delete(controller);
    }
  }

  async #openStream(url: string | URL, init: RequestInit): Promise<Response> {
    if (this.#opened || this.#closed) return noEventStream();
    try {
      const response = await this.#reach(this.#streamWire, url, init);
      if (isEventStream(response)) {
        this.#opened = true;
        return this.#watch(response);
      }
      throw response.ok ? await toUnexpectedType(response) : await toRefusal(response, this.#sentRequest());
    } catch (error) {
      const attempt = currentAttempt.getStore();
      if (attempt !== undefined) attempt.refused = error as Error;
      throw error;
    }
  }

  async #reach(wire: FetchLike, url: string | URL, init: RequestInit): Promise<Response> {
    try {
      return await wire(url, init);
    } catch (error) {
      if (this.#closed) throw this.closeFailure ?? closed();
      throw isFact(error) ? error : toNetworkFailure(error);
    }
  }

  #watch(response: Response): Response {
    return guardEvents(response, {
      maxEventBytes: this.#definition.maxMessageBytes,
      // The event source reads without a queue in between: what came before the end has been delivered.
      onEnd: (_, failure) => {
        if (this.#closed) return;
        const ended = 'the event stream ended';
        this.closeFailure = failure ?? new TransportFailure('lost', ended, { mayHaveExecuted: true });
        void this.close();
      },
    });
  }

  #sentRequest(): { readonly hadSession: false; readonly secrets: readonly string[] } {
    const own = new Headers(this.#definition.requestInit.headers);
    return { hadSession: false, secrets: [...own.values(), ...(this.#deps.authorization?.secrets() ?? [])] };
  }
}

function toFailure(error: unknown, attempt: Attempt): Error {
  if (isFact(error)) return error;
  const facts = { mayHaveExecuted: false, cause: error };
  return attempt.refused ?? new TransportFailure('malformed', 'no usable event stream', facts);
}

function closed(): TransportFailure {
  return new TransportFailure('closed', 'the connection was closed', { mayHaveExecuted: true });
}
