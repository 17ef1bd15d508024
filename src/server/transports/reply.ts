/**
 * The answer to one POST: JSON when everything is ready before anything else was sent, else an event stream.
 *
 * Owns which requests of the POST are unanswered and what has been sent. Does not know the session it belongs to.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { EventStream, STREAM_HEADERS } from '../http/event-stream.ts';
import { RPC, answerJson } from '../http/exchange.ts';
import type { Exchange, Headers } from '../http/exchange.ts';
import type { AnswerForm, StreamSettings } from '../http/http-options.ts';
import { startTimer } from '../http/timer.ts';
import { toWireText } from '../sessions/wire-text.ts';
import type { Channel, Priming } from './channel.ts';

export interface ReplyInit {
  readonly exchange: Exchange;
  /** At least one. */
  readonly requests: readonly JSONRPCRequest[];
  /** The requests came as an array, and so must the answers. */
  readonly isBatch: boolean;
  readonly form: AnswerForm;
  /** Headers of the answer, in either form. */
  readonly headers: Headers;
  readonly stream: StreamSettings;
  readonly channel: Channel;
  readonly priming: Priming;
  /** The client left or stopped reading and cannot come back; `unanswered` will get no answer any more. */
  onLost(unanswered: readonly RequestId[]): void;
  /** Every request is answered, or nobody is left to be answered. */
  onEnd(): void;
}

export class Reply {
  readonly #init: ReplyInit;
  readonly #unanswered: Set<RequestId>;
  readonly #answers: JSONRPCResponse[] = [];
  #stopTimer: (() => void) | undefined;
  #stream: EventStream | undefined;
  #ended = false;

  constructor(init: ReplyInit) {
    this.#init = init;
    this.#unanswered = new Set(init.requests.map(request => request.id));
    init.exchange.onGone(() => this.#onGone());
    if (init.form === 'json' || this.#ended) return;
    if (init.channel.resumable) this.#open();
    else this.#stopTimer = startTimer(init.stream.openAfterMs, () => this.#open());
  }

  get channel(): Channel {
    return this.#init.channel;
  }

  /** Something is unanswered, and the client is there or can come back. */
  get waiting(): boolean {
    return !this.#ended;
  }

  /** Whether it can carry anything but answers. */
  get carries(): boolean {
    return this.#init.form !== 'json' && !this.#ended;
  }

  /** Takes the answer to one of the requests; the last one ends the reply. */
  async answer(message: JSONRPCResponse): Promise<void> {
    if (this.#ended || message.id === undefined || !this.#unanswered.delete(message.id)) return;
    if (this.#unanswered.size === 0) this.#finish(message);
    else if (this.#stream === undefined) this.#answers.push(message);
    else await this.channel.send(message);
  }

  /** Sends a message that belongs to one of the requests; the answer is a stream from then on. */
  tell(message: JSONRPCMessage): Promise<void> {
    this.#open();
    return this.channel.send(message);
  }

  /** A request that was cancelled gets no answer; the exchange still ends. */
  cancel(id: RequestId): void {
    if (this.#unanswered.delete(id) && this.#unanswered.size === 0) this.#finish();
  }

  /** Answers what is unanswered with an error: the work is over, but may have had effects. */
  abandon(): void {
    for (const id of this.#unanswered)
      void this.answer({ jsonrpc: '2.0', id, error: { code: RPC.refused, message: 'Connection closed' } });
  }

  /** Ends the connection but not the answer: the client comes back for it. */
  disconnect(): void {
    if (this.#stream !== undefined) this.channel.disconnect();
  }

  #open(): void {
    if (this.#stream !== undefined || this.#ended) return;
    const { exchange, headers, stream, channel, priming } = this.#init;
    this.#stopTimer?.();
    const sink = exchange.openStream({ ...headers, ...STREAM_HEADERS });
    this.#stream = new EventStream(sink, stream, () => this.#onGone());
    channel.connect(this.#stream, priming);
    for (const message of this.#answers.splice(0)) void channel.send(message);
  }

  #finish(last?: JSONRPCResponse): void {
    if (this.#stream === undefined) this.#finishWithJson(last);
    else this.channel.end(last);
    this.#end();
  }

  #finishWithJson(last: JSONRPCResponse | undefined): void {
    const { exchange, headers, isBatch } = this.#init;
    const answers = last === undefined ? this.#answers : [...this.#answers, last];
    const [only] = answers;
    // What was cancelled has no answer, and 202 is how clients read an exchange without one.
    if (only === undefined) exchange.answer(202, headers);
    else
      answerJson(exchange, 200, headers, isBatch ? `[${answers.map(toWireText).join()}]` : toWireText(only));
  }

  #onGone(): void {
    this.#stream?.release();
    if (this.#ended || (this.#stream !== undefined && this.channel.resumable)) return;
    const unanswered = [...this.#unanswered];
    this.#unanswered.clear();
    this.#end();
    this.#init.onLost(unanswered);
  }

  #end(): void {
    this.#ended = true;
    this.#stopTimer?.();
    this.#init.onEnd();
  }
}
