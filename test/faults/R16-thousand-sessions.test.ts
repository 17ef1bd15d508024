import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw } from '../server/http-harness.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';

const SESSIONS = scaled(1000, 50);

function percentile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
}

verifies(
  ['R16', 'S5'],
  `${SESSIONS} sessions with an open stream each and as many calls at once get their own answers and no other`,
  async () => {
    await using server = await startServerProcess();
    using client = connectRaw(server.port);
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const headers = await client.open();
        const stream = await client.send({ method: 'GET', headers });
        return { text: `text of ${index}`, headers, stream };
      }),
    );
    expect((await server.ask('measure')).active).toBe(SESSIONS);

    const started = performance.now();
    const answers = await Promise.all(
      sessions.map(async ({ text, headers }) => {
        // Every session uses the same request id.
        const answer = await client.post(callTool(7, 'echo', { text }), headers);
        const [log, result, ...more] = await answer.messages();
        const got = [log?.params?.['data'], result?.id, result?.result?.content?.[0]?.text, more.length];
        return { got, ms: performance.now() - started };
      }),
    );
    expect(answers.map(({ got }) => got)).toEqual(
      sessions.map(({ text }) => [{ message: text }, 7, text, 0]),
    );

    const broadcast = { count: 1, size: 10 };
    await server.ask('broadcast', broadcast);
    const told = await Promise.all(sessions.map(({ stream }) => stream.message()));
    // The first message of each stream: nothing of any call came before it.
    expect(told.map(message => Reflect.get(Object(message.params?.['data']), 'sent'))).toEqual(
      sessions.map(() => 1),
    );

    const { peakRss, opened, closed, unhandled } = await server.ask('measure');
    const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
    console.info(
      `R16: ${SESSIONS} calls, p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms, RSS ${Math.round(peakRss / 1e6)} MB`,
    );
    expect(peakRss).toBeLessThan(300e6);
    expect([opened, closed, unhandled]).toEqual([SESSIONS, 0, []]);
  },
  SCALE_LIMIT_MS,
);
