import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw } from '../server/http-harness.ts';
import { until } from '../support/processes.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';

const SESSIONS = scaled(1000, 100);
const IDLE_MS = 1000;

verifies(
  ['R17', 'D14'],
  `${SESSIONS} clients that vanish leave no stream, no call and, after the idle time, no session behind`,
  async () => {
    await using server = await startServerProcess({ limits: { sessionIdleMs: IDLE_MS } });
    const client = connectRaw(server.port);
    const running: Promise<unknown>[] = [];
    const open = async (hasCall: boolean): Promise<void> => {
      const headers = await client.open();
      expect((await client.send({ method: 'GET', headers })).status).toBe(200);
      if (hasCall)
        running.push(client.post(callTool(1, 'wait', { text: '' }), headers).catch(() => undefined));
    };
    // Not all at once: a session that waits for its stream is idle.
    for (let round = 0; round < SESSIONS / 20; round += 1)
      await Promise.all(Array.from({ length: 20 }, (_, index) => open(index < 2)));
    await until('the calls are running', async () => (await server.ask('waiting')) === running.length);
    expect((await server.ask('measure')).active).toBe(SESSIONS);

    const cut = performance.now();
    client.dropConnections();
    await until('all streams are released', async () => (await server.ask('measure')).active === 0, 15_000);
    console.info(`R17: ${SESSIONS} streams released in ${Math.round(performance.now() - cut)} ms`);
    expect(await server.ask('waiting')).toBe(0);
    await Promise.all(running);
    await until(
      'all sessions have ended',
      async () => (await server.ask('measure')).closed === SESSIONS,
      IDLE_MS * 5 + 10_000,
    );
    expect((await server.ask('measure')).unhandled).toEqual([]);
  },
  SCALE_LIMIT_MS,
);
