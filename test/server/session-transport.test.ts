import { describe, expect, test } from 'vitest';
import { InMemoryEventStore } from '../../src/server/sessions/event-store.ts';
import { verifies } from '../requirements/requirements.ts';
import { adapters, callTool, initialize, startHarness, until } from './http-harness.ts';
import type { Harness } from './http-harness.ts';

const cancelled = (requestId: unknown): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** Sends a log message outside of any call to every session of the server. */
async function broadcast(server: Harness, data: unknown): Promise<void> {
  for (const { session } of server.http.sessions.each())
    await session.deliver({ kind: 'log', level: 'info', data });
}

describe.each(adapters)('Answers to a POST over %s', adapter => {
  verifies(['S171', 'X35'], 'become a stream as soon as something is sent before the result', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const answer = await server.post(callTool(2, 'progress', { times: 3 }, { progressToken: 'p' }), session);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'mcp-session-id': session['mcp-session-id'],
    });
    const messages = await answer.messages();
    expect(messages.map(message => message.params?.['progress'] ?? message.id)).toEqual([1, 2, 3, 2]);
  });

  verifies(
    'S171',
    'become a stream when there is no result in time, with comments that keep it open',
    async () => {
      await using server = await startHarness(adapter, { openAfterMs: 20, security: { keepAliveMs: 10 } });
      const session = await server.open();
      const answer = await server.post(callTool(2, 'wait'), session);
      expect(answer.headers['content-type']).toBe('text/event-stream');
      const text = answer.text();
      const waiting = await server.tools.waiting();
      await new Promise(resolve => setTimeout(resolve, 40));
      waiting.finish();
      expect(await text).toMatch(/^(: keep-alive\n\n)+event: message\ndata: \{.*"id":2.*\}\n\n$/);
    },
  );

  verifies('S171', 'stay one JSON answer with enableJsonResponse', async () => {
    await using server = await startHarness(adapter, {
      openAfterMs: 5,
      options: { enableJsonResponse: true },
    });
    const session = await server.open();
    const answer = server.post(callTool(2, 'wait'), { ...session, accept: 'application/json' });
    const waiting = await server.tools.waiting();
    await waiting.call.emit({ kind: 'log', level: 'info', data: 'lost' });
    await new Promise(resolve => setTimeout(resolve, 20));
    waiting.finish();
    expect((await answer).headers['content-type']).toBe('application/json');
    expect((await (await answer).json()).id).toBe(2);
  });

  test('of a batch become one stream, each answer an event', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open({ revision: '2025-03-26' });
    const answer = await server.post(
      [callTool(1, 'echo', { text: 'x' }), callTool(2, 'progress', { times: 1 }, { progressToken: 1 })],
      session,
    );
    const messages = await answer.messages();
    expect(messages).toHaveLength(3);
    expect(
      messages
        .filter(message => message.id !== undefined)
        .map(message => message.id)
        .toSorted(),
    ).toEqual([1, 2]);
  });

  test('carry questions to the client, whose answer comes with another POST', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open({ capabilities: { elicitation: {} } });
    const stream = await server.post(callTool(2, 'ask'), session);
    const question = await stream.message();
    expect(question.method).toBe('elicitation/create');
    const reply = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: {} } };
    expect((await server.post(reply, session)).status).toBe(202);
    expect((await stream.message()).result?.content?.[0]?.text).toContain('accept');
    expect(await stream.event()).toBeUndefined();
  });

  verifies(
    ['B35', 'D14'],
    'abort the call when the connection is dropped, before and after the stream began',
    async () => {
      await using server = await startHarness(adapter, { openAfterMs: 60_000 });
      const session = await server.open();
      const silent = server.post(callTool(2, 'wait'), session).catch(() => undefined);
      const call = await server.tools.waiting();
      server.dropConnections();
      await call.aborted;
      await silent;
      const streaming = server.post(callTool(3, 'wait', {}, { progressToken: 1 }), session);
      const waiting = await server.tools.waiting();
      await waiting.call.emit({ kind: 'progress', progress: 1 });
      (await streaming).drop();
      await waiting.aborted;
      await until(() => !server.http.transport()?.active, 'nothing runs');
      expect((await server.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, session)).status).toBe(200);
    },
  );

  verifies('D14', 'end without an answer when the client cancels the request', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const json = server.post(callTool(2, 'wait'), session);
    const first = await server.tools.waiting();
    expect((await server.post(cancelled(2), session)).status).toBe(202);
    await first.aborted;
    expect([(await json).status, await (await json).text()]).toEqual([202, '']);
    const stream = server.post(callTool(3, 'wait', {}, { progressToken: 1 }), session);
    const second = await server.tools.waiting();
    await second.call.emit({ kind: 'progress', progress: 1 });
    await server.post(cancelled(3), session);
    await second.aborted;
    expect((await (await stream).messages()).map(message => message.method)).toEqual([
      'notifications/progress',
    ]);
    for (const id of [99, null, {}, 'x'])
      expect((await server.post(cancelled(id), session)).status).toBeLessThan(500);
  });

  verifies('D14', 'end for every id that a request can have, also one that is false', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    for (const id of [0, '']) {
      const answer = server.post(callTool(id, 'wait'), session);
      const cancelledCall = await server.tools.waiting();
      await server.post(cancelled(id), session);
      await cancelledCall.aborted;
      expect([(await answer).status, await (await answer).text()]).toEqual([202, '']);
      const dropped = server.post(callTool(id, 'wait'), session).catch(() => undefined);
      const droppedCall = await server.tools.waiting();
      server.dropConnections();
      await droppedCall.aborted;
      await dropped;
      expect((await (await server.post(callTool(id, 'echo', { text: 'a' }), session)).json()).id).toBe(id);
    }
  });

  test('do not end when somebody cancels initialize', async () => {
    await using server = await startHarness(adapter);
    const opened = await server.post(initialize({ id: 5 }));
    const session = { 'mcp-session-id': opened.headers['mcp-session-id'] ?? '' };
    await server.post(cancelled(5), session);
    expect((await opened.json()).id).toBe(5);
  });
});

describe.each(adapters)('The standalone stream over %s', adapter => {
  test('is one per session and carries what belongs to no call', async () => {
    await using server = await startHarness(adapter, { security: { keepAliveMs: 5 } });
    const session = await server.open();
    const stream = await server.send({ method: 'GET', headers: session });
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const second = await server.send({ method: 'GET', headers: session });
    expect(second.status).toBe(409);
    const other = await server.open();
    const others = await server.send({ method: 'GET', headers: other });
    const call = await server.post(callTool(2, 'progress', { times: 1 }, { progressToken: 1 }), session);
    await broadcast(server, 'hello');
    expect((await call.messages()).map(message => message.method ?? message.id)).toEqual([
      'notifications/progress',
      2,
    ]);
    expect((await stream.message()).params?.['data']).toBe('hello');
    expect((await others.message()).params?.['data']).toBe('hello');
    stream.drop();
    await until(
      () => server.http.transport(session['mcp-session-id'])?.active === false,
      'the stream is released',
    );
    expect((await server.send({ method: 'GET', headers: session })).status).toBe(200);
  });

  test('drops what comes while it is not open, and refuses questions then', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open({ capabilities: { elicitation: {} } });
    await broadcast(server, 'nobody listens');
    const [entry] = server.http.sessions.each();
    const question = entry?.session.request(
      'elicitation/create',
      {},
      { timeoutMs: 60_000, signal: undefined },
    );
    await expect(question).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    const stream = await server.send({ method: 'GET', headers: session });
    await broadcast(server, 'heard');
    expect((await stream.message()).params?.['data']).toBe('heard');
  });

  test('carries what belongs to a call whose answer can be nothing but JSON', async () => {
    await using server = await startHarness(adapter, { options: { enableJsonResponse: true } });
    const session = await server.open({ capabilities: { elicitation: {} } });
    const stream = await server.send({ method: 'GET', headers: session });
    const answer = server.post(callTool(2, 'ask'), session);
    const question = await stream.message();
    expect(question.method).toBe('elicitation/create');
    await server.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } }, session);
    expect((await (await answer).json()).result?.content?.[0]?.text).toContain('decline');
  });

  test('does not carry what a call says after it is over', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const stream = await server.send({ method: 'GET', headers: session });
    const answer = server.post(callTool(2, 'wait'), session);
    const waiting = await server.tools.waiting();
    waiting.finish();
    await (await answer).text();
    await waiting.call.wire.notify('notifications/progress', { progressToken: 1, progress: 1 });
    const late = waiting.call.wire.request('ping', {}, { timeoutMs: 60_000, signal: undefined });
    await expect(late).rejects.toMatchObject({ code: 'MCP_SERVER_CLIENT_UNREACHABLE' });
    expect(server.logs).toContain('No stream is open for notifications/progress');
    await broadcast(server, 'next');
    expect((await stream.message()).params?.['data']).toBe('next');
  });

  test('ends with its session', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const stream = await server.send({ method: 'GET', headers: session });
    await server.send({ method: 'DELETE', headers: session });
    expect(await stream.event()).toBeUndefined();
  });
});

describe.each(adapters)('With an event store over %s', adapter => {
  verifies(['S171', 'S172'], 'answers are streams that begin with an event to come back to', async () => {
    await using server = await startHarness(adapter, {
      options: { eventStore: new InMemoryEventStore(), retryInterval: 250 },
    });
    const opened = await server.post(initialize());
    expect(opened.headers['content-type']).toBe('text/event-stream');
    expect(await opened.event()).toEqual({ id: expect.any(String), retry: '250', data: '' });
    expect((await opened.message()).result?.['protocolVersion']).toBe('2025-11-25');
    expect(await opened.event()).toBeUndefined();
    const old = await server.post(initialize({ revision: '2025-06-18' }));
    expect(await old.event()).toEqual({ retry: '250' });
    expect((await old.message()).eventId).toBeDefined();
  });

  verifies(
    'S172',
    'a dropped connection does not abort the call, and its client comes back for the rest',
    async () => {
      await using server = await startHarness(adapter, { options: { eventStore: new InMemoryEventStore() } });
      const session = await server.open();
      const stream = await server.post(callTool(2, 'wait', {}, { progressToken: 1 }), session);
      const primed = await stream.event();
      const waiting = await server.tools.waiting();
      await waiting.call.emit({ kind: 'progress', progress: 1 });
      const seen = await stream.message();
      stream.drop();
      await waiting.call.emit({ kind: 'progress', progress: 2 });
      expect(server.http.transport()?.active).toBe(true);
      const resumed = await server.send({
        method: 'GET',
        headers: { ...session, 'last-event-id': seen.eventId ?? '' },
      });
      expect((await resumed.message()).params?.['progress']).toBe(2);
      await waiting.call.emit({ kind: 'progress', progress: 3 });
      expect((await resumed.message()).params?.['progress']).toBe(3);
      waiting.finish();
      expect((await resumed.message()).id).toBe(2);
      expect(await resumed.event()).toBeUndefined();
      expect(waiting.call.signal.aborted).toBe(false);
      const all = await server.send({
        method: 'GET',
        headers: { ...session, 'last-event-id': primed?.id ?? '' },
      });
      expect((await all.messages()).map(message => message.params?.['progress'] ?? message.id)).toEqual([
        1, 2, 3, 2,
      ]);
    },
  );

  test('the standalone stream goes on where it broke, also while the old connection looks open', async () => {
    await using server = await startHarness(adapter, { options: { eventStore: new InMemoryEventStore() } });
    const session = await server.open();
    const stream = await server.send({ method: 'GET', headers: session });
    const primed = await stream.event();
    await broadcast(server, 1);
    const resumed = await server.send({
      method: 'GET',
      headers: { ...session, 'last-event-id': primed?.id ?? '' },
    });
    expect((await resumed.message()).params?.['data']).toBe(1);
    await broadcast(server, 2);
    const second = await resumed.message();
    expect(second.params?.['data']).toBe(2);
    expect((await stream.messages()).map(message => message.params?.['data'])).toEqual([1]);
    resumed.drop();
    await until(() => server.http.transport()?.active === false, 'the stream is released');
    await broadcast(server, 3);
    const last = await server.send({
      method: 'GET',
      headers: { ...session, 'last-event-id': second.eventId ?? '' },
    });
    expect((await last.message()).params?.['data']).toBe(3);
  });

  test('a tool can end a connection early, and the client gets the rest later', async () => {
    await using server = await startHarness(adapter, { options: { eventStore: new InMemoryEventStore() } });
    const session = await server.open();
    const standalone = await server.send({ method: 'GET', headers: session });
    await standalone.event();
    const stream = await server.post(callTool(2, 'wait'), session);
    const primed = await stream.event();
    const { call, finish } = await server.tools.waiting();
    call.wire.closeStream?.();
    expect(await stream.event()).toBeUndefined();
    call.wire.closeStandaloneStream?.();
    expect(await standalone.event()).toBeUndefined();
    finish();
    const resumed = await server.send({
      method: 'GET',
      headers: { ...session, 'last-event-id': primed?.id ?? '' },
    });
    expect((await resumed.message()).id).toBe(2);
  });

  verifies(
    ['S12', 'S172'],
    'a stream goes on with its own events, whatever others got meanwhile',
    async () => {
      await using server = await startHarness(adapter, { options: { eventStore: new InMemoryEventStore() } });
      const [mine, yours] = [await server.open(), await server.open()];
      const [stream, others] = [
        await server.send({ method: 'GET', headers: mine }),
        await server.send({ method: 'GET', headers: yours }),
      ];
      const entryOf = (headers: Record<string, string>) =>
        [...server.http.sessions.each()].find(({ id }) => id === headers['mcp-session-id']);
      const tell = (headers: Record<string, string>, data: unknown) =>
        entryOf(headers)?.session.deliver({ kind: 'log', level: 'info', data });
      await tell(mine, 'mine 1');
      const { eventId = '' } = await stream.message();
      stream.drop();
      await until(() => entryOf(mine)?.transport.active === false, 'the stream is released');
      for (const data of ['yours 1', 'yours 2']) await tell(yours, data);
      await tell(mine, 'mine 2');
      await tell(yours, 'yours 3');
      const resumed = await server.send({ method: 'GET', headers: { ...mine, 'last-event-id': eventId } });
      await tell(mine, 'mine 3');
      const got = [await resumed.message(), await resumed.message()];
      expect(got.map(message => message.params?.['data'])).toEqual(['mine 2', 'mine 3']);
      const heard = [await others.message(), await others.message(), await others.message()];
      expect(heard.map(message => message.params?.['data'])).toEqual(['yours 1', 'yours 2', 'yours 3']);
    },
  );

  verifies('S12', 'no session reads events of another one, whatever id it names', async () => {
    for (const eventStore of [new InMemoryEventStore(), withoutLookUp(new InMemoryEventStore())]) {
      await using server = await startHarness(adapter, { options: { eventStore } });
      const [mine, yours] = [await server.open(), await server.open()];
      const streams = await Promise.all(
        [mine, yours].map(headers => server.send({ method: 'GET', headers })),
      );
      const primed = await Promise.all(streams.map(stream => stream.event()));
      await broadcast(server, 'for both');
      for (const id of [primed[1]?.id ?? '', 'no-such']) {
        const stolen = await server.send({ method: 'GET', headers: { ...mine, 'last-event-id': id } });
        expect([stolen.status, await stolen.text()]).toEqual([400, expect.stringContaining('-32000')]);
      }
      const own = await server.send({
        method: 'GET',
        headers: { ...mine, 'last-event-id': primed[0]?.id ?? '' },
      });
      await broadcast(server, 'next');
      expect([(await own.message()).params?.['data'], (await own.message()).params?.['data']]).toEqual([
        'for both',
        'next',
      ]);
    }
  });

  test('its events are gone when the session ends', async () => {
    const eventStore = new InMemoryEventStore();
    await using server = await startHarness(adapter, { options: { eventStore } });
    const session = await server.open();
    await (await server.post(callTool(2, 'echo'), session)).text();
    expect(eventStore.size).toBeGreaterThan(0);
    await server.send({ method: 'DELETE', headers: session });
    await until(() => eventStore.size === 0, 'the store is empty');
  });

  test('a replay that fails ends the stream, so that nobody takes it for complete', async () => {
    const eventStore = new InMemoryEventStore();
    await using server = await startHarness(adapter, { options: { eventStore } });
    const session = await server.open();
    const stream = await server.send({ method: 'GET', headers: session });
    const primed = await stream.event();
    eventStore.replayEventsAfter = () => Promise.reject(new Error('store is down'));
    const headers = { ...session, 'last-event-id': primed?.id ?? '' };
    const resumed = await server.send({ method: 'GET', headers });
    expect(await resumed.event()).toBeUndefined();
    expect(server.logs.join()).toContain('store is down');
    eventStore.getStreamIdForEventId = () => Promise.reject(new Error('store is down'));
    expect((await server.send({ method: 'GET', headers })).status).toBe(400);
  });

  test('a store that fails costs resumption, not the answer', async () => {
    const eventStore = new InMemoryEventStore();
    eventStore.storeEvent = () => Promise.reject(new Error('store is down'));
    await using server = await startHarness(adapter, { options: { eventStore } });
    const opened = await server.post(initialize());
    expect((await opened.message()).id).toBe(1);
    expect(server.logs.join()).toContain('store is down');
  });
});

function withoutLookUp(store: InMemoryEventStore): InMemoryEventStore {
  Reflect.set(store, 'getStreamIdForEventId', undefined);
  return store;
}
