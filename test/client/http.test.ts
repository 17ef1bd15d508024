import { setTimeout as delay } from 'node:timers/promises';
import { RequestContext } from '@mastra/core/request-context';
import { describe, expect, test } from 'vitest';
import { runInRequestScope } from '../../src/client/connection/request-scope.ts';
import { TransportFailure } from '../../src/client/connection/transport-failure.ts';
import { openHttp } from '../../src/client/connection/transports/http.ts';
import type { HttpServerDefinition, MastraFetchLike } from '../../src/client/options.ts';
import { verifies } from '../requirements/requirements.ts';
import {
  answerPlainly,
  rpcResult,
  sendJson,
  startEvents,
  startHttp,
  type HttpHandler,
  type HttpTestServer,
} from '../support/http-server.ts';
import { openTransport, type OpenedTransport } from '../support/open-transport.ts';
import { until } from '../support/processes.ts';
import { staticAuthProvider } from '../support/static-auth-provider.ts';

const QUICK = {
  initialReconnectionDelay: 5,
  maxReconnectionDelay: 20,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 2,
};

type HttpOptions = Omit<Partial<HttpServerDefinition>, 'url'>;

const connect = (server: HttpTestServer, definition: HttpOptions = {}): Promise<OpenedTransport> =>
  openTransport(openHttp, { url: `${server.origin}/mcp`, reconnectionOptions: QUICK, ...definition });

/** Behaves plainly except for `tools/call`. */
const onCall =
  (handler: HttpHandler): HttpHandler =>
  (request, response, incoming) =>
    request.message?.method === 'tools/call'
      ? handler(request, response, incoming)
      : answerPlainly(request, response);

/** The failure inside an answer that the transport made up. */
async function failureOf(answer: Promise<{ error?: { data?: unknown } }>): Promise<TransportFailure> {
  const failure = (await answer).error?.data;
  if (!(failure instanceof TransportFailure)) throw new Error('the answer carries no failure');
  return failure;
}

const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

describe('an answer', () => {
  test('in JSON arrives', async () => {
    await using server = await startHttp(answerPlainly);
    await using one = await connect(server);
    await one.handshake();
    expect(await one.request('tools/call', { name: 'echo', arguments: { a: 1 } })).toMatchObject({
      result: { content: [{ text: '{"a":1}' }] },
    });
  });

  verifies(['S031'], 'that is not 2xx rejects the send with its facts', async () => {
    await using server = await startHttp(
      onCall((_, response) => sendJson(response, 404, { error: { code: -32001, message: 'gone' } })),
    );
    await using one = await connect(server, { sessionId: 'mine' });
    await expect(one.request('tools/call')).rejects.toMatchObject({
      kind: 'status',
      facts: { status: 404, hadSession: true, rpcError: { code: -32001 }, mayHaveExecuted: false },
    });
  });

  test('of another content type is malformed', async () => {
    await using server = await startHttp((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome'),
    );
    await using one = await connect(server);
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'malformed',
      facts: { status: 200 },
    });
  });

  test.each([
    ['no JSON', 'oops'],
    ['no JSON-RPC', '{"a":1}'],
    ['the answer to another request', '{"jsonrpc":"2.0","id":77,"result":{}}'],
  ])('that is %s is malformed', async (_, body) => {
    await using server = await startHttp((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    await using one = await connect(server);
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'malformed',
      facts: { mayHaveExecuted: true },
    });
  });

  test.each([{ 'content-length': '5000' }, {}])('in JSON that is cut short (%j) is lost', async headers => {
    await using server = await startHttp((_, response, incoming) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.write('{"jsonrpc":"2.0",', () => incoming.socket.destroy());
    });
    await using one = await connect(server);
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'lost',
      facts: { mayHaveExecuted: true },
    });
  });

  verifies('C10', 'with an unusable session id is refused', async () => {
    await using server = await startHttp((request, response) =>
      sendJson(response, 200, rpcResult(request.message ?? {}), { 'mcp-session-id': 'x'.repeat(600) }),
    );
    await using one = await connect(server);
    await expect(one.request('initialize')).rejects.toMatchObject({ kind: 'malformed' });
    expect(one.open.transport.sessionId).toBeUndefined();
  });

  const large = 'x'.repeat(200_000);
  const shapes: Record<string, string> = {
    'application/json': `{"jsonrpc":"2.0","id":0,"result":{"text":"${large}"}}`,
    'text/event-stream': `data: {"text":"${large}"}\n\n`,
  };
  for (const [type, body] of Object.entries(shapes)) {
    verifies(
      'D15',
      `of ${type} larger than maxMessageBytes fails its request with size and limit`,
      async () => {
        await using server = await startHttp((_, response) =>
          response.writeHead(200, { 'content-type': type }).end(body),
        );
        await using one = await connect(server, { maxMessageBytes: 50_000 });
        const outcome = one.request('tools/call').then(
          ({ error }) => error?.data,
          (error: unknown) => error,
        );
        expect(await outcome).toMatchObject({
          kind: 'too-large',
          facts: { limit: 50_000, mayHaveExecuted: true },
        });
      },
    );
  }
});

describe('an event-stream answer', () => {
  test('arrives whatever its frames look like', async () => {
    await using server = await startHttp(
      onCall((request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream;charset=utf-8' });
        response.write(': hello\r\n\r\nretry: 1000\n\nevent: other\ndata: {}\n\n');
        response.end(`data:${JSON.stringify(rpcResult(request.message ?? {}))}\n\n`);
      }),
    );
    await using one = await connect(server);
    expect(await one.request('tools/call')).toHaveProperty('result');
  });

  test('of several megabytes in one event arrives before the end of the stream is judged', async () => {
    const long = 'ä'.repeat(3_000_000);
    await using server = await startHttp(
      onCall((request, response) => {
        startEvents(response)({ jsonrpc: '2.0', id: request.message?.id, result: text(long) });
        response.end();
      }),
    );
    await using one = await connect(server);
    const { result } = await one.request('tools/call');
    expect(result).toEqual(text(long));
  });

  test('whose only event lacks its blank line arrives', async () => {
    await using server = await startHttp(
      onCall((request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify(rpcResult(request.message ?? {}))}`);
      }),
    );
    await using one = await connect(server);
    expect(await one.request('tools/call')).toHaveProperty('result');
  });

  const endings: Record<string, HttpHandler> = {
    'that ends': (_, response) => response.end(),
    'that is reset': (_, __, incoming) => incoming.socket.resetAndDestroy(),
    'that ends inside a message': (_, response) => response.end('data: {"jsonrpc":"2.0","id":'),
  };
  test.each(Object.keys(endings))(
    '%s without the response and without event ids fails at once',
    async name => {
      await using server = await startHttp(
        onCall((request, response, incoming) => {
          startEvents(response)({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
          setImmediate(() => endings[name]?.(request, response, incoming));
        }),
      );
      await using one = await connect(server);
      const started = performance.now();
      expect(await failureOf(one.request('tools/call'))).toMatchObject({
        kind: 'lost',
        facts: { mayHaveExecuted: true },
      });
      expect(performance.now() - started).toBeLessThan(3000);
      expect(server.count('POST', 'tools/call')).toBe(1);
      expect(server.count('GET')).toBe(0);
    },
  );

  test('that ends after an event id is continued from there, once', async () => {
    let call: HttpHandler = () => undefined;
    await using server = await startHttp((request, response, incoming) => {
      if (request.method === 'GET') {
        const send = startEvents(response);
        send({ jsonrpc: '2.0', id: 0, result: text('resumed') }, 'b');
        return response.end();
      }
      return call(request, response, incoming);
    });
    call = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('id: a\ndata:\n\n');
    };
    await using one = await connect(server);
    expect(await one.request('tools/call')).toMatchObject({ result: text('resumed') });
    expect(server.count('GET')).toBe(1);
    expect(server.requests.at(-1)?.headers['last-event-id']).toBe('a');
  });

  test('that cannot be continued fails once its retries are used up', async () => {
    await using server = await startHttp((request, response) => {
      if (request.method === 'GET') return response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end('id: a\ndata:\n\n');
    });
    await using one = await connect(server);
    expect(await failureOf(one.request('tools/call'))).toMatchObject({ kind: 'lost' });
    expect(server.count('GET')).toBe(2);
  });

  test('whose continuation the server refuses fails at once', async () => {
    await using server = await startHttp((request, response) => {
      if (request.method === 'GET') return response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end('id: a\ndata:\n\n');
    });
    await using one = await connect(server);
    expect(await failureOf(one.request('tools/call'))).toMatchObject({ kind: 'lost' });
    expect(server.count('GET')).toBe(1);
  });

  test('keeps its place when a continuation ends before its first event', async () => {
    await using server = await startHttp((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (request.method === 'POST') return response.end('id: a\ndata:\n\n');
      if (server.count('GET') < 3) return response.end(': nothing yet\n\n');
      return response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 0, result: {} })}\n\n`);
    });
    await using one = await connect(server);
    expect(await one.request('tools/call')).toHaveProperty('result');
    const gets = server.requests.filter(({ method }) => method === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual(['a', 'a', 'a']);
  });

  test('is not continued after a JSON-RPC error answered the request', async () => {
    await using server = await startHttp((request, response) => {
      if (request.method === 'GET') return response.writeHead(500).end();
      const error = { jsonrpc: '2.0', id: request.message?.id, error: { code: -32000, message: 'no' } };
      startEvents(response)(error, 'a');
      return response.end();
    });
    await using one = await connect(server);
    expect(await one.request('tools/call')).toMatchObject({ error: { message: 'no' } });
    await delay(50);
    expect(server.count('GET')).toBe(0);
  });

  test('of a cancelled request is not waited for any longer', async () => {
    let aborted = false;
    await using server = await startHttp(
      onCall((_, response) => {
        startEvents(response);
        response.on('close', () => (aborted = true));
      }),
    );
    await using one = await connect(server);
    void one.request('tools/call');
    await until('the call arrived', () => server.count('POST', 'tools/call') === 1);
    await one.notify('notifications/cancelled', { requestId: 0 });
    await until('the answer stream is dropped', () => aborted);
    expect(one.received).toEqual([]);
  });
});

describe('a connection', () => {
  test('that is refused is unreachable, within a moment', async () => {
    const server = await startHttp(answerPlainly);
    await server.close();
    await using one = await connect(server);
    const started = performance.now();
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'unreachable',
      facts: { mayHaveExecuted: false, networkCode: 'ECONNREFUSED' },
    });
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test('reset before any byte of the answer is lost, and nothing is sent again', async () => {
    await using server = await startHttp(onCall((_, __, incoming) => incoming.socket.resetAndDestroy()));
    await using one = await connect(server);
    await expect(one.request('tools/call')).rejects.toMatchObject({
      kind: 'lost',
      facts: { mayHaveExecuted: true, networkCode: 'ECONNRESET' },
    });
    expect(server.count('POST', 'tools/call')).toBe(1);
  });

  test('closed by us ends requests and streams, and refuses more', async () => {
    let open = 0;
    await using server = await startHttp((request, response) => {
      if (request.message?.method !== 'tools/call' && request.method === 'POST') {
        return answerPlainly(request, response);
      }
      open += 1;
      response.on('close', () => (open -= 1));
      return request.method === 'GET' ? startEvents(response) : undefined;
    });
    const one = await connect(server);
    await one.handshake();
    const call = one.request('tools/call').catch((error: unknown) => error);
    await until('both are open', () => open === 2);
    await one.open.transport.close();
    expect(await call).toMatchObject({ kind: 'closed', facts: { mayHaveExecuted: true } });
    expect(one.closed()).toBe(true);
    await until('both are gone', () => open === 0);
    await expect(one.request('ping')).rejects.toMatchObject({
      kind: 'closed',
      facts: { mayHaveExecuted: false },
    });
  });
});

describe('the standalone event stream', () => {
  const onGet =
    (handler: HttpHandler): HttpHandler =>
    (request, response, incoming) =>
      request.method === 'GET' ? handler(request, response, incoming) : answerPlainly(request, response);

  const answers: Record<string, HttpHandler> = {
    '404': (_, response) => response.writeHead(404).end(),
    '405': (_, response) => response.writeHead(405).end(),
    '500': (_, response) => response.writeHead(500).end(),
    'an HTML page': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    '400 in JSON': (_, response) => sendJson(response, 400, { error: { code: -32000, message: 'Bad' } }),
    'a reset': (_, __, incoming) => incoming.socket.resetAndDestroy(),
  };
  for (const [name, answer] of Object.entries(answers)) {
    verifies(['S030', 'B09'], `answered with ${name} is noted once and not asked for again`, async () => {
      await using server = await startHttp(onGet(answer));
      await using one = await connect(server);
      await one.handshake();
      await until('the answer is noted', () => one.debug.length === 1);
      await delay(100);
      expect(await one.request('ping')).toHaveProperty('result');
      expect(server.count('GET')).toBe(1);
      expect(one.debug).toHaveLength(1);
      expect(one.errors).toEqual([]);
    });
  }

  test('is not asked for with openEventStream: false', async () => {
    await using server = await startHttp(answerPlainly);
    await using one = await connect(server, { openEventStream: false });
    await one.handshake();
    expect(await one.request('ping')).toHaveProperty('result');
    expect(server.count('GET')).toBe(0);
    expect(one.debug).toEqual([]);
  });

  test('carries messages, and is opened again when it ends', async () => {
    await using server = await startHttp(
      onGet((_, response) => {
        const send = startEvents(response);
        send({ jsonrpc: '2.0', method: 'notifications/message', params: { n: server.count('GET') } }, 'e');
        if (server.count('GET') < 3) response.end();
      }),
    );
    await using one = await connect(server);
    await one.handshake();
    await until('the third stream brought its message', () => one.received.length === 4);
    const gets = server.requests.filter(({ method }) => method === 'GET');
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e', 'e']);
  });

  test('that ends at once without end is opened ever more slowly', async () => {
    await using server = await startHttp(
      onGet((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('retry: 0\nid: 1\ndata:\n\n');
      }),
    );
    await using one = await connect(server);
    await one.handshake();
    await delay(1000);
    expect(server.count('GET')).toBeLessThan(15);
  });

  verifies(
    ['S029'],
    'a fetch that throws for it is called once, and after a stream that worked maxRetries times',
    async () => {
      let works = false;
      let gets = 0;
      const custom: MastraFetchLike = (url, init) => {
        if (init?.method !== 'GET') return fetch(url, init);
        gets += 1;
        if (!works) throw new Error('no token');
        works = false;
        return Promise.resolve(
          new Response('data:\n\n', { headers: { 'content-type': 'text/event-stream' } }),
        );
      };
      await using server = await startHttp(answerPlainly);
      await using first = await connect(server, { fetch: custom });
      await first.handshake();
      await until('it is given up', () => first.debug.length === 1);
      expect(gets).toBe(1);

      works = true;
      await using second = await connect(server, { fetch: custom });
      await second.handshake();
      await until('it is given up', () => second.debug.length === 1);
      await delay(100);
      expect(gets).toBe(1 + 1 + QUICK.maxRetries);
    },
  );

  test('with an event above the limit ends the connection', async () => {
    await using server = await startHttp(
      onGet((_, response) => startEvents(response)({ text: 'x'.repeat(100_000) })),
    );
    await using one = await connect(server, { maxMessageBytes: 10_000 });
    await one.handshake();
    await until('it is closed', () => one.closed());
    expect(one.open.closeFailure()).toMatchObject({ kind: 'too-large', facts: { limit: 10_000 } });
  });
});

describe('the session', () => {
  const withSession: HttpHandler = (request, response) => {
    if (request.message?.method !== 'initialize') return answerPlainly(request, response);
    return sendJson(response, 200, rpcResult(request.message), { 'mcp-session-id': 'sess' });
  };

  test('ends with one DELETE', async () => {
    await using server = await startHttp(withSession);
    await using one = await connect(server, { requestInit: { headers: { 'x-api-key': 'k' } } });
    await one.handshake();
    await one.open.endSession?.(1000);
    expect(server.count('DELETE')).toBe(1);
    expect(server.requests.at(-1)?.headers).toMatchObject({ 'mcp-session-id': 'sess', 'x-api-key': 'k' });
  });

  test('that does not exist needs none', async () => {
    await using server = await startHttp(answerPlainly);
    await using one = await connect(server);
    await one.handshake();
    await one.open.endSession?.(1000);
    expect(server.count('DELETE')).toBe(0);
  });

  test.each([
    ['is refused', (): HttpHandler => (_, response) => response.writeHead(500).end()],
    ['is not answered', (): HttpHandler => () => undefined],
    ['is cut', (): HttpHandler => (_, __, incoming) => incoming.socket.destroy()],
  ])('ends within the limit when the DELETE %s', async (_, handler) => {
    const onDelete = handler();
    await using server = await startHttp((request, response, incoming) =>
      request.method === 'DELETE'
        ? onDelete(request, response, incoming)
        : withSession(request, response, incoming),
    );
    await using one = await connect(server);
    await one.handshake();
    const started = performance.now();
    await one.open.endSession?.(200);
    expect(performance.now() - started).toBeLessThan(1500);
  });

  test('named in the definition is joined', async () => {
    await using server = await startHttp(answerPlainly);
    await using one = await connect(server, { sessionId: 'joined' });
    expect(one.open.transport.sessionId).toBe('joined');
    await one.request('ping');
    expect(server.requests.at(-1)?.headers['mcp-session-id']).toBe('joined');
  });
});

describe('what is sent', () => {
  verifies(
    ['S021', 'S024', 'X13'],
    'has the headers of requestInit once, in the init of a custom fetch too',
    async () => {
      const inits: RequestInit[] = [];
      const custom: MastraFetchLike = (url, init = {}) => (inits.push(init), fetch(url, init));
      await using server = await startHttp(answerPlainly);
      const requestInit = {
        headers: { Authorization: 'Bearer t', 'X-Tenant': '7' },
        credentials: 'include',
      } as const;
      await using one = await connect(server, { requestInit, fetch: custom });
      await one.handshake();
      await until('the stream was asked for', () => server.count('GET') === 1);
      expect(server.requests).toHaveLength(3);
      for (const { rawHeaders } of server.requests) {
        const names = rawHeaders.filter((_, index) => index % 2 === 0).map(name => name.toLowerCase());
        expect(names.filter(name => name === 'authorization' || name === 'x-tenant').toSorted()).toEqual([
          'authorization',
          'x-tenant',
        ]);
      }
      for (const init of inits) {
        expect(init).toMatchObject({ credentials: 'include' });
        expect(new Headers(init.headers).get('authorization')).toBe('Bearer t');
      }
    },
  );

  verifies(
    ['S025', 'S026'],
    'carries the request context of its call; the standalone stream carries none',
    async () => {
      const contexts: Record<string, unknown> = {};
      const custom: MastraFetchLike = (url, init, requestContext) => {
        const { method = 'GET', body } = init ?? {};
        const rpcMethod = typeof body === 'string' ? (JSON.parse(body) as { method: string }).method : '';
        contexts[`${method} ${rpcMethod}`.trim()] = requestContext;
        return fetch(url, init);
      };
      await using server = await startHttp(answerPlainly);
      await using one = await connect(server, { fetch: custom });
      const requestContext = new RequestContext();
      await runInRequestScope({ requestContext }, async () => {
        await one.notify('notifications/initialized');
        await one.request('tools/call');
        await until('the stream was asked for', () => server.count('GET') === 1);
      });
      await one.request('tools/list');
      expect(contexts['POST tools/call']).toBe(requestContext);
      expect(contexts['GET']).toBeNull();
      expect(contexts['POST tools/list']).toBeNull();
    },
  );

  test('continues the answer of a call with the context of that call', async () => {
    const contexts: unknown[] = [];
    const custom: MastraFetchLike = (url, init, requestContext) => {
      if (init?.method === 'GET') contexts.push(requestContext);
      return fetch(url, init);
    };
    await using server = await startHttp((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (request.method === 'POST') return response.end('id: a\ndata:\n\n');
      return response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 0, result: {} })}\n\n`);
    });
    await using one = await connect(server, { fetch: custom });
    const requestContext = new RequestContext();
    await runInRequestScope({ requestContext }, () => one.request('tools/call'));
    expect(contexts).toEqual([requestContext]);
  });
});

describe('authorization', () => {
  const challenge = 'Bearer error="insufficient_scope", scope="write"';

  test.each([401, 403])('answered %i without a provider is a refusal with its challenge', async status => {
    await using server = await startHttp((_, response) =>
      response.writeHead(status, { 'www-authenticate': challenge }).end(),
    );
    await using one = await connect(server);
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'status',
      facts: { status, challenge, mayHaveExecuted: false },
    });
    expect(server.requests).toHaveLength(1);
  });

  test('that the provider cannot get is a refusal with the same facts', async () => {
    await using server = await startHttp((request, response) =>
      request.url === '/mcp'
        ? response.writeHead(401, { 'www-authenticate': challenge }).end()
        : response.writeHead(404).end(),
    );
    const authProvider = { ...staticAuthProvider(), tokens: () => undefined };
    await using one = await connect(server, { authProvider });
    await expect(one.request('initialize')).rejects.toMatchObject({
      kind: 'status',
      facts: { status: 401, challenge, mayHaveExecuted: false },
    });
    expect(server.requests.filter(({ url }) => url === '/mcp')).toHaveLength(1);
  });

  test('that succeeds and changes nothing is not tried without end', async () => {
    await using server = await startHttp((request, response) => {
      if (request.url === '/token') {
        return sendJson(response, 200, { access_token: 'b', token_type: 'bearer' });
      }
      if (request.url !== '/mcp') return response.writeHead(404).end();
      const refuses = request.method === 'GET' || request.message?.method === 'tools/call';
      return refuses ? response.writeHead(401).end() : answerPlainly(request, response);
    });
    await using one = await connect(server, { authProvider: staticAuthProvider() });
    await one.handshake();
    await until('the stream is given up', () => one.debug.some(line => line.includes('no event stream')));
    expect(server.count('GET') - server.requests.filter(({ url }) => url.includes('well-known')).length).toBe(
      2,
    );
    await expect(one.request('tools/call')).rejects.toMatchObject({ kind: 'status', facts: { status: 401 } });
    expect(server.count('POST', 'tools/call')).toBe(2);
  });

  test('by an unlisted host is stopped by the URL policy', async () => {
    await using server = await startHttp((_, response) => response.writeHead(401).end());
    const { host } = new URL(server.origin);
    await using one = await connect(server, { allowedHosts: ['other.test'] });
    await expect(one.request('initialize')).rejects.toMatchObject({
      code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
      host,
    });
    expect(server.requests).toHaveLength(0);
  });
});
