import { describe, expect, test } from 'vitest';
import { InMemoryEventStore, viewForSession } from '../../src/server/sessions/event-store.ts';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { verifies } from '../requirements/requirements.ts';
import { until } from './http-harness.ts';

const message = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} });

async function replay(store: InMemoryEventStore, after: string): Promise<unknown[]> {
  const ids: unknown[] = [];
  await store.replayEventsAfter(after, {
    send: (_, sent) => {
      ids.push(Reflect.get(sent, 'id'));
      return Promise.resolve();
    },
  });
  return ids;
}

describe('InMemoryEventStore', () => {
  verifies('S172', 'replays what a stream got after an event, and nothing of other streams', async () => {
    const store = new InMemoryEventStore();
    const first = await store.storeEvent('a', message(1));
    await store.storeEvent('b', message(2));
    const third = await store.storeEvent('a', message(3));
    expect(await replay(store, first)).toEqual([3]);
    expect(await replay(store, third)).toEqual([]);
    expect(await store.getStreamIdForEventId(first)).toBe('a');
    await expect(replay(store, 'no-such')).rejects.toThrow('Unknown event id');
  });

  test('is bounded per stream and in all, and forgets the oldest', async () => {
    const store = new InMemoryEventStore({ maxEventsPerStream: 2, maxEvents: 3 });
    const [first, second] = [
      await store.storeEvent('a', message(1)),
      await store.storeEvent('a', message(2)),
    ];
    await store.storeEvent('a', message(3));
    await expect(replay(store, first)).rejects.toThrow();
    expect(await replay(store, second)).toEqual([3]);
    await store.storeEvent('b', message(4));
    await store.storeEvent('c', message(5));
    expect(store.size).toBe(3);
    await expect(replay(store, second)).rejects.toThrow();
    store.forgetStreams('b');
    expect(store.size).toBe(2);
  });

  verifies('S12', 'is bounded by the length and the age of what it keeps', async () => {
    const long = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(1000) } });
    const store = new InMemoryEventStore({ maxCharacters: 2500 });
    const [one, two] = [await store.storeEvent('a', long(1)), await store.storeEvent('b', long(2))];
    await store.storeEvent('b', long(3));
    await expect(replay(store, one)).rejects.toThrow('Unknown event id');
    expect(await replay(store, two)).toEqual([3]);
    store.forgetStreams('b');
    const four = await store.storeEvent('c', long(4));
    await store.storeEvent('c', { jsonrpc: '2.0', id: 5, result: { text: 'x'.repeat(1400) } });
    expect(await replay(store, four)).toEqual([5]);
    await store.storeEvent('c', { jsonrpc: '2.0', id: 6, result: { text: 'x'.repeat(9000) } });
    expect(store.size).toBe(1);

    const aging = new InMemoryEventStore({ maxAgeMs: 300 });
    const old = await aging.storeEvent('a', message(1));
    expect(await replay(aging, old)).toEqual([]);
    await until(() => {
      void aging.getStreamIdForEventId(old);
      return aging.size === 0;
    }, 'the event is too old');
    await expect(replay(aging, old)).rejects.toThrow('Unknown event id');
  });

  test('refuses bounds that are none', () => {
    for (const option of ['maxEventsPerStream', 'maxEvents', 'maxCharacters', 'maxAgeMs'])
      expect(() => new InMemoryEventStore({ [option]: 0 })).toThrow(expect.objectContaining({ option }));
  });

  test('gives every event an id of its own', async () => {
    const store = new InMemoryEventStore();
    const ids = await Promise.all(
      Array.from({ length: 500 }, (_, id) => store.storeEvent(`s${id % 7}`, message(id))),
    );
    expect(new Set(ids).size).toBe(500);
  });
});

describe('viewForSession', () => {
  verifies('S12', 'hides the streams of other sessions and marks without a message', async () => {
    const store = new InMemoryEventStore();
    const [mine, yours] = [viewForSession(store, 'mine'), viewForSession(store, 'yours')];
    const mark = await mine.mark('s');
    await yours.store('s', message(1));
    const own = await mine.store('s', message(2));
    await mine.mark('s');
    expect(await mine.replayAfter(mark)).toEqual([{ id: own, message: message(2) }]);
    expect(await mine.streamOf(mark)).toBe('s');
    expect(await yours.streamOf(mark)).toBeUndefined();
    expect(await yours.replayAfter(mark)).toEqual([]);
    await mine.forget();
    expect(store.size).toBe(1);
  });
});
