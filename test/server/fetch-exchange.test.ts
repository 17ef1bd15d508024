import { describe, expect, test } from 'vitest';
import { FetchExchange } from '../../src/server/http/fetch-exchange.ts';
import { verifies } from '../requirements/requirements.ts';
import { ACCEPT, callTool, initialize, startHarness } from './http-harness.ts';

const headers = { accept: ACCEPT, 'content-type': 'application/json' };
const limits = { maxBodyBytes: 100, bodyTimeoutMs: 30 };

function toRequest(body: string | ReadableStream<Uint8Array>): Request {
  const streaming = typeof body === 'string' ? {} : { duplex: 'half' };
  return new Request('http://localhost/mcp', { method: 'POST', headers, body, ...streaming } as RequestInit);
}

describe('A body over fetch', () => {
  verifies(['D13', 'S3'], 'keeps characters that are cut across chunks', async () => {
    await using server = await startHarness('fetch', { options: { serverless: true } });
    const bytes = new TextEncoder().encode(JSON.stringify(callTool(1, 'echo', { text: 'é😀' })));
    const pieces = [...bytes];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const byte = pieces.shift();
        if (byte === undefined) controller.close();
        else controller.enqueue(Uint8Array.of(byte));
      },
    });
    const exchange = new FetchExchange(toRequest(body));
    await server.http.handle(exchange, '/mcp', { serverless: true });
    expect(await (await exchange.response).text()).toContain('é😀');
  });

  test('is bounded in size and time, and may break off', async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: controller => controller.enqueue(new Uint8Array(60)),
      cancel: () => void (cancelled = true),
    });
    expect(await new FetchExchange(toRequest(endless)).readBody(limits)).toEqual({ kind: 'too-large' });
    expect(cancelled).toBe(true);
    const silent = new ReadableStream<Uint8Array>({});
    expect(await new FetchExchange(toRequest(silent)).readBody(limits)).toEqual({ kind: 'too-slow' });
    const broken = new ReadableStream<Uint8Array>({
      pull: controller => controller.error(new Error('reset')),
    });
    expect(await new FetchExchange(toRequest(broken)).readBody(limits)).toEqual({ kind: 'gone' });
    const declared = new Request('http://localhost/', {
      method: 'POST',
      body: 'x',
      headers: { 'content-length': '101' },
    });
    expect(await new FetchExchange(declared).readBody(limits)).toEqual({ kind: 'too-large' });
    const none = new Request('http://localhost/', { method: 'POST' });
    expect(await new FetchExchange(none).readBody(limits)).toEqual({
      kind: 'bytes',
      bytes: new Uint8Array(),
    });
  });
});

test('A request whose body breaks off is answered, though nobody may read it', async () => {
  await using server = await startHarness('fetch');
  const body = new ReadableStream<Uint8Array>({ pull: controller => controller.error(new Error('reset')) });
  const exchange = new FetchExchange(toRequest(body));
  await server.http.handle(exchange, undefined, undefined);
  expect((await exchange.response).status).toBe(400);
});

describe('The answer over fetch', () => {
  verifies('D13', 'streams, and a reader that cancels aborts the call', async () => {
    await using server = await startHarness('fetch');
    const session = await server.open();
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify(callTool(2, 'wait', {}, { progressToken: 1 })),
    });
    const exchange = new FetchExchange(request);
    void server.http.handle(exchange, undefined, undefined);
    const waiting = await server.tools.waiting();
    await waiting.call.emit({ kind: 'progress', progress: 1 });
    const reader = (await exchange.response).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('notifications/progress');
    await reader?.cancel();
    await waiting.aborted;
  });

  verifies('D13', 'tells tools the request, who sent it and the given context', async () => {
    await using server = await startHarness('fetch');
    const session = await server.open({ user: 'alice' });
    await (await server.post(callTool(2, 'echo'), session, 'alice')).text();
    const [call] = server.tools.calls;
    expect(call?.wire.req).toBeInstanceOf(Request);
    expect(call?.wire.sessionId).toBe(session['mcp-session-id']);
    expect(call?.authInfo).toMatchObject({ extra: { sub: 'alice' } });
  });

  test('settles at once for a request that was aborted before', async () => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers,
      body: JSON.stringify(initialize()),
      signal: AbortSignal.abort(),
    });
    const exchange = new FetchExchange(request);
    let gone = 0;
    exchange.onGone(() => (gone += 1));
    await exchange.answered;
    expect([gone, (await exchange.response).status]).toEqual([1, 499]);
  });

  test('counts what waits for a reader, and ends after it', async () => {
    const exchange = new FetchExchange(new Request('http://localhost/'));
    const sink = exchange.openStream({ 'content-type': 'text/event-stream' });
    sink.write('é');
    sink.write('b');
    expect([sink.waitingChunks, sink.waitingBytes]).toEqual([2, 3]);
    sink.end('c');
    sink.write('never');
    expect(await (await exchange.response).text()).toBe('ébc');
    expect([sink.waitingChunks, sink.waitingBytes]).toEqual([0, 0]);
  });

  test('fails for a reader whose stream was destroyed', async () => {
    const exchange = new FetchExchange(new Request('http://localhost/'));
    const sink = exchange.openStream({});
    sink.write('a');
    sink.destroy();
    await expect((await exchange.response).text()).rejects.toThrow('closed before its end');
  });
});
