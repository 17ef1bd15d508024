import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { describe, expect, test } from 'vitest';
import { NodeExchange } from '../../src/server/http/node-exchange.ts';
import { verifies } from '../requirements/requirements.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import { ACCEPT, callTool, initialize, startHarness, until } from './http-harness.ts';
import type { Harness } from './http-harness.ts';

/** A POST written by hand, cut into the given pieces, each of which arrives on its own. */
async function postInPieces(server: Harness, headers: string[], pieces: Buffer[]): Promise<string> {
  const socket = net.connect(server.port, '127.0.0.1').setNoDelay();
  const head = [
    'POST /mcp HTTP/1.1',
    `host: ${server.host}`,
    `accept: ${ACCEPT}`,
    'content-type: application/json',
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  for (const piece of pieces) {
    await new Promise(resolve => setImmediate(resolve));
    await new Promise(resolve => socket.write(piece, resolve));
  }
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (/\r\n\r\n.+/s.test(answer)) break;
  }
  socket.destroy();
  return answer;
}

describe('A body over node:http', () => {
  verifies('S3', 'keeps characters that are cut across packets', async () => {
    await using server = await startHarness('node', { options: { serverless: true } });
    const text = 'é–日本語😀'.repeat(20);
    const body = Buffer.from(JSON.stringify(callTool(1, 'echo', { text })));
    const answer = await postInPieces(
      server,
      [`content-length: ${body.length}`],
      [...body].map(byte => Buffer.of(byte)),
    );
    const { result } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as {
      result: { content: { text: string }[] };
    };
    expect(result.content[0]?.text).toBe(text);
  });

  verifies('S3', 'that is not UTF-8 is refused', async () => {
    await using server = await startHarness('node');
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
      Buffer.of(0xff, 0xfe),
      Buffer.from('"}'),
    ]);
    const answer = await postInPieces(server, [`content-length: ${body.length}`], [body]);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('-32700');
  });

  verifies(
    ['S3', 'D12'],
    'above the limit is answered with 413 before it was read, and the connection ends',
    async () => {
      await using server = await startHarness('node', { security: { limits: { maxBodyBytes: 1000 } } });
      const declared = await server.post(JSON.stringify(callTool(1, 'echo', { text: 'x'.repeat(1000) })));
      expect([declared.status, declared.headers['connection']]).toEqual([413, 'close']);
      expect(await declared.json()).toMatchObject({ id: null, error: { code: -32000 } });
      const piece = Buffer.from(`400\r\n${'x'.repeat(0x400)}\r\n`);
      const chunked = await postInPieces(server, ['transfer-encoding: chunked'], [piece]);
      expect(chunked).toMatch(/^HTTP\/1.1 413 /);
      const fits = JSON.stringify(initialize()).padEnd(1000);
      expect((await server.post(fits)).status).toBe(200);
    },
  );

  verifies(['S3', 'D12'], 'that does not arrive in time is answered with 408', async () => {
    await using server = await startHarness('node', { security: { limits: { bodyTimeoutMs: 30 } } });
    const answer = await postInPieces(server, ['content-length: 100'], [Buffer.from('{')]);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });

  verifies('S3', 'that breaks off, fifty times, leaves nothing behind', async () => {
    using unhandled = collectUnhandled();
    await using server = await startHarness('node');
    const sockets = Array.from({ length: 50 }, () => {
      const socket = net.connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: ${server.host}\r\naccept: ${ACCEPT}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"half`,
      );
      return socket;
    });
    await Promise.all(sockets.map(socket => once(socket, 'connect')));
    for (const socket of sockets) socket.destroy();
    expect((await server.post(initialize())).status).toBe(200);
    expect(server.logs.filter(line => line.includes('Error'))).toEqual([]);
    expect(await unhandled.found()).toEqual([]);
  });

  verifies('S174', 'parsed by a middleware is used, with the same checks', async () => {
    const bodies: [unknown, number][] = [
      [initialize(), 200],
      [JSON.stringify(initialize()), 200],
      [Buffer.from(JSON.stringify(initialize())), 200],
      ['{', 400],
      [{ jsonrpc: '2.0' }, 400],
      [[], 400],
      [
        JSON.parse(
          `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`,
        ),
        400,
      ],
    ];
    for (const [body, status] of bodies) {
      await using server = await startHarness('node', {
        middleware: async req => {
          req.resume();
          await once(req, 'end');
          Object.assign(req, { body });
        },
      });
      expect([body, (await server.post(initialize())).status]).toEqual([body, status]);
    }
  });

  verifies('S174', 'is read where a parser left an empty object beside the unread stream', async () => {
    await using server = await startHarness('node', {
      middleware: req => void Object.assign(req, { body: {} }),
    });
    expect((await server.post(initialize())).status).toBe(200);
  });
});

describe('The path over node:http', () => {
  verifies('X34', 'is the one the client sent, also where a router cut it', async () => {
    for (const [url, originalUrl, status] of [
      ['/', '/mcp?x=1', 200],
      ['/mcp', '/prefix/mcp', 200],
      ['/', '/other', 404],
    ] as const) {
      await using server = await startHarness('node', {
        middleware: req => void Object.assign(req, { url, originalUrl }),
      });
      expect([originalUrl, (await server.post(initialize())).status]).toEqual([originalUrl, status]);
    }
  });

  test('may carry a query', async () => {
    await using server = await startHarness('node');
    expect((await server.send({ path: '/mcp?a=b', body: initialize() })).status).toBe(200);
  });
});

describe('startHTTP', () => {
  verifies(
    'X35',
    'resolves when a JSON answer has ended, or when the headers of a stream are sent',
    async () => {
      const done: string[] = [];
      await using server = await startHarness('node', {
        onHandled: res => void done.push(`headersSent=${res.headersSent} ended=${res.writableEnded}`),
      });
      const session = await server.open();
      done.length = 0;
      await (await server.post(callTool(1, 'echo'), session)).text();
      await until(() => done.length === 1, 'the JSON answer is handled');
      const stream = await server.send({ method: 'GET', headers: session });
      await until(() => done.length === 2, 'the stream is handled');
      expect(done).toEqual(['headersSent=true ended=true', 'headersSent=true ended=false']);
      stream.drop();
    },
  );

  test('resolves when the client left before an answer began', async () => {
    const done: string[] = [];
    await using server = await startHarness('node', { onHandled: () => void done.push('handled') });
    const request = server.post(callTool(1, 'wait'), await server.open()).catch(() => undefined);
    await server.tools.waiting();
    done.length = 0;
    server.dropConnections();
    await request;
    await until(() => done.length === 1, 'the request is handled');
  });
});

describe('NodeExchange', () => {
  test('tells the URL of a request, whatever Host the client names', () => {
    for (const [host, href] of [
      ['example.com:8080', 'http://example.com:8080/a?b=1'],
      ['not a host', 'http://localhost/a?b=1'],
      [undefined, 'http://localhost/a?b=1'],
    ] as const) {
      const req = Object.assign(new http.IncomingMessage(new net.Socket()), { url: '/a?b=1', method: 'GET' });
      if (host !== undefined) req.headers.host = host;
      expect(new NodeExchange(req, new http.ServerResponse(req)).wire.url?.href).toBe(href);
    }
  });

  test('takes no second answer', async () => {
    const server = http.createServer((req, res) => {
      const exchange = new NodeExchange(req, res);
      exchange.answer(200, {}, 'first');
      exchange.answer(500, {}, 'second');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('first');
    server.close();
  });
});
