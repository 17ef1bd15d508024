import { setTimeout as delay } from 'node:timers/promises';
import { RequestContext } from '@mastra/core/request-context';
import { describe, expect, test } from 'vitest';
import { runInRequestScope } from '../../src/client/connection/request-scope.ts';
import { openSse } from '../../src/client/connection/transports/sse.ts';
import type { HttpServerDefinition, MastraFetchLike } from '../../src/client/options.ts';
import { verifies } from '../requirements/requirements.ts';
import { sendJson, startHttp, type HttpTestServer } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { openTransport, type OpenedTransport } from '../support/open-transport.ts';
import { until } from '../support/processes.ts';
import { staticAuthProvider } from '../support/static-auth-provider.ts';

type HttpOptions = Omit<Partial<HttpServerDefinition>, 'url'>;

const connect = (server: HttpTestServer, definition: HttpOptions = {}): Promise<OpenedTransport> =>
  openTransport(openSse, { url: `${server.origin}/sse`, ...definition });

const headersSent = (server: HttpTestServer, name: string): string[] =>
  server.requests.flatMap(({ rawHeaders }) =>
    rawHeaders.flatMap((field, index) =>
      index % 2 === 0 && field.toLowerCase() === name ? [String(rawHeaders[index + 1])] : [],
    ),
  );

test('a request is answered over the event stream', async () => {
  await using server = await startLegacySse();
  await using one = await connect(server);
  await one.handshake();
  expect(await one.request('tools/call', { arguments: { a: 1 } })).toMatchObject({
    result: { content: [{ text: '{"a":1}' }] },
  });
});

describe('headers', () => {
  const headers = { Authorization: 'Bearer t' };
  const adding: MastraFetchLike = (url, init) => {
    const merged = new Headers(init?.headers);
    merged.set('Authorization', 'Bearer t');
    return fetch(url, { ...init, headers: merged });
  };
  const recipes: Record<string, HttpOptions> = {
    'requestInit alone': { requestInit: { headers } },
    'requestInit and eventSourceInit.fetch': { requestInit: { headers }, eventSourceInit: { fetch: adding } },
    'a custom fetch alone': { fetch: adding },
  };
  for (const [name, definition] of Object.entries(recipes)) {
    verifies(
      ['S022', 'S028', 'S045', 'X13'],
      `of ${name} reach the stream and the messages, once each`,
      async () => {
        await using server = await startLegacySse();
        await using one = await connect(server, definition);
        await one.request('ping');
        expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
        expect(headersSent(server, 'authorization')).toEqual(['Bearer t', 'Bearer t']);
      },
    );
  }
});

verifies(['S025', 'S026'], 'messages carry the request context of their call, the stream none', async () => {
  const contexts: unknown[] = [];
  const custom: MastraFetchLike = (url, init, requestContext) => {
    contexts.push(requestContext);
    return fetch(url, init);
  };
  await using server = await startLegacySse();
  const requestContext = new RequestContext();
  await using one = await runInRequestScope({ requestContext }, () => connect(server, { fetch: custom }));
  await runInRequestScope({ requestContext }, () => one.request('ping'));
  expect(contexts).toEqual([null, requestContext]);
});

describe('the event stream', () => {
  test.each([404, 500])('refused with %i rejects the start with its facts', async status => {
    await using server = await startLegacySse({
      onGet: (_, response) => response.writeHead(status).end('no'),
    });
    await expect(connect(server)).rejects.toMatchObject({ kind: 'status', facts: { status } });
    expect(server.requests).toHaveLength(1);
  });

  test('of another content type rejects the start', async () => {
    await using server = await startLegacySse({
      onGet: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    });
    await expect(connect(server)).rejects.toMatchObject({ kind: 'malformed' });
  });

  test('of a server that is not there rejects the start as unreachable', async () => {
    const server = await startHttp(() => undefined);
    await server.close();
    await expect(connect(server)).rejects.toMatchObject({
      kind: 'unreachable',
      facts: { networkCode: 'ECONNREFUSED' },
    });
  });

  test('that ends before it names an endpoint rejects the start', async () => {
    await using server = await startLegacySse({
      onGet: (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(':\n\n'),
    });
    await expect(connect(server)).rejects.toMatchObject({ kind: 'lost' });
    expect(server.requests).toHaveLength(1);
  });

  test('that names an endpoint of another origin rejects the start', async () => {
    await using server = await startLegacySse({
      onGet: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: endpoint\ndata: http://127.0.0.1:1/messages\n\n');
      },
    });
    await expect(connect(server)).rejects.toMatchObject({ kind: 'malformed' });
  });

  test('that ends closes the connection, and nothing opens it again', async () => {
    await using server = await startLegacySse();
    await using one = await connect(server);
    await one.handshake();
    server.streams[0]?.end();
    await until('it is closed', () => one.closed());
    expect(one.open.closeFailure()).toMatchObject({ kind: 'lost', facts: { mayHaveExecuted: true } });
    await delay(100);
    expect(server.count('GET')).toBe(1);
    await expect(one.request('ping')).rejects.toMatchObject({ kind: 'lost' });
  });

  test('that is reset tells why', async () => {
    await using server = await startLegacySse();
    await using one = await connect(server);
    server.streams[0]?.socket?.resetAndDestroy();
    await until('it is closed', () => one.closed());
    expect(one.open.closeFailure()).toMatchObject({ kind: 'lost', facts: { networkCode: 'ECONNRESET' } });
  });

  verifies('D15', 'with an event above the limit closes the connection, saying so', async () => {
    await using server = await startLegacySse({
      onMessage: ({ id }) => ({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(100_000) } }),
    });
    await using one = await connect(server, { maxMessageBytes: 10_000 });
    void one.request('ping');
    await until('it is closed', () => one.closed());
    expect(one.open.closeFailure()).toMatchObject({ kind: 'too-large', facts: { limit: 10_000 } });
  });

  test('never answered ends with the close', async () => {
    await using server = await startLegacySse({ onGet: () => undefined });
    const definition = { url: `${server.origin}/sse` };
    let close: () => unknown = () => undefined;
    const opening = openTransport((resolved, deps) => {
      const open = openSse(resolved, deps);
      close = () => open.transport.close();
      return open;
    }, definition);
    const outcome = opening.catch((error: unknown) => error);
    await until('the stream was asked for', () => server.count('GET') === 1);
    close();
    expect(await outcome).toMatchObject({ kind: 'closed' });
  });
});

describe('a message', () => {
  test('that is refused rejects with its facts', async () => {
    await using server = await startLegacySse({
      onMessage: (_, { response }) => {
        sendJson(response, 400, { error: { code: -32600, message: 'bad' } });
        return 'handled';
      },
    });
    await using one = await connect(server);
    await expect(one.request('ping')).rejects.toMatchObject({
      kind: 'status',
      facts: { status: 400, rpcError: { code: -32600 } },
    });
  });
});

describe('authorization that succeeds and changes nothing', () => {
  const isOAuth = (url: string): boolean => url === '/token' || url.includes('well-known');
  const startRefusing = (refuses: 'GET' | 'POST'): Promise<HttpTestServer> =>
    startHttp((request, response) => {
      if (request.url === '/token') {
        return sendJson(response, 200, { access_token: 'b', token_type: 'bearer' });
      }
      if (isOAuth(request.url)) return response.writeHead(404).end();
      if (request.method === refuses) return response.writeHead(401).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write('event: endpoint\ndata: /messages\n\n');
    });

  test('is tried once for the stream', async () => {
    await using server = await startRefusing('GET');
    await expect(connect(server, { authProvider: staticAuthProvider() })).rejects.toMatchObject({
      kind: 'status',
      facts: { status: 401 },
    });
    expect(server.requests.filter(({ url }) => url === '/sse')).toHaveLength(2);
  });

  test('is tried once for a message', async () => {
    await using server = await startRefusing('POST');
    await using one = await connect(server, { authProvider: staticAuthProvider() });
    await expect(one.request('ping')).rejects.toMatchObject({ kind: 'status', facts: { status: 401 } });
    expect(server.count('POST', 'ping')).toBe(2);
  });
});
