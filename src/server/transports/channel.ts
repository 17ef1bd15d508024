/**
 * One logical stream of a session: the same messages in the same order, whichever connection carries them now.
 *
 * Owns the order of storing, writing and replaying. Does not know why a message belongs here.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { EventStream } from '../http/event-stream.ts';
import type { SessionEvents } from '../sessions/event-store.ts';
import { toWireText } from '../sessions/wire-text.ts';

/** A sender waits this long for a reader that is behind; a replay gives up on it after the longer time. */
const BREATHER_MS = 5;
const STALLED_MS = 5000;

/** How a connection begins, where its client can come back. */
export interface Priming {
  /** The client understands an event without data. */
  readonly marks: boolean;
  readonly retryMs: number | undefined;
}

export class Channel {
  readonly name: string;
  readonly #events: SessionEvents | undefined;
  readonly #onError: (error: unknown) => void;
  #stream: EventStream | undefined;
  /** With a store every step waits for the one before; without, nothing is ever waited for. */
  #tail: Promise<void> = Promise.resolve();

  constructor(name: string, events: SessionEvents | undefined, onError: (error: unknown) => void) {
    this.name = name;
    this.#events = events;
    this.#onError = onError;
  }

  /** Messages are kept, and a client may come back for them. */
  get resumable(): boolean {
    return this.#events !== undefined;
  }

  get connected(): boolean {
    return this.#stream?.open === true;
  }

  connect(stream: EventStream, priming: Priming): void {
    this.#stream = stream;
    const events = this.#events;
    if (events === undefined) return;
    void this.#enqueue(async () => {
      const id = priming.marks ? await events.mark(this.name) : undefined;
      stream.prime(id, priming.retryMs);
    });
  }

  /** Sends what came after an event again on a new connection, which then takes over. */
  resume(stream: EventStream, lastEventId: string): Promise<void> {
    return this.#enqueue(async () => {
      this.#stream?.end();
      this.#stream = stream;
      try {
        for (const { id, message } of (await this.#events?.replayAfter(lastEventId)) ?? []) {
          stream.send(toWireText(message), id);
          if (stream.behind && !(await stream.caughtUp(STALLED_MS))) stream.cut();
        }
      } catch (error) {
        // A stream with a gap would hide it; without one the client comes back.
        stream.cut();
        throw error;
      }
    });
  }

  /** Keeps a message, where messages are kept, and writes it, where a connection is open. */
  async send(message: JSONRPCMessage): Promise<void> {
    const events = this.#events;
    if (events === undefined) this.#stream?.send(toWireText(message));
    else await this.#enqueue(() => this.#storeAndSend(events, message));
    if (this.#stream?.behind === true) await this.#stream.caughtUp(BREATHER_MS);
  }

  /** Ends the stream for good, after a last message when one is given. */
  end(message?: JSONRPCMessage): void {
    const events = this.#events;
    if (events === undefined) {
      this.#stream?.end(message === undefined ? undefined : toWireText(message));
      return;
    }
    void this.#enqueue(async () => {
      if (message !== undefined) await this.#storeAndSend(events, message);
      this.#stream?.end();
    });
  }

  /** Ends the connection only; the client is expected to come back. */
  disconnect(): void {
    void this.#enqueue(() => {
      this.#stream?.end();
      return Promise.resolve();
    });
  }

  async #storeAndSend(events: SessionEvents, message: JSONRPCMessage): Promise<void> {
    let id: string | undefined;
    try {
      id = await events.store(this.name, message);
    } catch (error) {
      // Without an id it cannot be asked for again, which is better than not arriving at all.
      this.#onError(error);
    }
    this.#stream?.send(toWireText(message), id);
  }

  #enqueue(step: () => Promise<void>): Promise<void> {
    this.#tail = this.#tail.then(step).catch((error: unknown) => this.#onError(error));
    return this.#tail;
  }
}
