import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { ACCEPT, connectRaw, initialize } from '../server/http-harness.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';

const MIB = 1024 * 1024;
const SIZE = scaled(64, 32) * MIB;

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: unknown;
}

/** Sends a body as fast as the server takes it, to the end or until the answer has come. */
async function sendGiant(port: number, headers: http.OutgoingHttpHeaders): Promise<Answer> {
  const request = http.request({
    host: '127.0.0.1',
    port,
    path: '/mcp',
    method: 'POST',
    headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers },
  });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  // The server may end the connection before everything is sent.
  request.on('error', () => undefined);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = SIZE;
  const send = (): void => {
    while (left > 0 && !request.destroyed) {
      left -= chunk.length;
      if (!request.write(chunk)) return void request.once('drain', send);
    }
    request.end();
  };
  send();
  const [response] = await answered;
  const body: unknown = JSON.parse(await text(response));
  return { status: response.statusCode, connection: response.headers.connection, body };
}

verifies(
  ['R14', 'S3'],
  `a body of ${SIZE / MIB} MiB gets its 413, declared or in chunks, and the server grows by less than 20 MB`,
  async () => {
    await using server = await startServerProcess();
    using client = connectRaw(server.port);
    await client.open();
    const before = await server.ask('mark');
    const growth: number[] = [];
    for (const headers of [{ 'transfer-encoding': 'chunked' }, { 'content-length': SIZE }]) {
      expect(await sendGiant(server.port, headers)).toEqual({
        status: 413,
        connection: 'close',
        body: { jsonrpc: '2.0', id: null, error: { code: -32000, message: expect.any(String) } },
      });
      growth.push((await server.ask('measure')).peakRss - before.rss);
    }
    console.info(`R14: growth ${growth.map(bytes => (bytes / 1e6).toFixed(1)).join(', then ')} MB`);
    expect(Math.max(...growth)).toBeLessThan(20e6);
    expect((await server.ask('measure')).unhandled).toEqual([]);
    expect((await client.post(initialize())).status).toBe(200);
  },
  SCALE_LIMIT_MS,
);
