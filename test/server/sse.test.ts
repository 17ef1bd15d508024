import { createServer, get, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { callTool, initialize, until } from './http-harness.ts';
import { BACKLOG, entrances, startSse, textOf, toContext } from './sse-harness.ts';

const MANY = scaled(1000, 50);
const ping = { jsonrpc: '2.0', id: 3, method: 'ping' };
const call = (id: number, name: string, args: object = {}, meta?: object) => ({
  ...callTool(id, name, args, meta),
  id,
});

describe.each(entrances)('HTTP+SSE over %s', entrance => {
  const tellsMethod = entrance !== 'bare';

  verifies(
    ['S157', 'S158', 'S159', 'X03'],
    'tells on the stream where to POST, takes messages with 202 and answers on the stream',
    async () => {
      await using server = await startSse(entrance);
      const stream = await server.send({ method: 'GET', path: '/sse' });
      expect(stream.status).toBe(200);
      expect(stream.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
      });
      const first = await stream.event();
      expect(first).toMatchObject({
        event: 'endpoint',
        data: expect.stringMatching(/^\/messages\?sessionId=[0-9a-f]{8}-[0-9a-f-]{27}$/),
      });
      const accepted = await server.send({ path: first?.data ?? '', body: initialize() });
      expect([accepted.status, await accepted.text()]).toEqual([202, 'Accepted']);
      const answer = await stream.event();
      expect(answer?.event).toBe('message');
      expect(JSON.parse(answer?.data ?? '')).toMatchObject({
        id: 1,
        result: {
          protocolVersion: '2025-11-25',
          serverInfo: { name: 'legacy' },
          capabilities: { tools: { listChanged: true }, logging: {} },
        },
      });
      stream.drop();
    },
  );

  verifies('S158', 'calls tools', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.initialize({ revision: '2024-11-05' });
    expect(textOf(await client.request(call(2, 'echo', { text: 'héllo ✓\nnext' })))).toBe('héllo ✓\nnext');
    expect((await client.request(ping)).result).toEqual({});
  });

  verifies(
    ['S157', 'S209', 'S5'],
    'serves any number of clients, each with a session of its own',
    async () => {
      await using server = await startSse(entrance);
      const users = ['ada', 'bob', 'eve', 'joe', 'kim'];
      const clients = await Promise.all(users.map(user => server.connect({ user })));
      await Promise.all(clients.map(client => client.initialize()));
      const answers = await Promise.all(clients.map(client => client.request(call(7, 'who'))));
      expect(answers.map(textOf)).toEqual(clients.map(({ id }, at) => JSON.stringify([users[at], id])));
      expect(new Set(clients.map(({ id }) => id)).size).toBe(5);
    },
  );

  verifies(
    'S5',
    `${MANY} sessions with the same request ids at once get their own answers and no other`,
    async () => {
      await using server = await startSse(entrance);
      const clients = await Promise.all(Array.from({ length: MANY }, () => server.connect()));
      const answers = await Promise.all(
        clients.map(client => client.request(call(1, 'echo', { text: `to ${client.id}` }))),
      );
      expect(answers.map(textOf)).toEqual(clients.map(({ id }) => `to ${id}`));
    },
    SCALE_LIMIT_MS,
  );

  verifies('S158', 'keeps a query of the message path', async () => {
    await using server = await startSse(entrance, { messagePath: '/messages?tenant=a%20b' });
    const client = await server.connect();
    expect(client.endpoint).toMatch(/^\/messages\?tenant=a%20b&sessionId=[0-9a-f-]{36}$/);
    expect((await client.request(ping)).result).toEqual({});
  });

  verifies('S158', 'answers other paths with an empty 404', async () => {
    await using server = await startSse(entrance);
    for (const path of ['/', '/sse/', '/message', '/SSE', '/messages/x']) {
      const answer = await server.send({ path, body: ping });
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, '']);
    }
  });

  test.runIf(tellsMethod)(
    'names the one method of a path where it refuses another (D12); a bare context does not tell it',
    async () => {
      await using server = await startSse(entrance);
      for (const [path, allow, methods] of [
        ['/sse', 'GET', ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']],
        ['/messages', 'POST', ['GET', 'PUT', 'DELETE', 'OPTIONS']],
      ] as const)
        for (const method of methods) {
          const answer = await server.send({ method, path });
          expect([path, method, answer.status, answer.headers['allow']]).toEqual([path, method, 405, allow]);
          await answer.text();
        }
    },
  );

  test.runIf(tellsMethod)(
    'can have both methods on one path, where a context tells the method: a bare one does not',
    async () => {
      await using server = await startSse(entrance, { messagePath: '/sse' });
      const client = await server.connect();
      expect(client.endpoint).toMatch(/^\/sse\?sessionId=/);
      expect((await client.request(ping)).result).toEqual({});
      expect((await server.send({ method: 'PUT', path: '/sse' })).headers['allow']).toBe('GET, POST');
    },
  );

  verifies('D12', 'refuses a session that is not named, unknown, or over', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    for (const [path, status] of [
      ['/messages', 400],
      ['/messages?sessionId=', 400],
      ['/messages?sessionId=11111111-1111-4111-8111-111111111111', 404],
    ] as const) {
      const answer = await server.send({ path, body: ping });
      expect([path, answer.status]).toEqual([path, status]);
      expect(await answer.json()).toMatchObject({ id: 3, error: { code: -32000 } });
    }
    client.stream.drop();
    await until(() => server.server.getSseTransport() === undefined, 'the node session is over');
    await until(() => server.server.getSseHonoTransport() === undefined, 'the Hono session is over');
    expect((await client.post(ping)).status).toBe(404);
  });

  verifies(['S6', 'D12'], 'does not know a session of somebody else', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect({ user: 'ada' });
    await client.initialize();
    expect((await client.post(ping, { user: 'eve' })).status).toBe(404);
    expect((await server.send({ path: client.endpoint, body: ping })).status).toBe(404);
    // Each request of the harness has a new token.
    expect(textOf(await client.request(call(2, 'who')))).toBe(JSON.stringify(['ada', client.id]));
    const anonymous = await server.connect();
    expect((await anonymous.post(ping, { user: 'eve' })).status).toBe(404);
  });

  verifies(['S7', 'D12'], 'takes no more sessions than allowed, and never ends one for another', async () => {
    const limits = { maxSessions: 3, maxSessionsPerUser: 2 };
    await using server = await startSse(entrance, { options: { limits } });
    const first = await server.connect({ user: 'ada' });
    await server.connect({ user: 'ada' });
    const third = await server.send({ method: 'GET', path: '/sse', user: 'ada' });
    expect([third.status, third.headers['retry-after']]).toEqual([503, '5']);
    await server.connect({ user: 'bob' });
    expect((await server.send({ method: 'GET', path: '/sse', user: 'joe' })).status).toBe(503);
    expect((await first.request(ping)).result).toEqual({});
    first.stream.drop();
    await until(
      () => server.server[getter(entrance)](first.id) === undefined,
      'the session has ended with its stream',
    );
    const again = await server.connect({ user: 'joe' });
    expect((await again.request(ping)).result).toEqual({});
  });

  verifies(['S157', 'B35'], 'aborts the calls of a client whose stream has ended', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    const other = await server.connect();
    await client.post(call(1, 'wait'));
    const run = await server.waiting();
    await other.post(call(1, 'wait'));
    const otherRun = await server.waiting();
    client.stream.drop();
    await run.aborted;
    otherRun.finish();
    expect(textOf(await other.answerTo(1))).toBe('finished');
  });

  verifies('D12', 'refuses bodies by media type, form, size and depth', async () => {
    const limits = { maxBodyBytes: 2000, maxJsonDepth: 10 };
    await using server = await startSse(entrance, { options: { limits } });
    const client = await server.connect();
    const text = { headers: { 'content-type': 'text/plain' } };
    const deep = { ...ping, params: { a: [[[[[[[[[[1]]]]]]]]]] } };
    for (const [body, more, status, code] of [
      [ping, text, 415, -32000],
      ['{nope', {}, 400, -32700],
      ['', {}, 400, -32700],
      [{ ...ping, jsonrpc: '1.0' }, {}, 400, -32600],
      [{ ...ping, id: null }, {}, 400, -32600],
      [deep, {}, 400, -32600],
    ] as const) {
      const answer = await client.post(body, more);
      expect([body, answer.status]).toEqual([body, status]);
      expect((await answer.json()).error?.code).toBe(code);
    }
    const big = { ...ping, params: { text: 'x'.repeat(3000) } };
    const length = String(JSON.stringify(big).length);
    expect((await client.post(big, { headers: { 'content-length': length } })).status).toBe(413);
    const noAccept = await client.post(ping, { headers: { accept: '' } });
    expect(noAccept.status).toBe(202);
  });

  verifies('D12', 'wants a reader of event streams, but does not want it to say so', async () => {
    await using server = await startSse(entrance);
    const json = await server.send({
      method: 'GET',
      path: '/sse',
      headers: { accept: 'application/json' },
    });
    expect(json.status).toBe(406);
    const any = await server.connect({ headers: { accept: '*/*' } });
    expect((await any.request(ping)).result).toEqual({});
  });

  verifies('D21', 'answers revisions that it does not serve as Streamable HTTP does', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.initialize();
    const claim = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const header = { headers: { 'mcp-protocol-version': '2026-07-28' } };
    for (const answer of [
      await client.post({ ...ping, params: { _meta: claim } }),
      await client.post(ping, header),
    ]) {
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        id: 3,
        error: {
          code: -32022,
          data: { requested: '2026-07-28', supported: expect.arrayContaining(['2024-11-05']) },
        },
      });
    }
    expect((await server.send({ method: 'GET', path: '/sse', ...header })).status).toBe(400);
    const served = await client.post(ping, { headers: { 'mcp-protocol-version': '2025-11-25' } });
    expect(served.status).toBe(202);
  });

  verifies('D12', 'takes batches up to revision 2025-03-26 and answers each request', async () => {
    await using server = await startSse(entrance);
    const batch = [call(1, 'echo', { text: 'a' }), call(2, 'echo', { text: 'b' })];
    for (const revision of ['2024-11-05', '2025-03-26']) {
      const old = await server.connect();
      await old.initialize({ revision });
      expect((await old.post(batch)).status).toBe(202);
      const answers = [await old.stream.message(), await old.stream.message()];
      expect(new Set(answers.map(textOf))).toEqual(new Set(['a', 'b']));
    }
    const recent = await server.connect();
    await recent.initialize({ revision: '2025-06-18' });
    expect((await recent.post(batch)).status).toBe(400);
    expect((await recent.post([initialize()])).status).toBe(400);
  });

  verifies('D12', 'initializes once, and runs one request per id', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.initialize();
    expect((await client.post(initialize({ id: 9 }))).status).toBe(400);
    await client.post(call(5, 'wait'));
    const run = await server.waiting();
    expect((await client.post({ ...ping, id: 5 })).status).toBe(400);
    run.finish();
    expect(textOf(await client.answerTo(5))).toBe('finished');
    expect((await client.request({ ...ping, id: 5 })).result).toEqual({});
  });

  verifies('S236', 'aborts a call that its client cancels, and answers it with nothing', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.post(call(1, 'wait'));
    const run = await server.waiting();
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await run.aborted;
    expect((await client.request({ ...ping, id: 1 })).result).toEqual({});
  });

  verifies(['S214', 'S157'], 'asks the client that called, and only that one', async () => {
    await using server = await startSse(entrance);
    const clients = await Promise.all(['ada', 'bob'].map(user => server.connect({ user })));
    await Promise.all(clients.map(client => client.initialize({ capabilities: { elicitation: {} } })));
    await Promise.all(clients.map((client, at) => client.post(call(1, 'ask', { question: `q${at}` }))));
    // In the other order than they were asked.
    for (const [at, client] of [...clients.entries()].toReversed()) {
      const question = await client.message();
      expect(question).toMatchObject({ method: 'elicitation/create', params: { message: `q${at}` } });
      await client.post({
        jsonrpc: '2.0',
        id: question.id,
        result: { action: 'accept', content: { reply: `r${at}` } },
      });
      expect(textOf(await client.answerTo(1))).toBe(`r${at}`);
    }
  });

  verifies(['S216', 'S157'], 'can be asked outside of a call when it is the only client', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.initialize({ capabilities: { elicitation: {} } });
    const asked = server.server.elicitation.sendRequest({
      message: 'sure?',
      requestedSchema: { type: 'object', properties: {} },
    });
    const question = await client.message();
    await client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    expect(await asked).toMatchObject({ action: 'decline' });
  });

  verifies(['S209', 'S208', 'S157'], 'has a log level and subscriptions per session', async () => {
    const resources = {
      listResources: async () => [{ uri: 'file:///a', name: 'a' }],
      getResourceContent: async () => ({ text: 'a' }),
    };
    await using server = await startSse(entrance, { config: { resources } });
    const loud = await server.connect();
    const quiet = await server.connect();
    for (const client of [loud, quiet]) await client.initialize();
    const setLevel = (level: string) => ({ ...ping, method: 'logging/setLevel', params: { level } });
    await loud.request(setLevel('debug'));
    await quiet.request(setLevel('error'));
    const subscribe = { ...ping, id: 4, method: 'resources/subscribe', params: { uri: 'file:///a' } };
    expect((await quiet.request(subscribe)).result).toEqual({});

    await server.server.sendLoggingMessage({ level: 'info', data: 'for loud' });
    await server.server.resources.notifyUpdated({ uri: 'file:///a' });
    await server.server.sendLoggingMessage({ level: 'error', data: 'for both' });
    expect([await loud.message(), await loud.message()]).toMatchObject([
      { method: 'notifications/message', params: { data: 'for loud' } },
      { method: 'notifications/message', params: { data: 'for both' } },
    ]);
    expect([await quiet.message(), await quiet.message()]).toMatchObject([
      { method: 'notifications/resources/updated', params: { uri: 'file:///a' } },
      { method: 'notifications/message', params: { data: 'for both' } },
    ]);
  });

  verifies(
    ['S205', 'S157'],
    'tells every client that the tools changed, also when one has left',
    async () => {
      await using server = await startSse(entrance);
      const [gone, ...here] = await Promise.all([server.connect(), server.connect(), server.connect()]);
      for (const client of [gone, ...here]) await client?.initialize();
      gone?.stream.drop();
      await server.server.toolActions.add({ more: createTool({ id: 'more', description: 'm' }) });
      for (const client of here)
        expect(await client.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    },
  );

  verifies('S211', 'sends progress before the answer', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.post(call(1, 'steps', { count: 3 }, { progressToken: 'p' }));
    const messages = [];
    for (let count = 0; count < 4; count += 1) messages.push(await client.stream.message());
    expect(messages.map(({ params, id }) => params?.['progress'] ?? id)).toEqual([1, 2, 3, 1]);
  });

  verifies(['S176', 'R18'], 'lets running calls finish when it closes, and takes nothing new', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.initialize({ capabilities: { elicitation: {} } });
    await client.post(call(1, 'ask', { question: 'q' }));
    const question = await client.message();
    const closing = server.server.close({ drainMs: 10_000 });
    const late = await client.post(call(2, 'echo', { text: 'late' }));
    expect([late.status, late.headers['retry-after']]).toEqual([503, '5']);
    const stream = await server.send({ method: 'GET', path: '/sse' });
    expect([stream.status, stream.headers['retry-after']]).toEqual([503, '5']);
    // What the running call waits for still comes in.
    const result = { action: 'accept', content: { reply: 'r' } };
    expect((await client.post({ jsonrpc: '2.0', id: question.id, result })).status).toBe(202);
    expect(textOf(await client.answerTo(1))).toBe('r');
    await closing;
    expect(await client.stream.event()).toBeUndefined();
    expect((await client.post(ping)).status).toBe(503);
  });

  verifies('S176', 'answers what is running with an error when it closes at once', async () => {
    await using server = await startSse(entrance);
    const client = await server.connect();
    await client.post(call(1, 'wait'));
    const run = await server.waiting();
    const closing = server.server.close();
    expect((await client.answerTo(1)).error?.code).toBe(-32000);
    expect(await client.stream.event()).toBeUndefined();
    await Promise.all([run.aborted, closing]);
    expect(server.server[getter(entrance)]()).toBeUndefined();
  });

  verifies(['S183', 'S184', 'S185', 'S186', 'X15'], 'gives out transports for checks', async () => {
    await using server = await startSse(entrance);
    const transportOf = (id?: string) => server.server[getter(entrance)](id);
    expect(transportOf()).toBeUndefined();
    const first = await server.connect();
    const second = await server.connect();
    expect(transportOf()?.sessionId).toBe(second.id);
    expect(transportOf(first.id)?.sessionId).toBe(first.id);
    expect(transportOf('unknown')).toBeUndefined();
    const other = getter(entrance === 'node' ? 'hono' : 'node');
    expect(server.server[other]()).toBeUndefined();
    expect(server.server[other](first.id)).toBeUndefined();
    expect(server.server.getStreamableHTTPTransport()).toBeUndefined();
  });

  verifies(['S1', 'D12'], 'checks who sends a request, on both paths', async () => {
    const allowed = { allowedHosts: ['mcp.example'], allowedOrigins: ['https://app.example'] };
    await using server = await startSse(entrance, { options: allowed });
    const client = await server.connect({ headers: { host: 'mcp.example', origin: 'https://app.example' } });
    for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
      expect((await client.post(ping, { headers })).status).toBe(403);
      expect((await server.send({ method: 'GET', path: '/sse', headers })).status).toBe(403);
    }
    expect((await client.request(ping)).result).toEqual({});
  });
});

/** The getter of a way in. */
function getter(entrance: (typeof entrances)[number]): 'getSseTransport' | 'getSseHonoTransport' {
  return entrance === 'node' ? 'getSseTransport' : 'getSseHonoTransport';
}

describe.each(['node', 'hono'] as const)('browsers over %s', entrance => {
  verifies('D12', 'get CORS headers and preflights only where it is set', async () => {
    const cors = { origins: ['https://app.example'] };
    await using server = await startSse(entrance, { options: { cors } });
    const headers = { origin: 'https://app.example' };
    for (const [path, methods] of [
      ['/sse', 'GET, OPTIONS'],
      ['/messages', 'POST, OPTIONS'],
    ] as const) {
      const preflight = await server.send({ method: 'OPTIONS', path, headers });
      expect(preflight.status).toBe(204);
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': methods,
      });
      expect((await server.send({ method: 'PUT', path, headers })).headers['allow']).toBe(methods);
    }
    const client = await server.connect({ headers });
    expect(client.stream.headers['access-control-allow-origin']).toBe('https://app.example');
    const posted = await client.post(ping, { headers });
    expect(posted.headers['access-control-allow-origin']).toBe('https://app.example');
    expect((await client.post('{', { headers })).headers['access-control-allow-origin']).toBe(
      'https://app.example',
    );
  });
});

describe.each(['hono', 'bare'] as const)('a reader over %s', entrance => {
  verifies(['R12', 'S11'], 'that does not read is cut off, and its calls are aborted', async () => {
    await using server = await startSse(entrance, { options: BACKLOG });
    const client = await server.connect();
    await client.post(call(1, 'wait'));
    const run = await server.waiting();
    await client.post(call(2, 'steps', { count: 50 }, { progressToken: 1 }));
    await run.aborted;
    await until(() => server.server.getSseHonoTransport() === undefined, 'the session has ended');
    expect((await client.post(ping)).status).toBe(404);
  });
});

describe('over node:http', () => {
  verifies(['R12', 'S11'], 'a reader that does not read is cut off at the bound', async () => {
    await using server = await startSse('node');
    const client = await server.connect();
    await client.post(call(0, 'wait'));
    const run = await server.waiting();
    let sent = 0;
    const end = new AbortController();
    void run.aborted.then(() => end.abort());
    for (; sent < 40 && !end.signal.aborted; sent += 1)
      await client.post(call(sent + 1, 'echo', { text: 'x'.repeat(1 << 20) }));
    await run.aborted;
    expect(sent).toBeLessThan(40);
    await until(() => server.server.getSseTransport() === undefined, 'the session has ended');
  });

  test('keeps the stream alive with comments, after the endpoint', async () => {
    await using server = await startSse('node', { options: { keepAliveMs: 10 } });
    const opening = get({ host: '127.0.0.1', port: server.port, path: '/sse' });
    const [response] = await once(opening, 'response');
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await until(() => text.split(': keep-alive').length > 3, 'comments arrive');
    expect(text).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[0-9a-f-]{36}\n\n: keep-alive\n\n/);
    opening.destroy();
  });

  test('a body that breaks off or stays away leaves the session as it was', async () => {
    await using server = await startSse('node', { options: { limits: { bodyTimeoutMs: 50 } } });
    const client = await server.connect();
    const headers = { 'content-type': 'application/json', 'content-length': '1000' };
    const target = { host: '127.0.0.1', port: server.port, path: client.endpoint, method: 'POST', headers };
    const slow = httpRequest(target);
    slow.write('{');
    const [answer] = await once(slow, 'response');
    expect(answer.statusCode).toBe(408);
    slow.on('error', () => undefined).destroy();
    const broken = httpRequest(target);
    broken.on('error', () => undefined);
    await new Promise(resolve => broken.write('{', resolve));
    broken.destroy();
    expect((await client.request(ping)).result).toEqual({});
  });

  verifies(
    ['X03', 'S159', 'S184', 'X15', 'X27'],
    'startHonoSSE works in a node server as its documentation shows it',
    async () => {
      const server = new MCPServer({ name: 'legacy', version: '1', tools: {} });
      let path = '';
      const answered: unknown[] = [];
      // oxlint-disable-next-line typescript/no-misused-promises -- as it is documented
      const host = createServer(async (req, res) => {
        path = req.url ?? '';
        answered.push(
          await server.startHonoSSE({
            url: new URL(req.url || '', 'http://localhost:1234'),
            ssePath: '/hono-sse',
            messagePath: '/message',
            req,
            res,
          }),
        );
      });
      await once(host.listen(0, '127.0.0.1'), 'listening');
      const { port } = host.address() as AddressInfo;
      const client = new Client({ name: 'sdk', version: '1' });
      await client.connect(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/hono-sse`)));
      await client.ping();
      const id = server.getSseHonoTransport()?.sessionId;
      expect(path).toBe(`/message?sessionId=${id}`);
      expect(server.getSseTransport()).toBeUndefined();
      expect(answered.length > 0 && answered.every(answer => answer === undefined)).toBe(true);
      await client.close();
      await until(() => server.getSseHonoTransport() === undefined, 'the session has ended with its client');
      await server.close();
      host.close();
    },
  );
});

verifies(
  ['X27', 'S162', 'S158', 'S160'],
  'each transport is served on the paths it was given and on no others',
  async () => {
    const server = new MCPServer({ name: 'legacy', version: '1', tools: {} });
    const host = createServer((req, res) => {
      const url = new URL(req.url ?? '/', 'http://localhost:1234');
      if (url.pathname.startsWith('/old'))
        void server.startSSE({ url, ssePath: '/old/sse', messagePath: '/old/message', req, res });
      else void server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
    await once(host.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    const ways = { '/mcp': StreamableHTTPClientTransport, '/old/sse': SSEClientTransport };
    for (const [path, Way] of Object.entries(ways)) {
      const client = new Client({ name: 'sdk', version: '1' });
      await client.connect(new Way(new URL(origin + path)));
      await client.ping();
      await client.close();
    }
    for (const path of ['/http', '/sse', '/old/mcp', '/old/http'])
      for (const init of [{}, { method: 'POST', body: '{}' }])
        expect([path, (await fetch(origin + path, init)).status]).toEqual([path, 404]);
    await server.close();
    host.close();
    host.closeAllConnections();
  },
);

describe('a Hono context', () => {
  test('whose body a middleware has read is served from what it kept', async () => {
    const kept: unknown[] = [];
    await using server = await startSse('hono', {
      async middleware(context) {
        const req = context.req as { raw?: Request; json: () => Promise<unknown> };
        if (req.raw?.method !== 'POST') return;
        const text = await req.raw.text();
        kept.push(text);
        req.json = async () => JSON.parse(text) as unknown;
      },
    });
    const client = await server.connect();
    expect(textOf(await client.request(call(2, 'echo', { text: 'kept' })))).toBe('kept');
    expect((await (await client.post('{"half":')).json()).error?.code).toBe(-32700);
    expect(kept).toHaveLength(2);
  });

  test('that cannot give its body is answered with 500', async () => {
    await using server = await startSse('hono', {
      async middleware(context) {
        const { raw } = context.req as { raw?: Request };
        if (raw?.method === 'POST') await raw.text();
      },
    });
    const client = await server.connect();
    expect((await client.post(ping)).status).toBe(500);
    expect(client.id).toBe(server.server.getSseHonoTransport()?.sessionId);
  });

  test.each(['hono', 'bare'] as const)(
    'makes the answers, so that what was set before is sent (%s)',
    async entrance => {
      await using server = await startSse(entrance);
      const client = await server.connect();
      if (entrance === 'hono') expect(client.stream.headers['x-set-before']).toBe('yes');
      for (const answer of [await client.post(ping), await client.post('{')])
        expect(answer.headers['x-set-before']).toBe('yes');
    },
  );

  test('below a path that the host cuts off is served by the URL of the host', async () => {
    const server = new MCPServer({ name: 'legacy', version: '1', tools: {} });
    const handle = (request: Request): Promise<Response> => {
      const url = new URL(request.url.replace('/base', ''));
      const paths = { ssePath: '/sse', messagePath: '/messages' };
      return server.startHonoSSE({ ...paths, url, context: toContext(request) });
    };
    const stream = await handle(new Request('http://127.0.0.1/base/sse'));
    expect(stream.status).toBe(200);
    const id = server.getSseHonoTransport()?.sessionId;
    const message = new Request(`http://127.0.0.1/base/messages?sessionId=${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ping),
    });
    expect((await handle(message)).status).toBe(202);
    await server.close();
  });

  test('whose client has left before the answer leaves no session', async () => {
    const server = new MCPServer({ name: 'legacy', version: '1', tools: {} });
    const request = new Request('http://127.0.0.1/sse', { signal: AbortSignal.abort() });
    const answer = await server.startHonoSSE({
      url: new URL(request.url),
      ssePath: '/sse',
      messagePath: '/messages',
      context: toContext(request),
    });
    expect(answer.status).toBe(499);
    await until(() => server.getSseHonoTransport() === undefined, 'nothing is left');
    await server.close();
  });
});

describe('what a host does wrong', () => {
  const paths = { ssePath: '/sse', messagePath: '/messages', url: new URL('http://x/sse') };
  const context = toContext(new Request('http://127.0.0.1/sse'));

  test('is said as an error of configuration, to the host alone', async () => {
    const server = new MCPServer({ name: 'legacy', version: '1', tools: {} });
    const wrong = { code: 'MCP_SERVER_CONFIGURATION_INVALID' };
    await expect(server.startHonoSSE({ ...paths, context, ssePath: 'sse' })).rejects.toMatchObject(wrong);
    await expect(server.startHonoSSE({ ...paths, context, messagePath: '' })).rejects.toMatchObject(wrong);
    const options = { keepAliveMs: -1 };
    await expect(server.startHonoSSE({ ...paths, context, options })).rejects.toMatchObject(wrong);
    await expect(server.startHonoSSE(paths as never)).rejects.toMatchObject(wrong);
    await expect(server.startSSE(paths as never)).rejects.toMatchObject(wrong);
  });
});
