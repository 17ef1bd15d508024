/**
 * Events of streams that a client may ask for again, and what one session may see of them.
 *
 * Owns the store's contract, a bounded store in memory and the view of a session. Does not decide what is stored.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { toWireText } from './wire-text.ts';

/** Keeps the events of streams; one store may serve many sessions and processes. The SDK's stores fit. */
export interface EventStore {
  /** Keeps one event and gives it an id that no other event of the store has. */
  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string>;
  /** Names the stream of an event; without it the stream is known only after a replay. */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  /** Sends what the event's stream got after it, in order, and names the stream. Rejects when the event is unknown. */
  replayEventsAfter(
    lastEventId: string,
    options: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string>;
  /** Drops every stream whose id begins with `prefix`, when a session has ended. */
  forgetStreams?(prefix: string): void | Promise<void>;
}

/** Bounds of an `InMemoryEventStore`. The oldest events go first. */
export interface InMemoryEventStoreOptions {
  /** @defaultValue 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** @defaultValue 10000 */
  readonly maxEvents?: number | undefined;
  /** Characters of JSON of all events together; the newest event is kept in any case. @defaultValue 64 Mi */
  readonly maxCharacters?: number | undefined;
  /** Milliseconds after which an event cannot be asked for any more. @defaultValue 1 hour */
  readonly maxAgeMs?: number | undefined;
}

interface StoredEvent {
  readonly streamId: string;
  readonly text: string;
  /** By the clock of `performance.now()`. */
  readonly at: number;
}

/** A bounded event store in memory. Does not outlive the process and is not shared between processes. */
export class InMemoryEventStore implements EventStore {
  readonly #maxPerStream: number;
  readonly #maxEvents: number;
  readonly #maxCharacters: number;
  readonly #maxAgeMs: number;
  /** By id, which is the number of the event in base 36. */
  readonly #events = new Map<string, StoredEvent>();
  readonly #streams = new Map<string, Set<string>>();
  #count = 0;
  /** No event with a lower number is left. A Map finds its first entry only by walking over what was deleted. */
  #oldest = 1;
  #characters = 0;

  /** @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID for a bound that is not a positive number. */
  constructor(options: InMemoryEventStoreOptions = {}) {
    this.#maxPerStream = atLeastOne('maxEventsPerStream', options.maxEventsPerStream ?? 1000);
    this.#maxEvents = atLeastOne('maxEvents', options.maxEvents ?? 10_000);
    this.#maxCharacters = atLeastOne('maxCharacters', options.maxCharacters ?? 64 * 1024 * 1024);
    this.#maxAgeMs = atLeastOne('maxAgeMs', options.maxAgeMs ?? 3_600_000);
  }

  /** How many events are kept. */
  get size(): number {
    return this.#events.size;
  }

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const eventId = toEventId(this.#count);
    let stream = this.#streams.get(streamId);
    if (stream === undefined) this.#streams.set(streamId, (stream = new Set()));
    const text = toWireText(message);
    stream.add(eventId);
    this.#events.set(eventId, { streamId, text, at: performance.now() });
    this.#characters += text.length;
    if (stream.size > this.#maxPerStream) this.#drop(first(stream));
    if (this.#events.size > this.#maxEvents) this.#drop(this.#oldestId());
    while (this.#characters > this.#maxCharacters && this.#events.size > 1) this.#drop(this.#oldestId());
    this.#dropAged();
    return Promise.resolve(eventId);
  }

  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    this.#dropAged();
    return Promise.resolve(this.#events.get(eventId)?.streamId);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    this.#dropAged();
    const streamId = this.#events.get(lastEventId)?.streamId;
    const stream = streamId === undefined ? undefined : this.#streams.get(streamId);
    if (streamId === undefined || stream === undefined) throw new Error('Unknown event id');
    const ids = [...stream];
    for (const id of ids.slice(ids.indexOf(lastEventId) + 1)) {
      const event = this.#events.get(id);
      if (event !== undefined) await send(id, JSON.parse(event.text) as JSONRPCMessage);
    }
    return streamId;
  }

  forgetStreams(prefix: string): void {
    for (const [streamId, stream] of this.#streams) {
      if (!streamId.startsWith(prefix)) continue;
      for (const id of stream) this.#drop(id);
    }
  }

  #dropAged(): void {
    const limit = performance.now() - this.#maxAgeMs;
    for (;;) {
      const id = this.#oldestId();
      const event = id === undefined ? undefined : this.#events.get(id);
      if (event === undefined || event.at > limit) return;
      this.#drop(id);
    }
  }

  #oldestId(): string | undefined {
    for (; this.#oldest <= this.#count; this.#oldest += 1) {
      const id = toEventId(this.#oldest);
      if (this.#events.has(id)) return id;
    }
    return undefined;
  }

  #drop(id: string | undefined): void {
    const event = id === undefined ? undefined : this.#events.get(id);
    if (id === undefined || event === undefined) return;
    this.#events.delete(id);
    this.#characters -= event.text.length;
    const stream = this.#streams.get(event.streamId);
    stream?.delete(id);
    if (stream?.size === 0) this.#streams.delete(event.streamId);
  }
}

function toEventId(count: number): string {
  return count.toString(36);
}

function first<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}

function atLeastOne(option: string, value: number): number {
  if (typeof value === 'number' && value >= 1) return value;
  throw new MCPConfigurationError('server', option, 'must be a number of at least 1');
}

/** One event that a session may send again. */
export interface ReplayedEvent {
  readonly id: string;
  readonly message: JSONRPCMessage;
}

/** What one session may do with a store: its stream names are its own, and no other session's events can be read. */
export interface SessionEvents {
  store(stream: string, message: JSONRPCMessage): Promise<string>;
  /** Keeps an event without a message: a place in the stream to come back to. */
  mark(stream: string): Promise<string>;
  /** The stream of an event; `undefined` when the event is unknown or not this session's. */
  streamOf(eventId: string): Promise<string | undefined>;
  /** What came after an event on its stream; nothing when the event is unknown or not this session's. */
  replayAfter(eventId: string): Promise<readonly ReplayedEvent[]>;
  /** Drops the session's streams, where the store can do that. */
  forget(): Promise<void>;
}

/** Stores ask for a message; a mark has none, and this is what stands for it. */
const MARK = {} as JSONRPCMessage;

const isMark = (message: JSONRPCMessage): boolean => !('jsonrpc' in message);

/**
 * Confines a store to one session: stream names are prefixed with the session's id, and a replay hands out nothing
 * until the stream of the event is known to be the session's own.
 */
export function viewForSession(store: EventStore, sessionId: string): SessionEvents {
  const prefix = `${sessionId}/`;
  const collect = async (eventId: string): Promise<{ streamId: string; events: ReplayedEvent[] }> => {
    const events: ReplayedEvent[] = [];
    const streamId = await store.replayEventsAfter(eventId, {
      send: (id, message) => {
        if (!isMark(message)) events.push({ id, message });
        return Promise.resolve();
      },
    });
    return { streamId, events };
  };
  return {
    store: (stream, message) => store.storeEvent(prefix + stream, message),
    mark: stream => store.storeEvent(prefix + stream, MARK),
    async streamOf(eventId) {
      const streamId =
        store.getStreamIdForEventId === undefined
          ? (await collect(eventId)).streamId
          : await store.getStreamIdForEventId(eventId);
      return streamId?.startsWith(prefix) === true ? streamId.slice(prefix.length) : undefined;
    },
    async replayAfter(eventId) {
      const { streamId, events } = await collect(eventId);
      return streamId.startsWith(prefix) ? events : [];
    },
    forget: async () => {
      await store.forgetStreams?.(prefix);
    },
  };
}
