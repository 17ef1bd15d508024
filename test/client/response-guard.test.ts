import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  assertSessionId,
  guardEvents,
  guardJson,
  mediaType,
  noEventStream,
  toNetworkFailure,
  toRefusal,
  toUnexpectedType,
} from '../../src/client/connection/response-guard.ts';
import type { TransportFailure } from '../../src/client/connection/transport-failure.ts';
import { verifies } from '../requirements/requirements.ts';
import { startHttp } from '../support/http-server.ts';

const sent = { hadSession: false, secrets: [] };
const streamOf = (...chunks: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

async function fetchFailure(url: string): Promise<TransportFailure> {
  const error: unknown = await fetch(url).catch((thrown: unknown) => thrown);
  return toNetworkFailure(error);
}

describe('a refused request', () => {
  test('keeps status, challenge, session and the JSON-RPC error with its data', async () => {
    const error = { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } };
    const response = new Response(JSON.stringify({ jsonrpc: '2.0', id: null, error }), {
      status: 400,
      headers: { 'www-authenticate': 'Bearer scope="a b"' },
    });
    const failure = await toRefusal(response, { ...sent, hadSession: true });
    expect(failure).toMatchObject({
      kind: 'status',
      facts: { status: 400, hadSession: true, rpcError: error, challenge: 'Bearer scope="a b"' },
    });
    expect(failure.message).toBe('HTTP 400: error -32022 "Unsupported"');
  });

  test.each([
    [401, false],
    [404, false],
    [405, false],
    [429, false],
    [400, true],
    [500, true],
    [502, true],
  ])('with status %i may have run: %s', async (status, mayHaveExecuted) => {
    expect((await toRefusal(new Response(null, { status }), sent)).facts.mayHaveExecuted).toBe(
      mayHaveExecuted,
    );
  });

  test('shows a short text, JSON-encoded and cut, and no HTML page', async () => {
    expect((await toRefusal(new Response('bad\n"gateway"', { status: 502 }), sent)).message).toBe(
      'HTTP 502: "bad\\n\\"gateway\\""',
    );
    expect(
      (await toRefusal(new Response('x'.repeat(5000), { status: 500 }), sent)).message.length,
    ).toBeLessThan(400);
    expect((await toRefusal(new Response('<!doctype html><p>x', { status: 500 }), sent)).message).toBe(
      'HTTP 500: an HTML page',
    );
  });

  test('never shows credentials that the server sends back', async () => {
    const body = 'got Bearer abc.def-123 and key=super-secret-key';
    const failure = await toRefusal(new Response(body, { status: 400 }), {
      ...sent,
      secrets: ['super-secret-key'],
    });
    expect(failure.message).toBe('HTTP 400: "got Bearer [redacted] and key=[redacted]"');
  });

  test('reads at most 64 KB of an endless body', async () => {
    await using server = await startHttp((_, response) => {
      response.writeHead(500);
      const page = Buffer.alloc(16_384, 'x');
      const write = (): void => {
        while (!response.destroyed && response.write(page));
      };
      response.on('drain', write);
      write();
    });
    expect((await toRefusal(await fetch(server.origin), sent)).facts.status).toBe(500);
  });

  test('waits at most two seconds for a body that hangs', async () => {
    await using server = await startHttp((_, response) => response.writeHead(404).write('half'));
    const started = performance.now();
    expect((await toRefusal(await fetch(server.origin), sent)).message).toBe('HTTP 404: "half"');
    expect(performance.now() - started).toBeLessThan(6000);
  });
});

describe('a network error', () => {
  test('of a refused connection is certain: nothing ran', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await fetchFailure(`http://127.0.0.1:${port}`)).toMatchObject({
      kind: 'unreachable',
      facts: { mayHaveExecuted: false, networkCode: 'ECONNREFUSED' },
    });
    // Two addresses, both refused: the cause is then an AggregateError.
    expect(await fetchFailure(`http://localhost:${port}`)).toMatchObject({ kind: 'unreachable' });
  });

  test('of an unknown host is certain', async () => {
    expect(await fetchFailure('http://nowhere.invalid')).toMatchObject({
      kind: 'unreachable',
      facts: { mayHaveExecuted: false },
    });
  });

  test('of TLS against a plain server is certain', async () => {
    await using server = await startHttp((_, response) => response.end());
    expect(await fetchFailure(server.origin.replace('http', 'https'))).toMatchObject({
      kind: 'unreachable',
      facts: { networkCode: 'ERR_SSL_WRONG_VERSION_NUMBER' },
    });
  });

  test('of a connection that was reset is not certain', async () => {
    await using server = await startHttp((_, __, incoming) => incoming.socket.resetAndDestroy());
    expect(await fetchFailure(server.origin)).toMatchObject({
      kind: 'lost',
      facts: { mayHaveExecuted: true, networkCode: 'ECONNRESET' },
    });
  });

  test.each([
    [new Error('no token'), 'lost'],
    [{ code: 'ECONNREFUSED' }, 'unreachable'],
    [new TypeError('fetch failed', { cause: { code: 'ETIMEDOUT', syscall: 'read' } }), 'lost'],
    [new TypeError('fetch failed', { cause: { code: 'ETIMEDOUT', syscall: 'connect' } }), 'unreachable'],
    [new TypeError('fetch failed', { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }), 'lost'],
    [undefined, 'lost'],
  ])('%s of a custom fetch is %s', (error, kind) => {
    expect(toNetworkFailure(error).kind).toBe(kind);
  });
});

describe('a session id', () => {
  const withId = (id: string): Response => new Response(null, { headers: { 'mcp-session-id': id } });

  for (const id of ['a\tb', 'a b', 'é', 'x'.repeat(513), 'x'.repeat(65_536), '']) {
    verifies('C10', `${JSON.stringify(id.slice(0, 8))} of length ${id.length} is refused`, async () => {
      await expect(assertSessionId(withId(id))).rejects.toMatchObject({ kind: 'malformed' });
    });
  }

  verifies('C10', 'of 512 visible characters is taken, and none at all', async () => {
    await assertSessionId(withId('~'.repeat(512)));
    await assertSessionId(new Response(null));
  });
});

test('the media type is compared in lower case and without parameters', () => {
  const typed = (type: string): Response => new Response(null, { headers: { 'content-type': type } });
  expect(mediaType(typed('Text/Event-Stream;charset=utf-8'))).toBe('text/event-stream');
  expect(mediaType(new Response(null))).toBe('');
});

test('another content type is malformed, and the request may have run', async () => {
  const response = new Response('<html>', { headers: { 'content-type': 'text/html' } });
  expect(await toUnexpectedType(response)).toMatchObject({
    kind: 'malformed',
    facts: { mayHaveExecuted: true },
  });
});

test('the answer for no event stream is 405', () => expect(noEventStream().status).toBe(405));

describe('a JSON answer', () => {
  verifies(['C9', 'D15'], 'above the limit by its declared length is refused before it is read', async () => {
    await using server = await startHttp((_, response) => response.end('x'.repeat(2000)));
    await expect(guardJson(await fetch(server.origin), 1000)).rejects.toMatchObject({
      kind: 'too-large',
      facts: { size: 2000, limit: 1000 },
    });
  });

  verifies(['C9', 'D15'], 'above the limit without a declared length fails while it is read', async () => {
    const guarded = await guardJson(new Response(streamOf('{"a":"', 'x'.repeat(2000), '"}')), 1000);
    await expect(guarded.json()).rejects.toMatchObject({ kind: 'too-large', facts: { limit: 1000 } });
  });

  verifies(
    ['C9', 'D15'],
    'above the limit once unpacked fails although its declared length is small',
    async () => {
      await using server = await startHttp((_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000)));
      });
      const guarded = await guardJson(await fetch(server.origin), 1000);
      await expect(guarded.text()).rejects.toMatchObject({ kind: 'too-large' });
    },
  );

  test('within the limit arrives as it is', async () => {
    expect(await (await guardJson(new Response(streamOf('{"a"', ':1}')), 7)).json()).toEqual({ a: 1 });
  });
});

describe('an event stream', () => {
  type End = { lastEventId: string | undefined; failure: TransportFailure | undefined };

  async function read(response: Response, maxEventBytes = 1000): Promise<{ text: string; ends: End[] }> {
    const ends: End[] = [];
    const guarded = guardEvents(response, {
      maxEventBytes,
      onEnd: (lastEventId, failure) => ends.push({ lastEventId, failure }),
    });
    return { text: await guarded.text(), ends };
  }

  test('arrives as it is and tells its end once, with the last event id', async () => {
    const text = 'id: 1\ndata: x\n\n: comment\n\n';
    expect(await read(new Response(streamOf(text)))).toEqual({
      text,
      ends: [{ lastEventId: '1', failure: undefined }],
    });
  });

  test('whose last event lacks its blank line gets one', async () => {
    expect((await read(new Response(streamOf('data: {}\n')))).text).toBe('data: {}\n\n\n');
  });

  verifies(['C9', 'D15'], 'ends at an event above the limit, keeping what came before', async () => {
    const { text, ends } = await read(
      new Response(streamOf('data: 1\n\n', `data: ${'x'.repeat(2000)}`, 'more')),
    );
    expect(text).toBe('data: 1\n\n');
    expect(ends).toMatchObject([{ failure: { kind: 'too-large', facts: { limit: 1000 } } }]);
  });

  test('has no limit for all its events together', async () => {
    const event = `data: ${'x'.repeat(900)}\n\n`;
    const { text, ends } = await read(new Response(streamOf(event, event, event)));
    expect(text.length).toBe(3 * event.length);
    expect(ends).toMatchObject([{ failure: undefined }]);
  });

  test('that is reset tells so after what had arrived', async () => {
    await using server = await startHttp((_, response, incoming) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n', () => incoming.socket.resetAndDestroy());
    });
    const { text, ends } = await read(await fetch(server.origin));
    expect(text).toBe('data: 1\n\n');
    expect(ends).toMatchObject([{ failure: { kind: 'lost', facts: { mayHaveExecuted: true } } }]);
  });
});
