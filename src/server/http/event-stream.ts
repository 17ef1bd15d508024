/**
 * One open event stream: frames, comments that keep proxies from cutting it, and the bound on what may wait for its
 * reader.
 *
 * Does not know which messages belong on it, and stores nothing.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Headers, StreamSink } from './exchange.ts';
import type { StreamSettings } from './http-options.ts';
import { pause, startInterval } from './timer.ts';

/** Headers of every event stream: nothing on the way may cache, transform or collect it. */
export const STREAM_HEADERS: Headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const KEEP_ALIVE = ': keep-alive\n\n';
/** Share of the bound above which senders wait a moment, so that a reader that does read can catch up. */
const BEHIND = 1 / 8;
const POLL_MS = 5;

export class EventStream {
  readonly #sink: StreamSink;
  readonly #settings: StreamSettings;
  readonly #onCut: () => void;
  readonly #stopKeepAlive: () => void;
  #open = true;

  /** `onCut` runs when the stream was closed because its reader fell behind. */
  constructor(sink: StreamSink, settings: StreamSettings, onCut: () => void) {
    this.#sink = sink;
    this.#settings = settings;
    this.#onCut = onCut;
    this.#stopKeepAlive = startInterval(settings.keepAliveMs, () => this.#write(KEEP_ALIVE));
  }

  get open(): boolean {
    return this.#open;
  }

  /** Writes one message as one frame. Does nothing on a closed stream. */
  send(text: string, eventId?: string): void {
    this.#write(toFrame(text, eventId));
  }

  /** Writes an event that is no message; `data` has no line breaks. */
  sendEvent(name: string, data: string): void {
    this.#write(`event: ${name}\ndata: ${data}\n\n`);
  }

  /** Writes an event without data, which gives the client an id to come back with, and how long it should wait then. */
  prime(eventId: string | undefined, retryMs: number | undefined): void {
    const id = eventId === undefined ? '' : `id: ${eventId}\n`;
    const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
    const data = eventId === undefined ? '' : 'data: \n';
    if (id !== '' || retry !== '') this.#write(`${id}${retry}${data}\n`);
  }

  /** Ends the stream, after a last message when one is given. */
  end(text?: string, eventId?: string): void {
    if (!this.#open) return;
    this.release();
    this.#sink.end(text === undefined ? undefined : toFrame(text, eventId));
  }

  /** Stops writing to a connection that is gone. */
  release(): void {
    this.#open = false;
    this.#stopKeepAlive();
  }

  /** Closes the stream because its reader does not read; what waits is dropped. */
  cut(): void {
    if (!this.#open) return;
    this.release();
    this.#sink.destroy();
    this.#onCut();
  }

  /** Whether senders should wait a moment before they go on. */
  get behind(): boolean {
    return this.#open && this.#isBeyond(BEHIND);
  }

  /** Waits, at most `ms`, until the reader has taken most of what was written. */
  async caughtUp(ms: number): Promise<boolean> {
    for (let waited = 0; this.behind && waited < ms; waited += POLL_MS) await pause(POLL_MS);
    return !this.behind;
  }

  #write(frame: string): void {
    if (!this.#open) return;
    if (this.#isBeyond(1)) this.cut();
    else this.#sink.write(frame);
  }

  /** What is being written now does not count, so a single big message always passes. */
  #isBeyond(share: number): boolean {
    const { maxMessages, maxBytes } = this.#settings;
    return this.#sink.waitingChunks >= maxMessages * share || this.#sink.waitingBytes >= maxBytes * share;
  }
}

function toFrame(text: string, eventId: string | undefined): string {
  return `${eventId === undefined ? '' : `id: ${eventId}\n`}event: message\ndata: ${text}\n\n`;
}
