/**
 * Streamable HTTP: the SDK's transport behind our guards.
 *
 * Owns which request waits for which answer stream, so that each request ends once its answer can no longer come, and
 * the bounds on background streams. JSON-RPC over HTTP and resumption are the SDK's, OAuth is `client/oauth`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ResolvedHttpServer } from '../../options.ts';
import { runInRequestScope } from '../request-scope.ts';
import {
  assertSessionId,
  guardEvents,
  guardJson,
  isEventStream,
  isFact,
  mediaType,
  noEventStream,
  toNetworkFailure,
  toRefusal,
  toUnexpectedType,
  type SentRequest,
} from '../response-guard.ts';
import { serverFetch } from '../server-fetch.ts';
import { toFailureResponse, TransportFailure } from '../transport-failure.ts';
import type { OpenTransport, TransportDeps } from './open-transport.ts';

/** Opens Streamable HTTP to a server; nothing is sent before the first message. */
export function openHttp(definition: ResolvedHttpServer, deps: TransportDeps): OpenTransport {
  const transport = new StreamableHttpTransport(definition, deps);
  return {
    kind: 'http',
    transport,
    closeFailure: () => transport.closeFailure,
    endSession: timeoutMs => transport.endSession(timeoutMs),
  };
}

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};
/** A stream that ends within this time and without a message was of no use. */
const SHORT_STREAM_MS = 1000;
/** Streams of no use in a row before we delay the next one, whatever the server asks for. */
const FREE_REOPENINGS = 3;

/** One message on its way, and the streams that belong to it: those of its answer, or the standalone one. */
class Exchange {
  /** Set for a request; other messages wait for no answer. */
  readonly id: RequestId | undefined;
  /** Set for a cancellation: the request that is given up. */
  readonly cancels: unknown;
  readonly controller: AbortController = new AbortController();
  /** The request has no answer yet. */
  waiting: boolean;
  posted = false;
  readingJson = false;
  streaming = false;
  lastEventId: string | undefined;
  streams = 0;
  uselessStreams = 0;
  failedOpenings = 0;
  gotMessage = false;

  constructor(message: JSONRPCMessage) {
    this.id = 'method' in message && 'id' in message ? message.id : undefined;
    this.waiting = this.id !== undefined;
    const cancels = 'method' in message && message.method === 'notifications/cancelled';
    this.cancels = cancels ? message.params?.['requestId'] : undefined;
  }
}

/**
 * The message that the SDK is sending, or whose streams it reads; follows its promises and timers. One for all
 * transports: each storage costs every promise of the process a little, for ever.
 */
const currentExchange = new AsyncLocalStorage<Exchange>();

class StreamableHttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  closeFailure: TransportFailure | undefined;

  readonly #definition: ResolvedHttpServer;
  readonly #deps: TransportDeps;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #wire: FetchLike;
  readonly #maxRetries: number;
  /** Exchanges with a request or stream open, to be aborted on close. */
  readonly #active = new Set<Exchange>();
  readonly #waiting = new Map<unknown, Exchange>();
  #standaloneOver: boolean;
  #closed = false;

  constructor(definition: ResolvedHttpServer, deps: TransportDeps) {
    this.#definition = definition;
    this.#deps = deps;
    const wire = serverFetch(definition);
    this.#wire = deps.authorization?.authorize(wire) ?? wire;
    this.#standaloneOver = !definition.openEventStream;
    const { sessionId, reconnectionOptions = RECONNECTION } = definition;
    this.#maxRetries = reconnectionOptions.maxRetries;
    this.#inner = new StreamableHTTPClientTransport(definition.url, {
      // No requestInit and no authProvider: the guarded fetch takes care of both, streams included.
      fetch: (url, init) => this.#fetch(url, init),
      reconnectionOptions,
      ...(sessionId === undefined ? {} : { sessionId }),
    });
    this.#inner.onmessage = message => this.#receive(message);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = error => {
      const aborted = currentExchange.getStore()?.controller.signal.aborted ?? false;
      if (!this.#closed && !aborted) this.onerror?.(error);
    };
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const exchange = new Exchange(message);
    if (this.#closed) throw closed(exchange);
    if (exchange.waiting) this.#waiting.set(exchange.id, exchange);
    try {
      await currentExchange.run(exchange, () => this.#inner.send(message));
      if (exchange.readingJson && exchange.waiting)
        throw malformed('the answer holds no response to the request');
    } catch (error) {
      this.#settle(exchange);
      throw this.#toFailure(exchange, error);
    } finally {
      if (!exchange.streaming) this.#active.delete(exchange);
      if (exchange.cancels !== undefined) this.#abandon(exchange.cancels);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const exchange of this.#active) exchange.controller.abort();
    this.#active.clear();
    this.#waiting.clear();
    await this.#inner.close();
  }

  /** Ends the session at the server, taking at most `timeoutMs`; never rejects. */
  async endSession(timeoutMs: number): Promise<void> {
    if (this.#closed || this.#inner.sessionId === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>(resolve => (timer = setTimeout(resolve, timeoutMs)));
    const ended = runInRequestScope(undefined, () => this.#inner.terminateSession());
    await Promise.race([ended.catch(() => undefined), limit]);
    clearTimeout(timer);
  }

  #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const exchange = currentExchange.getStore();
    const forMessages = new Headers(init.headers).get('accept')?.includes('text/event-stream') ?? false;
    // The rest is the end of the session, which nobody waits for.
    if (exchange === undefined || !forMessages) return this.#wire(url, init);
    return init.method === 'POST' ? this.#post(exchange, url, init) : this.#openStream(exchange, url, init);
  }

  async #post(exchange: Exchange, url: string | URL, init: RequestInit): Promise<Response> {
    exchange.posted = true;
    const response = await this.#reach(exchange, url, init);
    await assertSessionId(response);
    if (!response.ok) throw await toRefusal(response, this.#sentRequest(init));
    if (exchange.id === undefined || response.status === 202) return response;
    if (isEventStream(response)) return this.#watch(exchange, response);
    if (mediaType(response) !== 'application/json') throw await toUnexpectedType(response);
    exchange.readingJson = true;
    return guardJson(response, this.#definition.maxMessageBytes);
  }

  /** A GET: the standalone stream, or the continuation of the answer to a request. */
  async #openStream(exchange: Exchange, url: string | URL, init: RequestInit): Promise<Response> {
    const continues = exchange.id !== undefined;
    const wanted = (): boolean => !this.#closed && (continues ? exchange.waiting : !this.#standaloneOver);
    if (wanted()) await this.#delayReopening(exchange);
    if (!wanted()) return noEventStream();
    const headers = new Headers(init.headers);
    // The SDK forgets it when a continuation ends before its first event.
    if (exchange.lastEventId !== undefined) headers.set('last-event-id', exchange.lastEventId);
    const open = (): Promise<Response> => this.#reach(exchange, url, { ...init, headers });
    try {
      // The standalone stream belongs to no call, although one may have started it.
      const response = await (continues ? open() : runInRequestScope(undefined, open));
      if (isEventStream(response)) return this.#watch(exchange, response);
      throw response.ok
        ? await toUnexpectedType(response)
        : await toRefusal(response, this.#sentRequest(init));
    } catch (error) {
      this.#active.delete(exchange);
      if (!this.#mayOpenAgain(exchange, error)) {
        this.#giveUpStream(exchange, error);
        return noEventStream();
      }
      throw error;
    }
  }

  /** A stream that worked is worth `maxRetries` attempts, unless the server or the policy refuses it. */
  #mayOpenAgain(exchange: Exchange, error: unknown): boolean {
    exchange.failedOpenings += 1;
    if (exchange.streams === 0 || exchange.failedOpenings >= this.#maxRetries) return false;
    if (!(error instanceof TransportFailure)) return false;
    return error.kind === 'status' ? (error.facts.status ?? 0) >= 500 : error.kind !== 'malformed';
  }

  #giveUpStream(exchange: Exchange, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (exchange.id !== undefined) {
      const lost = new TransportFailure('lost', `the answer could not be resumed: ${why}`, {
        mayHaveExecuted: true,
        cause: error,
      });
      this.#answer(exchange, lost);
    } else if (!this.#closed) {
      this.#standaloneOver = true;
      this.#deps
        .logger()
        .debug(`MCP server ${JSON.stringify(this.#deps.serverName)}: no event stream: ${why}`);
    }
  }

  async #delayReopening(exchange: Exchange): Promise<void> {
    const excess = exchange.uselessStreams - FREE_REOPENINGS;
    if (excess <= 0) return;
    this.#active.add(exchange);
    const delay = Math.random() * Math.min(500 * 2 ** excess, 30_000);
    await sleep(delay, undefined, { signal: exchange.controller.signal, ref: false }).catch(() => undefined);
  }

  async #reach(exchange: Exchange, url: string | URL, init: RequestInit): Promise<Response> {
    this.#active.add(exchange);
    const { signal } = exchange.controller;
    try {
      return await this.#wire(url, { ...init, signal });
    } catch (error) {
      if (signal.aborted) throw closed(exchange);
      throw isFact(error) ? error : toNetworkFailure(error);
    }
  }

  #watch(exchange: Exchange, response: Response): Response {
    const opened = performance.now();
    exchange.streams += 1;
    exchange.failedOpenings = 0;
    exchange.streaming = true;
    exchange.gotMessage = false;
    return guardEvents(response, {
      maxEventBytes: this.#definition.maxMessageBytes,
      onEnd: (lastEventId, failure) => {
        exchange.streaming = false;
        exchange.lastEventId = lastEventId ?? exchange.lastEventId;
        this.#active.delete(exchange);
        // The SDK still reads what was handed on; it does so without waiting for anything outside.
        setImmediate(() => {
          const useless = !exchange.gotMessage && performance.now() - opened < SHORT_STREAM_MS;
          exchange.uselessStreams = useless ? exchange.uselessStreams + 1 : 0;
          this.#streamEnded(exchange, failure);
        });
      },
    });
  }

  #streamEnded(exchange: Exchange, failure: TransportFailure | undefined): void {
    if (failure?.kind === 'too-large' && exchange.id === undefined && !this.#closed) {
      this.closeFailure = failure;
      void this.close();
    }
    const isFirst = exchange.streams === 1;
    const resumable = this.#maxRetries > 0 && (!isFirst || exchange.lastEventId !== undefined);
    if (resumable && failure?.kind !== 'too-large') return;
    const ended = 'the event stream ended without the response';
    this.#answer(exchange, failure ?? new TransportFailure('lost', ended, { mayHaveExecuted: true }));
  }

  #receive(message: JSONRPCMessage): void {
    const current = currentExchange.getStore();
    if (current !== undefined) current.gotMessage = true;
    if (!('method' in message) && message.id !== undefined) {
      const answered = this.#waiting.get(message.id);
      if (answered !== undefined) this.#settle(answered);
    }
    this.onmessage?.(message);
  }

  #answer(exchange: Exchange, failure: TransportFailure): void {
    if (this.#closed || !exchange.waiting || exchange.id === undefined) return;
    this.#settle(exchange);
    this.onmessage?.(toFailureResponse(exchange.id, failure));
  }

  #settle(exchange: Exchange): void {
    exchange.waiting = false;
    this.#waiting.delete(exchange.id);
  }

  /** Frees what a cancelled request still holds, now that the server was told. */
  #abandon(id: unknown): void {
    const exchange = this.#waiting.get(id);
    if (exchange === undefined) return;
    this.#settle(exchange);
    exchange.controller.abort();
  }

  #sentRequest(init: RequestInit): SentRequest {
    const headers = new Headers(init.headers);
    const own = new Headers(this.#definition.requestInit.headers);
    const secrets = [...own.values(), ...(this.#deps.authorization?.secrets() ?? [])];
    return { hadSession: headers.has('mcp-session-id'), secrets };
  }

  #toFailure(exchange: Exchange, error: unknown): Error {
    if (isFact(error)) return error;
    if (exchange.controller.signal.aborted) return closed(exchange);
    if (!exchange.posted) {
      const facts = { mayHaveExecuted: false, cause: error };
      return new TransportFailure('unreachable', 'the request could not be made', facts);
    }
    // What is left is the body of a JSON answer: cut off, no JSON, or no JSON-RPC.
    const unparsable = error instanceof SyntaxError || (error instanceof Error && 'issues' in error);
    return unparsable ? malformed('the answer is no JSON-RPC message', error) : toNetworkFailure(error);
  }
}

function closed(exchange: Exchange): TransportFailure {
  const facts = { mayHaveExecuted: exchange.posted };
  return new TransportFailure('closed', 'the connection was closed', facts);
}

function malformed(problem: string, cause?: unknown): TransportFailure {
  return new TransportFailure('malformed', problem, { mayHaveExecuted: true, cause });
}
