import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { connectRaw } from '../server/http-harness.ts';
import { until } from '../support/processes.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';

const SESSIONS = scaled(2000, 200);
const IDLE_MS = scaled(2000, 500);

verifies(
  ['R15', 'S7'],
  `${SESSIONS} abandoned sessions are all gone after the idle time, and so is what they cost`,
  async () => {
    await using server = await startServerProcess({ limits: { sessionIdleMs: IDLE_MS } });
    using client = connectRaw(server.port);
    const abandon = async (count: number): Promise<Record<string, string>[]> => {
      const sessions: Record<string, string>[] = [];
      for (let round = 0; round < count / 50; round += 1)
        sessions.push(...(await Promise.all(Array.from({ length: 50 }, () => client.open()))));
      await until(
        'all sessions have ended',
        async () => {
          const { opened, closed } = await server.ask('measure');
          return closed === opened;
        },
        IDLE_MS * 5 + 10_000,
      );
      return sessions;
    };
    // The first sessions load and compile what all need.
    await abandon(100);
    const before = await server.ask('mark');
    const sessions = await abandon(SESSIONS);
    const after = await server.ask('measure');
    const megabytes = [before, after].map(({ heapUsed }) => (heapUsed / 1e6).toFixed(1));
    console.info(`R15: ${SESSIONS} sessions, heap ${megabytes.join(' -> ')} MB`);
    expect([after.closed, after.unhandled]).toEqual([SESSIONS + 100, []]);
    expect(after.heapUsed).toBeLessThan(before.heapUsed * 1.1);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const session of [sessions[0], sessions.at(-1)])
      expect((await client.post(ping, session)).status).toBe(404);
  },
  SCALE_LIMIT_MS,
);
