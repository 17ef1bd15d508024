/**
 * The SDK Transport of one HTTP session: which stream gets which message, cancellation, resumption.
 *
 * Owns the session's unanswered requests, its standalone stream and its activity. Does not check who sends a request:
 * what arrives here has been let in.
 */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import { EventStream, STREAM_HEADERS } from '../http/event-stream.ts';
import { RPC, refusal } from '../http/exchange.ts';
import type { Exchange, Headers, Refusal } from '../http/exchange.ts';
import type { HTTPSettings } from '../http/http-options.ts';
import { viewForSession } from '../sessions/event-store.ts';
import type { SessionEvents } from '../sessions/event-store.ts';
import { ASSUMED_REVISION, PRIMED_REVISION } from '../sessions/revision.ts';
import { isAnswer, isQuestion, requestsOf } from '../sessions/wire-message.ts';
import type { WireMessage } from '../sessions/wire-message.ts';
import { Channel } from './channel.ts';
import type { Priming } from './channel.ts';
import { Reply } from './reply.ts';

const STANDALONE = 'standalone';

/** What a request has to do with its session beyond its messages. */
export interface RequestFrame {
  readonly exchange: Exchange;
  readonly settings: HTTPSettings;
  /** Headers of the answer. */
  readonly headers: Headers;
}

/** Who is told what happens on a transport. */
export interface TransportHooks {
  readonly onError: (error: unknown) => void;
  /** A message had nowhere to go. */
  readonly onDropped: (message: JSONRPCMessage) => void;
  readonly onReplyStart: (reply: Reply) => void;
  readonly onReplyEnd: (reply: Reply) => void;
}

export class SessionTransport implements Transport {
  readonly sessionId: string;
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #hooks: TransportHooks;
  readonly #events: SessionEvents | undefined;
  readonly #replies = new Map<RequestId, Reply>();
  readonly #standalone: Channel;
  #initializeId: RequestId | undefined;
  #revision: string | undefined;
  #posts = 0;
  #closed = false;
  #lastActive = performance.now();

  constructor(sessionId: string, settings: HTTPSettings, hooks: TransportHooks) {
    this.sessionId = sessionId;
    this.#hooks = hooks;
    this.#events =
      settings.eventStore === undefined ? undefined : viewForSession(settings.eventStore, sessionId);
    this.#standalone = new Channel(STANDALONE, this.#events, hooks.onError);
  }

  /** The negotiated revision; `undefined` until `initialize` was answered. */
  get revision(): string | undefined {
    return this.#revision;
  }

  /** A request is running or a stream is open. */
  get active(): boolean {
    return this.#replies.size > 0 || this.#standalone.connected;
  }

  /** When the session was last used, by the clock of `performance.now()`. */
  get lastActive(): number {
    return this.#lastActive;
  }

  /** A request with this id is running. */
  isRunning(id: RequestId): boolean {
    return this.#replies.has(id);
  }

  async start(): Promise<void> {}

  /** Takes the messages of one POST. Those with requests among them are answered later, on the exchange. */
  receive(frame: RequestFrame, messages: readonly WireMessage[], isBatch: boolean): Refusal | undefined {
    this.#touch();
    // Ended while it was being opened.
    if (this.#closed) return refusal(404, RPC.refused, 'Session not found');
    const requests = requestsOf(messages);
    if (requests.length === 0) {
      for (const message of messages) this.#deliver(message, toExtra(frame));
      frame.exchange.answer(202, frame.headers);
      return undefined;
    }
    const reply = this.#createReply(frame, requests, isBatch);
    if (!reply.waiting) return undefined;
    for (const { id } of requests) this.#replies.set(id, reply);
    const extra = { ...toExtra(frame), ...this.#closersOf(reply) };
    for (const message of messages) this.#deliver(message, extra);
    return undefined;
  }

  /** Opens the standalone stream, or goes on with one that broke. */
  async listen(frame: RequestFrame): Promise<Refusal | undefined> {
    this.#touch();
    const lastEventId = frame.exchange.header('last-event-id');
    if (lastEventId !== undefined && this.#events !== undefined)
      return this.#resume(frame, this.#events, lastEventId);
    if (this.#standalone.connected) return refusal(409, RPC.refused, 'The session has an open stream');
    this.#standalone.connect(this.#openStream(frame), this.#primingOf(frame));
    return undefined;
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#touch();
    if (isAnswer(message)) return this.#answer(message);
    const related = options?.relatedRequestId;
    const reply = related === undefined ? undefined : this.#replies.get(related);
    if (reply?.carries === true) return reply.tell(message);
    const isStale = related !== undefined && reply === undefined;
    if (!isStale && (this.#standalone.connected || this.#standalone.resumable))
      return this.#standalone.send(message);
    if (isQuestion(message))
      throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
        message: isStale ? 'The call is over' : 'The client has no stream open on which it could be asked',
        transport: 'http',
      });
    this.#hooks.onDropped(message);
  }

  /** Ends every stream; requests that are running are answered with an error. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const reply of new Set(this.#replies.values())) reply.abandon();
    this.#standalone.end();
    this.onclose?.();
    this.#events?.forget().catch(this.#hooks.onError);
  }

  #createReply(frame: RequestFrame, requests: readonly JSONRPCRequest[], isBatch: boolean): Reply {
    const { exchange, settings, headers } = frame;
    this.#posts += 1;
    const events = settings.form === 'json' ? undefined : this.#events;
    const reply: Reply = new Reply({
      exchange,
      requests,
      isBatch,
      form: settings.form,
      headers,
      stream: settings.stream,
      channel: new Channel(`post-${this.#posts}`, events, this.#hooks.onError),
      priming: this.#primingOf(frame, requests[0]),
      onLost: unanswered => this.#cancel(unanswered),
      onEnd: () => {
        for (const { id } of requests) if (this.#replies.get(id) === reply) this.#replies.delete(id);
        this.#touch();
        this.#hooks.onReplyEnd(reply);
      },
    });
    if (reply.waiting) this.#hooks.onReplyStart(reply);
    return reply;
  }

  #deliver({ kind, message }: WireMessage, extra: MessageExtraInfo): void {
    if (kind === 'request' && message.method === 'initialize') this.#initializeId = message.id;
    this.onmessage?.(message, extra);
    if (kind !== 'notification' || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'] as RequestId | undefined;
    if (id === undefined || id === this.#initializeId) return;
    // The engine sends nothing for a cancelled request, so its exchange is ended here.
    this.#replies.get(id)?.cancel(id);
    this.#replies.delete(id);
  }

  /** Nobody is left to answer: the calls are aborted as if the client had said so. */
  #cancel(unanswered: readonly RequestId[]): void {
    for (const requestId of unanswered) {
      this.#replies.delete(requestId);
      const params = { requestId, reason: 'The client dropped the connection' };
      this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
  }

  async #answer(message: JSONRPCResponse): Promise<void> {
    const { id } = message;
    const reply = id === undefined ? undefined : this.#replies.get(id);
    if (id === undefined || reply === undefined) return;
    this.#replies.delete(id);
    if (id === this.#initializeId && 'result' in message) {
      const revision = message.result['protocolVersion'];
      if (typeof revision === 'string') this.#revision = revision;
      this.#initializeId = undefined;
    }
    await reply.answer(message);
  }

  async #resume(
    frame: RequestFrame,
    events: SessionEvents,
    lastEventId: string,
  ): Promise<Refusal | undefined> {
    let name: string | undefined;
    try {
      name = await events.streamOf(lastEventId);
    } catch (error) {
      this.#hooks.onError(error);
    }
    if (name === undefined) return refusal(400, RPC.refused, 'Last-Event-ID is not an event of this session');
    const running = name === STANDALONE ? this.#standalone : this.#channelNamed(name);
    const channel = running ?? new Channel(name, events, this.#hooks.onError);
    const resumed = channel.resume(this.#openStream(frame), lastEventId);
    if (running === undefined) channel.end();
    await resumed;
    return undefined;
  }

  #channelNamed(name: string): Channel | undefined {
    for (const { channel } of this.#replies.values()) if (channel.name === name) return channel;
    return undefined;
  }

  #openStream({ exchange, settings, headers }: RequestFrame): EventStream {
    const sink = exchange.openStream({ ...headers, ...STREAM_HEADERS });
    const stream = new EventStream(sink, settings.stream, () => this.#touch());
    exchange.onGone(() => {
      stream.release();
      this.#touch();
    });
    return stream;
  }

  /** Revisions are dates, so their order is that of their text. */
  #primingOf({ exchange, settings }: RequestFrame, first?: JSONRPCRequest): Priming {
    const offered = first?.method === 'initialize' ? first.params?.['protocolVersion'] : undefined;
    const revision = this.#revision ?? offered ?? exchange.header('mcp-protocol-version') ?? ASSUMED_REVISION;
    return {
      marks: typeof revision === 'string' && revision >= PRIMED_REVISION,
      retryMs: settings.retryMs,
    };
  }

  #closersOf(reply: Reply): MessageExtraInfo {
    if (!reply.channel.resumable) return {};
    return {
      closeSSEStream: () => reply.disconnect(),
      closeStandaloneSSEStream: () => this.#standalone.disconnect(),
    };
  }

  #touch(): void {
    this.#lastActive = performance.now();
  }
}

/** What the SDK hands through to the handlers. Its type for `authInfo` is narrower than what middlewares set. */
export function toExtra({ exchange }: Pick<RequestFrame, 'exchange'>): MessageExtraInfo {
  const { authInfo, wire } = exchange;
  return {
    requestInfo: wire,
    ...(authInfo === undefined ? {} : { authInfo: authInfo as NonNullable<MessageExtraInfo['authInfo']> }),
  };
}
