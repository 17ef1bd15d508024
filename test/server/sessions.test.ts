import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { adapters, callTool, initialize, startHarness, until } from './http-harness.ts';

const ping = { jsonrpc: '2.0', id: 3, method: 'ping' };

describe.each(adapters)('Sessions over %s', adapter => {
  verifies(
    ['S7', 'D12'],
    'end when they are idle, and not while a call runs or a stream is open',
    async () => {
      const closed: string[] = [];
      await using server = await startHarness(adapter, {
        options: { onsessionclosed: id => void closed.push(id) },
      });
      const inAnHour = (): number => performance.now() + 3_600_000;
      const [idle, calling, listening] = [await server.open(), await server.open(), await server.open()];
      const call = server.post(callTool(1, 'wait'), calling);
      const waiting = await server.tools.waiting();
      const stream = await server.send({ method: 'GET', headers: listening });
      server.http.sessions.evict();
      expect(server.http.sessions.size).toBe(3);
      server.http.sessions.evict(inAnHour());
      await until(() => closed.length > 0, 'the idle session has ended');
      expect(closed).toEqual([idle['mcp-session-id']]);
      expect((await server.post(ping, idle)).status).toBe(404);
      waiting.finish();
      expect((await call).status).toBe(200);
      stream.drop();
      await until(
        () => [...server.http.sessions.each()].every(({ transport }) => !transport.active),
        'all are idle',
      );
      server.http.sessions.evict(inAnHour());
      expect(server.http.sessions.size).toBe(0);
    },
  );

  verifies('S7', 'that are abandoned are all gone after the idle time, without anybody looking', async () => {
    await using server = await startHarness(adapter, { security: { limits: { sessionIdleMs: 300 } } });
    await Promise.all(Array.from({ length: 200 }, async () => (await server.post(initialize())).text()));
    await until(() => server.http.sessions.size === 0, 'all sessions have ended');
  });

  verifies(['S7', 'D12'], 'make room by ending the longest idle one, else 503', async () => {
    await using server = await startHarness(adapter, { security: { limits: { maxSessions: 2 } } });
    const first = await server.open();
    const second = await server.open();
    await (await server.post(ping, first)).text();
    const third = await server.open();
    expect((await server.post(ping, second)).status).toBe(404);
    const running = [first, third].map((session, id) => server.post(callTool(id, 'wait'), session));
    const calls = [await server.tools.waiting(), await server.tools.waiting()];
    const refused = await server.post(initialize());
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32000 } });
    for (const call of calls) call.finish();
    expect((await Promise.all(running)).map(answer => answer.status)).toEqual([200, 200]);
    expect((await server.post(initialize())).status).toBe(200);
  });

  test('that are opened all at once keep the limit', async () => {
    await using server = await startHarness(adapter, { security: { limits: { maxSessions: 3 } } });
    await Promise.all(Array.from({ length: 20 }, () => server.post(initialize())));
    expect(server.http.sessions.size).toBe(3);
  });

  verifies('S7', 'of one identity have a limit of their own, which anonymous callers have not', async () => {
    await using server = await startHarness(adapter, { security: { limits: { maxSessionsPerUser: 1 } } });
    const first = await server.open({ user: 'alice' });
    const bobs = await server.open({ user: 'bob' });
    await server.open({ user: 'alice' });
    expect((await server.post(ping, first, 'alice')).status).toBe(404);
    expect((await server.post(ping, bobs, 'bob')).status).toBe(200);
    const anonymous = [await server.open(), await server.open()];
    for (const session of anonymous) expect((await server.post(ping, session)).status).toBe(200);
  });
});
