import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { ACCEPT, adapters, callTool, initialize, startHarness, until } from './http-harness.ts';

const ping = { jsonrpc: '2.0', id: 3, method: 'ping' };
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

describe.each(adapters)('Streamable HTTP over %s', adapter => {
  verifies(
    ['S160', 'S161', 'S171'],
    'answers initialize with JSON and a random session id, and calls with JSON',
    async () => {
      await using server = await startHarness(adapter);
      const opened = await server.post(initialize());
      expect(opened.status).toBe(200);
      expect(opened.headers['content-type']).toBe('application/json');
      expect(opened.headers['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect((await opened.json()).result?.['protocolVersion']).toBe('2025-11-25');
      const session = await server.open();
      const answer = await server.post(callTool(2, 'echo', { text: 'héllo' }), session);
      expect(answer.headers['content-type']).toBe('application/json');
      expect((await answer.json()).result?.content?.[0]?.text).toBe('héllo');
    },
  );

  verifies('S162', 'answers another path with an empty 404', async () => {
    await using server = await startHarness(adapter);
    for (const path of ['/', '/mcp/', '/mcpx', '/MCP']) {
      const answer = await server.send({ path, body: initialize() });
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, '']);
    }
  });

  verifies(['S173', 'D12'], 'names the allowed methods where it refuses one', async () => {
    await using server = await startHarness(adapter);
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'HEAD']) {
      const answer = await server.send({ method });
      expect([method, answer.status, answer.headers['allow']]).toEqual([method, 405, 'GET, POST, DELETE']);
      await answer.text();
    }
  });

  verifies(['D12', 'S2'], 'refuses bodies that are not declared as JSON', async () => {
    await using server = await startHarness(adapter);
    for (const type of ['text/plain', 'application/jsonp', 'multipart/form-data', '']) {
      const answer = await server.post(initialize(), { 'content-type': type });
      expect([type, answer.status]).toEqual([type, 415]);
      expect((await answer.json()).error).toBeDefined();
    }
    const withCharset = await server.post(initialize(), {
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(withCharset.status).toBe(200);
  });

  verifies('D12', 'refuses clients that cannot read both forms of an answer', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    for (const accept of [
      'application/json',
      'text/event-stream',
      'text/html',
      'application/jsonp, text/event-stream',
    ])
      expect([accept, (await server.post(ping, { ...session, accept })).status]).toEqual([accept, 406]);
    for (const accept of ['*/*', 'text/event-stream;q=0.5,application/json', 'application/*, text/*'])
      expect([accept, (await server.post(ping, { ...session, accept })).status]).toEqual([accept, 200]);
    expect(
      (await server.send({ method: 'GET', headers: { ...session, accept: 'application/json' } })).status,
    ).toBe(406);
  });

  verifies(['S173', 'D12'], 'answers what is not JSON with 400 and -32700', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    for (const body of ['{nope', '', '{"jsonrpc":"2.0",', '\ufeff{}', 'undefined']) {
      const answer = await server.post(body, session);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
    }
  });

  verifies(
    'D12',
    'answers JSON that is no message with 400 and -32600, with the id where it can be told',
    async () => {
      await using server = await startHarness(adapter);
      const session = await server.open();
      const cases: [unknown, unknown][] = [
        ['null', null],
        ['1', null],
        [{}, null],
        [{ ...ping, jsonrpc: '1.0' }, 3],
        [{ ...ping, id: null }, null],
        [{ ...ping, id: 1.5 }, null],
        [{ ...ping, params: [] }, 3],
        [{ ...ping, params: { _meta: 'x' } }, 3],
        [{ ...ping, extra: 1 }, 3],
        [{ jsonrpc: '2.0', id: 3 }, 3],
        [{ jsonrpc: '2.0', id: 3, result: 'x' }, 3],
      ];
      for (const [body, id] of cases) {
        const answer = await server.post(body, session);
        expect([body, answer.status]).toEqual([body, 400]);
        expect(await answer.json()).toMatchObject({ id, error: { code: -32600 } });
      }
    },
  );

  verifies('S4', 'refuses deep nesting in under 50 ms and before parsing it', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const before = performance.now();
    const answer = await server.post(
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":['.repeat(25_000)}`,
      session,
    );
    expect(performance.now() - before).toBeLessThan(150);
    expect(answer.status).toBe(400);
    expect((await answer.json()).error?.code).toBe(-32600);
    expect((await server.post('['.repeat(50_000), session)).status).toBe(400);
    const longKey = { ...ping, params: { ['k'.repeat(100_000)]: 'v'.repeat(100_000) } };
    expect((await server.post(longKey, session)).status).toBe(200);
    const deep = (levels: number): string =>
      JSON.stringify({ ...ping, params: { a: '[{'.repeat(500) } }).replace(
        '"params":{',
        `"params":{"b":${'['.repeat(levels)}${']'.repeat(levels)},`,
      );
    expect((await server.post(deep(98), session)).status).toBe(200);
    expect((await server.post(deep(99), session)).status).toBe(400);
  });

  verifies(['D12', 'S4'], 'takes batches only where revision 2025-03-26 was negotiated', async () => {
    await using server = await startHarness(adapter, { security: { limits: { maxBatch: 3 } } });
    const batch = [ping, { ...ping, id: 4 }, initialized];
    const recent = await server.open();
    expect((await server.post(batch, recent)).status).toBe(400);
    expect((await server.post([ping], recent)).status).toBe(400);
    const { 'mcp-protocol-version': _, ...silent } = recent;
    expect((await server.post(batch, silent)).status).toBe(400);
    const old = await server.open({ revision: '2025-03-26' });
    const answer = await server.post(batch, old);
    expect(answer.status).toBe(200);
    expect(JSON.parse(await answer.text())).toEqual([
      { jsonrpc: '2.0', id: 3, result: {} },
      { jsonrpc: '2.0', id: 4, result: {} },
    ]);
    expect((await server.post([...batch, initialized], old)).status).toBe(400);
    expect((await server.post([], old)).status).toBe(400);
    expect((await server.post([ping, ping], old)).status).toBe(400);
    expect((await server.post([ping, 1], old)).status).toBe(400);
    expect((await server.post([initialized], old)).status).toBe(202);
    expect((await server.post([initialize()])).status).toBe(400);
    await using unset = await startHarness(adapter);
    const many = (count: number): object[] => Array.from({ length: count }, (_, id) => ({ ...ping, id }));
    const session = await unset.open({ revision: '2025-03-26' });
    expect((await unset.post(many(100), session)).status).toBe(200);
    expect((await unset.post(many(101), session)).status).toBe(400);
  });

  verifies('S173', 'tells a missing session id from an unknown one', async () => {
    await using server = await startHarness(adapter);
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? ping : undefined;
      const missing = await server.send({ method, body });
      expect([method, missing.status]).toEqual([method, 400]);
      expect(await missing.json()).toMatchObject({ id: body?.id ?? null, error: { code: -32000 } });
      const unknown = await server.send({ method, body, headers: { 'mcp-session-id': 'no-such' } });
      expect([method, unknown.status]).toEqual([method, 404]);
      expect(await unknown.json()).toMatchObject({ id: body?.id ?? null, error: { code: -32000 } });
    }
  });

  verifies(['D12', 'S173'], 'opens no session for an introduction that says too little', async () => {
    await using server = await startHarness(adapter);
    const client = { capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    for (const params of [
      undefined,
      {},
      client,
      { ...client, protocolVersion: 1 },
      { protocolVersion: '2025-11-25' },
    ]) {
      const answer = await server.post({ jsonrpc: '2.0', id: 7, method: 'initialize', params });
      expect([answer.status, answer.headers['mcp-session-id']]).toEqual([400, undefined]);
      expect(await answer.json()).toMatchObject({ id: 7, error: { code: -32602 } });
    }
    expect(server.http.sessions.size).toBe(0);
  });

  verifies('S173', 'refuses to initialize a session twice', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const again = await server.post(initialize({ id: 9 }), session);
    expect(again.status).toBe(400);
    expect((await again.json()).id).toBe(9);
    expect((await server.post(ping, session)).status).toBe(200);
  });

  verifies('S173', 'ends a session on DELETE, after which it is unknown', async () => {
    const closed: string[] = [];
    await using server = await startHarness(adapter, {
      options: { onsessionclosed: id => void closed.push(id) },
    });
    const session = await server.open();
    const other = await server.open();
    expect((await server.send({ method: 'DELETE', headers: session })).status).toBe(200);
    expect((await server.post(ping, session)).status).toBe(404);
    expect((await server.send({ method: 'DELETE', headers: session })).status).toBe(404);
    expect((await server.post(ping, other)).status).toBe(200);
    expect(closed).toEqual([session['mcp-session-id']]);
  });

  test('answers notifications and responses with an empty 202', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    for (const body of [
      initialized,
      { jsonrpc: '2.0', id: 77, result: {} },
      { jsonrpc: '2.0', id: 77, error: { code: 1, message: '' } },
    ]) {
      const answer = await server.post(body, session);
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
  });

  test('refuses a second running request with the same id', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const first = server.post(callTool(7, 'wait'), session);
    const waiting = await server.tools.waiting();
    const second = await server.post(callTool(7, 'echo'), session);
    expect(second.status).toBe(400);
    expect(await second.json()).toMatchObject({ id: 7, error: { code: -32600 } });
    waiting.finish();
    expect((await (await first).json()).result?.content?.[0]?.text).toBe('finished');
  });

  verifies('D21', 'refuses a claimed revision that it does not serve, before any session', async () => {
    await using server = await startHarness(adapter);
    const claim = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const supported = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
    const discover = { jsonrpc: '2.0', id: 5, method: 'server/discover', params: { _meta: claim } };
    const byMeta = await server.post(discover);
    expect(byMeta.status).toBe(400);
    expect(await byMeta.json()).toMatchObject({
      id: 5,
      error: { code: -32022, data: { supported, requested: '2026-07-28' } },
    });
    const byHeader = await server.post(ping, { 'mcp-protocol-version': '1999-01-01' });
    expect(byHeader.status).toBe(400);
    expect((await byHeader.json()).error).toMatchObject({ code: -32022, data: { requested: '1999-01-01' } });
    const session = await server.open();
    const inSession = { ...session, 'mcp-protocol-version': '1999-01-01' };
    expect((await server.post(ping, inSession)).status).toBe(400);
    expect((await server.send({ method: 'GET', headers: inSession })).status).toBe(400);
    expect((await server.send({ method: 'DELETE', headers: inSession })).status).toBe(400);
    expect((await server.post(ping, session)).status).toBe(200);
  });

  verifies('D21', 'knows no server/discover', async () => {
    await using server = await startHarness(adapter);
    const answer = await server.post({ jsonrpc: '2.0', id: 5, method: 'server/discover' });
    expect(await answer.json()).toMatchObject({ id: 5, error: { code: -32601 } });
  });

  test('negotiates an offered revision that it does not know', async () => {
    await using server = await startHarness(adapter);
    const answer = await server.post(initialize({ revision: '1999-01-01' }));
    expect((await answer.json()).result?.['protocolVersion']).toBe('2025-11-25');
  });

  verifies('S6', 'hides a session from everybody but the identity that opened it', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open({ user: 'alice' });
    for (const user of ['bob', undefined]) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const sent = { method, headers: session, ...(method === 'POST' ? { body: ping } : {}) };
        const answer = await server.send(user === undefined ? sent : { ...sent, user });
        expect([user, method, answer.status]).toEqual([user, method, 404]);
        await answer.text();
      }
    }
    // Each request of hers carries another token, as after a refresh.
    expect((await server.post(ping, session, 'alice')).status).toBe(200);
    const stream = await server.send({ method: 'GET', headers: session, user: 'alice' });
    expect(stream.status).toBe(200);
    stream.drop();
    const anonymous = await server.open();
    expect((await server.post(ping, anonymous, 'bob')).status).toBe(404);
  });

  verifies(['S169', 'S170'], 'makes ids with the given generator and tells about new sessions', async () => {
    const seen: string[] = [];
    await using server = await startHarness(adapter, {
      options: { sessionIdGenerator: () => 'my-id', onsessioninitialized: id => void seen.push(id) },
    });
    expect((await server.open())['mcp-session-id']).toBe('my-id');
    expect(seen).toEqual(['my-id']);
  });

  verifies('X14', 'refuses generated ids that a header cannot carry, and says why in the log', async () => {
    for (const id of ['', 'a b', 'é', 'x'.repeat(513), undefined as unknown as string]) {
      await using server = await startHarness(adapter, { options: { sessionIdGenerator: () => id } });
      const answer = await server.post(initialize());
      expect(answer.status).toBe(500);
      expect(await answer.json()).toMatchObject({ error: { code: -32603, message: 'Internal error' } });
      expect(server.logs.join()).toContain('MCPConfigurationError Option "sessionIdGenerator" must return');
    }
    await using server = await startHarness(adapter, { options: { sessionIdGenerator: () => 'same' } });
    await server.open();
    expect((await server.post(initialize())).status).toBe(500);
  });

  test('goes on when a callback of the options fails', async () => {
    const fail = (): never => {
      throw new Error('callback');
    };
    await using server = await startHarness(adapter, {
      options: { onsessioninitialized: fail, onsessionclosed: fail },
    });
    const session = await server.open();
    expect((await server.send({ method: 'DELETE', headers: session })).status).toBe(200);
    expect(server.logs.filter(line => line.includes('callback'))).toHaveLength(2);
  });

  verifies('S8', 'writes no more than the beginning of a session id to the log', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    await server.send({ method: 'DELETE', headers: session });
    const id = session['mcp-session-id'] ?? '';
    expect(server.logs.join('\n')).toContain(id.slice(0, 8));
    expect(server.logs.join('\n')).not.toContain(id.slice(0, 9));
  });

  verifies(['D14', 'S176'], 'refuses new work while it drains, and lets running calls finish', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const running = server.post(callTool(7, 'wait'), session);
    const waiting = await server.tools.waiting();
    const closing = server.http.close({ drainMs: 5000 });
    for (const refused of [await server.post(ping, session), await server.post(initialize())]) {
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toBe('5');
      expect((await refused.json()).error?.code).toBe(-32000);
    }
    expect((await server.send({ method: 'GET', headers: session })).status).toBe(503);
    expect((await server.post(initialized, session)).status).toBe(202);
    waiting.finish();
    expect((await (await running).json()).result?.content?.[0]?.text).toBe('finished');
    await closing;
    expect(server.http.sessions.size).toBe(0);
    expect((await server.post(initialized, session)).status).toBe(503);
  });

  test('ends calls that outlast the drain with an error answer, never with an empty one', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const running = server.post(callTool(7, 'wait'), session);
    const waiting = await server.tools.waiting();
    await server.http.close({ drainMs: 20 });
    await waiting.aborted;
    expect(await (await running).json()).toMatchObject({ id: 7, error: { code: -32000 } });
  });

  verifies('S185', 'hands out the transport of a session, or of the latest', async () => {
    await using server = await startHarness(adapter);
    expect(server.http.transport()).toBeUndefined();
    const first = await server.open();
    const second = await server.open();
    expect(server.http.transport()?.sessionId).toBe(second['mcp-session-id']);
    expect(server.http.transport(first['mcp-session-id'])?.sessionId).toBe(first['mcp-session-id']);
    expect(server.http.transport('no-such')).toBeUndefined();
  });

  verifies('S5', 'never crosses answers between sessions that use the same ids', async () => {
    await using server = await startHarness(adapter);
    const sessions = await Promise.all(Array.from({ length: 50 }, () => server.open()));
    const texts = await Promise.all(
      sessions.flatMap((session, index) =>
        [1, 2].map(async id => {
          const answer = await (
            await server.post(callTool(id, 'echo', { text: `${index}-${id}` }), session)
          ).json();
          return answer.id === id && answer.result?.content?.[0]?.text === `${index}-${id}`;
        }),
      ),
    );
    expect(texts).toHaveLength(100);
    expect(texts.every(Boolean)).toBe(true);
  });

  test('still serves after a thousand malformed bodies, each answered with 4xx', async () => {
    await using server = await startHarness(adapter);
    const session = await server.open();
    const valid = JSON.stringify(callTool(1, 'echo', { text: 'x' }));
    const statuses = new Set<number>();
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 1000; round += 1) {
      const cut = random(valid.length);
      const body = valid.slice(0, cut) + String.fromCharCode(random(128)) + valid.slice(cut + random(6));
      const answer = await server.post(body, { ...session, accept: ACCEPT });
      if (answer.status !== 200 && answer.status !== 202) statuses.add(answer.status);
      await answer.text();
    }
    expect([...statuses]).toEqual([400]);
    await until(() => !server.http.transport()?.active, 'no request is left');
    expect((await server.post(ping, session)).status).toBe(200);
  });
});
