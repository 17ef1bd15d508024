import { expect, vi } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw } from '../server/http-harness.ts';
import { createFixtureServer } from '../support/fixture-server.ts';
import { openClient } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { startServerProcess } from '../support/server-process.ts';

const IDLE_MS = 1500;
const STALL_MS = 2000;

verifies(
  ['R27', 'S7'],
  'a request that waited through a stall of 2 s finds its session; one that nobody uses ends all the same',
  async () => {
    await using server = await startServerProcess({ limits: { sessionIdleMs: IDLE_MS } });
    using client = connectRaw(server.port);
    const session = await client.open();
    await server.ask('stall', STALL_MS);
    const started = performance.now();
    const answer = await client.post(callTool(7, 'echo', { text: 'still here' }), session);
    // It did wait, longer than a session may be idle.
    expect(performance.now() - started).toBeGreaterThan(IDLE_MS);
    expect(answer.status).toBe(200);
    expect((await answer.messages()).at(-1)).toMatchObject({ result: { content: [{ text: 'still here' }] } });
    await until('the idle session has ended', async () => (await server.ask('measure')).closed === 1);
    expect((await server.ask('measure')).unhandled).toEqual([]);
  },
  60_000,
);

verifies(['R27', 'S7'], 'a clock that is put a year ahead ends no session and no request', async () => {
  await using server = createFixtureServer({ limits: { sessionIdleMs: 2000 } });
  const { url } = await server.listen({ port: 0 });
  await using client = openClient({ s: { url, openEventStream: false } });
  await client.ping('s');
  const before = client.sessionIds['s'];
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    vi.setSystemTime(Date.now() + 365 * 86_400_000);
    // Every sweep comes four times in the idle time; nothing is left to wait for but time itself.
    await new Promise(resolve => setTimeout(resolve, 1200));
    await client.ping('s');
  } finally {
    vi.useRealTimers();
  }
  expect(client.sessionIds['s']).toBe(before);
});
