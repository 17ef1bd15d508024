import net from 'node:net';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { connectRaw, until } from '../server/http-harness.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';

const READERS = scaled(100, 5);
const MESSAGES = scaled(10_000, 1500);
const MIB = 1024 * 1024;

/** Opens the standalone stream of a session and never reads it; resolves when the server has the request. */
async function openStalled(port: number, headers: Record<string, string>): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
  const fields = Object.entries({ host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...headers });
  socket.write(`GET /mcp HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  await new Promise(resolve => socket.once('readable', resolve));
  return socket.pause();
}

verifies(
  ['R12', 'S11'],
  `${READERS} readers that stop reading cost a bounded backlog each, then their streams are closed and can be opened again`,
  async () => {
    await using server = await startServerProcess();
    using client = connectRaw(server.port);
    const sessions = await Promise.all(Array.from({ length: READERS }, () => client.open()));
    const sockets = await Promise.all(sessions.map(session => openStalled(server.port, session)));
    const reading = await client.open();
    const stream = await client.send({ method: 'GET', headers: reading });
    let read = 0;
    const reader = (async () => {
      for (; read < MESSAGES; read += 1) await stream.message();
    })();
    const before = await server.ask('mark');
    expect(before.active).toBe(READERS + 1);

    const half = await server.ask('broadcast', { count: MESSAGES, size: 10_000 });
    const after = await server.ask('measure');
    const megabytes = [before.rss, half.rss, after.rss, after.peakRss].map(bytes => Math.round(bytes / 1e6));
    console.info(
      `R12: ${READERS} readers, RSS before, half-way, at the end, peak: ${megabytes.join(', ')} MB`,
    );

    expect([after.active, after.opened, after.closed, after.unhandled]).toEqual([1, READERS + 1, 0, []]);
    // A backlog of 1 MiB per reader, and as much again for garbage that is not collected yet.
    expect(after.peakRss - before.rss).toBeLessThan(READERS * 2 * MIB + 50 * MIB);
    // By then every stalled stream is closed; what comes later costs nothing.
    expect(half.active).toBe(1);
    expect(after.rss - half.rss).toBeLessThan(30 * MIB);
    // Whoever reads misses nothing meanwhile.
    await reader;
    expect(read).toBe(MESSAGES);

    const reopened = await Promise.all(sessions.map(headers => client.send({ method: 'GET', headers })));
    expect(reopened.map(({ status }) => status)).toEqual(sessions.map(() => 200));
    await server.ask('broadcast', { count: 1, size: 1 });
    for (const { params } of await Promise.all(reopened.map(other => other.message())))
      expect(params?.['data']).toMatchObject({ sent: 1 });

    let ended = 0;
    for (const socket of sockets) socket.once('close', () => (ended += 1)).resume();
    await until(() => ended === READERS, 'the connections of the stalled readers have ended', 10_000);
  },
  SCALE_LIMIT_MS,
);
