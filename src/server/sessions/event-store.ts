/**
 * Events of streams that a client may ask for again, and what one session may see of them.
 *
 * Owns the store's contract, a bounded store in memory and the view of a session. Does not decide what is stored.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';

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
}

interface StoredEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
}

/** A bounded event store in memory. Does not outlive the process and is not shared between processes. */
export class InMemoryEventStore implements EventStore {
  readonly #maxPerStream: number;
  readonly #maxEvents: number;
  /** In the order of storing, so the first is the oldest. */
  readonly #events = new Map<string, StoredEvent>();
  readonly #streams = new Map<string, Set<string>>();
  #count = 0;

  /** @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID for a bound that is not a positive number. */
  constructor(options: InMemoryEventStoreOptions = {}) {
    this.#maxPerStream = atLeastOne('maxEventsPerStream', options.maxEventsPerStream ?? 1000);
    this.#maxEvents = atLeastOne('maxEvents', options.maxEvents ?? 10_000);
  }

  /** How many events are kept. */
  get size(): number {
    return this.#events.size;
  }

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const eventId = this.#count.toString(36);
    let stream = this.#streams.get(streamId);
    if (stream === undefined) this.#streams.set(streamId, (stream = new Set()));
    stream.add(eventId);
    this.#events.set(eventId, { streamId, message });
    if (stream.size > this.#maxPerStream) this.#dropOldest(stream);
    if (this.#events.size > this.#maxEvents) this.#dropOldest(this.#events.keys());
    return Promise.resolve(eventId);
  }

  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.get(eventId)?.streamId);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const streamId = this.#events.get(lastEventId)?.streamId;
    const stream = streamId === undefined ? undefined : this.#streams.get(streamId);
    if (streamId === undefined || stream === undefined) throw new Error('Unknown event id');
    const ids = [...stream];
    for (const id of ids.slice(ids.indexOf(lastEventId) + 1)) {
      const event = this.#events.get(id);
      if (event !== undefined) await send(id, event.message);
    }
    return streamId;
  }

  forgetStreams(prefix: string): void {
    for (const [streamId, stream] of this.#streams) {
      if (!streamId.startsWith(prefix)) continue;
      for (const id of stream) this.#events.delete(id);
      this.#streams.delete(streamId);
    }
  }

  #dropOldest(ids: Iterable<string>): void {
    for (const id of ids) {
      const streamId = this.#events.get(id)?.streamId;
      this.#events.delete(id);
      if (streamId === undefined) return;
      const stream = this.#streams.get(streamId);
      stream?.delete(id);
      if (stream?.size === 0) this.#streams.delete(streamId);
      return;
    }
  }
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
