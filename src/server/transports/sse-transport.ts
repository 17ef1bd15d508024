/**
 * The SDK Transport of one HTTP+SSE session: everything the server says goes to its one stream.
 *
 * Owns the stream, the requests that are unanswered and the end of both. Does not check who sends a message: what
 * arrives here has been let in.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { EventStream, STREAM_HEADERS } from '../http/event-stream.ts';
import { RPC, refusal, refuseForNow } from '../http/exchange.ts';
import type { Refusal } from '../http/exchange.ts';
import { isAnswer } from '../sessions/wire-message.ts';
import type { WireMessage } from '../sessions/wire-message.ts';
import { Channel } from './channel.ts';
import { toExtra } from './session-transport.ts';
import type { RequestFrame } from './session-transport.ts';

/** Which method of the server a session came in by. */
export type SseEntrance = 'node' | 'hono';

/** Who is told what happens on a transport. */
export interface SseHooks {
  readonly onError: (error: unknown) => void;
  /** Nothing is unanswered any more. */
  readonly onIdle: () => void;
  /** The client has left or does not read. */
  readonly onGone: () => void;
}

export class SseTransport implements Transport {
  readonly sessionId: string;
  readonly entrance: SseEntrance;
  /** When the session was opened: it is never idle. */
  readonly lastActive: number = performance.now();
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #hooks: SseHooks;
  readonly #channel: Channel;
  readonly #running = new Set<RequestId>();
  #initializeId: RequestId | undefined;
  #isInitialized = false;
  #revision: string | undefined;
  #closed = false;

  constructor(sessionId: string, entrance: SseEntrance, hooks: SseHooks) {
    this.sessionId = sessionId;
    this.entrance = entrance;
    this.#hooks = hooks;
    this.#channel = new Channel('sse', undefined, hooks.onError);
  }

  /** A session lives as long as its stream, so it is in use until it ends. */
  get active(): boolean {
    return !this.#closed;
  }

  /** Something is unanswered. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** The client has sent `initialize`. */
  get isInitialized(): boolean {
    return this.#isInitialized;
  }

  /** The negotiated revision; `undefined` until `initialize` was answered. */
  get revision(): string | undefined {
    return this.#revision;
  }

  /** A request with this id is running. */
  isRunning(id: RequestId): boolean {
    return this.#running.has(id);
  }

  async start(): Promise<void> {}

  /** Opens the stream and says where messages are to be sent. */
  open({ exchange, settings, headers }: RequestFrame, endpoint: string): Refusal | undefined {
    // Ended while it was being opened.
    if (this.#closed) return refuseForNow('The server is closing');
    const sink = exchange.openStream({ ...headers, ...STREAM_HEADERS });
    const stream = new EventStream(sink, settings.stream, this.#hooks.onGone);
    stream.sendEvent('endpoint', endpoint);
    this.#channel.connect(stream, { marks: false, retryMs: undefined });
    exchange.onGone(() => {
      stream.release();
      this.#hooks.onGone();
    });
    return undefined;
  }

  /** Takes the messages of one POST; what answers them comes on the stream. */
  receive(frame: RequestFrame, messages: readonly WireMessage[]): Refusal | undefined {
    if (this.#closed) return refusal(404, RPC.refused, 'Session not found');
    const extra = toExtra(frame);
    for (const { kind, message } of messages) {
      if (kind === 'request') this.#take(message.id, message.method);
      this.onmessage?.(message, extra);
      if (kind === 'notification' && message.method === 'notifications/cancelled')
        this.#cancel(message.params?.['requestId'] as RequestId);
    }
    frame.exchange.answer(202, { ...frame.headers, 'content-type': 'text/plain' }, 'Accepted');
    return undefined;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isAnswer(message)) await this.#answer(message);
    else await this.#channel.send(message);
  }

  /** Ends the stream; requests that are running are answered with an error. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const id of this.#running)
      void this.#channel.send({
        jsonrpc: '2.0',
        id,
        error: { code: RPC.refused, message: 'Connection closed' },
      });
    this.#running.clear();
    this.#channel.end();
    this.onclose?.();
    this.#hooks.onIdle();
  }

  #take(id: RequestId, method: string): void {
    this.#running.add(id);
    if (method !== 'initialize') return;
    this.#initializeId = id;
    this.#isInitialized = true;
  }

  /** The engine sends nothing for a cancelled request. */
  #cancel(id: RequestId): void {
    if (id === this.#initializeId || !this.#running.delete(id)) return;
    if (!this.isBusy) this.#hooks.onIdle();
  }

  async #answer(message: JSONRPCResponse): Promise<void> {
    const { id } = message;
    if (id === undefined || !this.#running.delete(id)) return;
    if (id === this.#initializeId) {
      this.#initializeId = undefined;
      const revision = 'result' in message ? message.result['protocolVersion'] : undefined;
      if (typeof revision === 'string') this.#revision = revision;
      else this.#isInitialized = false;
    }
    try {
      await this.#channel.send(message);
    } finally {
      if (!this.isBusy) this.#hooks.onIdle();
    }
  }
}
