import net from 'node:net';
import { describe, expect, test } from 'vitest';
import { EventStream } from '../../src/server/http/event-stream.ts';
import type { StreamSink } from '../../src/server/http/exchange.ts';
import { InMemoryEventStore } from '../../src/server/sessions/event-store.ts';
import { verifies } from '../requirements/requirements.ts';
import { adapters, callTool, startHarness, until } from './http-harness.ts';

const settings = { keepAliveMs: 0, maxMessages: 4, maxBytes: 100, openAfterMs: 5000 };

/** A sink whose reader takes what is there when it is told to. */
function manualSink(): StreamSink & { readonly written: string[]; take(): void; readonly state: string } {
  let waiting: string[] = [];
  let state = 'open';
  const written: string[] = [];
  return {
    written,
    take: () => void (waiting = []),
    get state() {
      return state;
    },
    get waitingChunks() {
      return waiting.length;
    },
    get waitingBytes() {
      return waiting.join('').length;
    },
    write(text) {
      waiting.push(text);
      written.push(text);
    },
    end(text = '') {
      written.push(text);
      state = 'ended';
    },
    destroy() {
      state = 'destroyed';
    },
  };
}

describe('EventStream', () => {
  test('frames messages, ids and marks', () => {
    const sink = manualSink();
    const stream = new EventStream(sink, settings, () => {});
    stream.prime('1', 20);
    stream.prime(undefined, undefined);
    stream.send('{}', '2');
    stream.send('{}');
    stream.end('{}');
    stream.end();
    stream.send('{}');
    expect(sink.written).toEqual([
      'id: 1\nretry: 20\ndata: \n\n',
      'id: 2\nevent: message\ndata: {}\n\n',
      'event: message\ndata: {}\n\n',
      'event: message\ndata: {}\n\n',
    ]);
  });

  test('closes when messages or bytes wait beyond the bound, and tells', () => {
    for (const text of ['', 'x'.repeat(120)]) {
      let cuts = 0;
      const sink = manualSink();
      const stream = new EventStream(sink, settings, () => (cuts += 1));
      for (let round = 0; round < 10; round += 1) stream.send(text);
      expect([cuts, sink.state, stream.open]).toEqual([1, 'destroyed', false]);
    }
  });

  test('lets one big message pass, and a reader that reads go on for ever', async () => {
    const sink = manualSink();
    const stream = new EventStream(sink, settings, () => {});
    for (let round = 0; round < 20; round += 1) {
      stream.send('x'.repeat(1000));
      expect(stream.behind).toBe(true);
      const caught = stream.caughtUp(1000);
      sink.take();
      expect(await caught).toBe(true);
    }
    expect(stream.open).toBe(true);
    stream.send('x'.repeat(1000));
    expect(await stream.caughtUp(10)).toBe(false);
  });
});

describe.each(adapters)('A stream over %s', adapter => {
  verifies(
    'S11',
    'whose reader does not read is closed and its call aborted, with what waited dropped',
    async () => {
      await using server = await startHarness(adapter, {
        security: { limits: { maxStreamBacklog: { messages: 100 } } },
      });
      const session = await server.open();
      const stalled = await openStalled(server, session);
      const waiting = await server.tools.waiting();
      const pad = 'x'.repeat(10_000);
      let sent = 0;
      for (; sent < 10_000 && !waiting.call.signal.aborted; sent += 1)
        await waiting.call.emit({ kind: 'progress', progress: sent, message: pad });
      expect(waiting.call.signal.aborted).toBe(true);
      expect(sent).toBeLessThan(5000);
      await until(() => !server.http.transport()?.active, 'the stream is released');
      stalled();
    },
  );

  test('whose reader reads gets ten thousand messages of a sender that waits for its turn', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const answer = await server.post(
      callTool(2, 'progress', { times: 10_000 }, { progressToken: 1 }),
      session,
    );
    expect(await answer.messages()).toHaveLength(10_001);
  });

  verifies(['R12', 'S172'], 'cut for its backlog can be resumed where it broke', async () => {
    await using server = await startHarness(adapter, {
      options: { eventStore: new InMemoryEventStore() },
      security: { limits: { maxStreamBacklog: { messages: 50 } } },
    });
    const session = await server.open();
    const answer = await server.post(callTool(2, 'wait', {}, { progressToken: 1 }), session);
    const { id = '' } = (await answer.event()) ?? {};
    const waiting = await server.tools.waiting();
    const burst = Array.from({ length: 200 }, (_, progress) =>
      waiting.call.emit({ kind: 'progress', progress }),
    );
    await Promise.all(burst);
    waiting.finish();
    const resumed = await server.send({ method: 'GET', headers: { ...session, 'last-event-id': id } });
    expect(await resumed.messages()).toHaveLength(201);
    expect(waiting.call.signal.aborted).toBe(false);
  });
});

/** Opens the stream of a call and never reads it; the result drops it. */
async function openStalled(
  server: Awaited<ReturnType<typeof startHarness>>,
  session: Record<string, string>,
): Promise<() => void> {
  const call = callTool(2, 'wait', {}, { progressToken: 1 });
  if (server.port === 80) {
    const answer = server.post(call, session).catch(() => undefined);
    return () => void answer.then(received => received?.drop());
  }
  const body = JSON.stringify(call);
  const socket = net
    .connect(server.port, '127.0.0.1')
    .on('error', () => {})
    .pause();
  const fields = Object.entries({
    host: server.host,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...session,
  });
  socket.write(
    `POST /mcp HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
  return () => void socket.destroy();
}
