import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw, initialize } from '../server/http-harness.ts';
import type { RpcAnswer } from '../server/http-harness.ts';
import { until } from '../support/processes.ts';
import { startServerProcess } from '../support/server-process.ts';

/** Two answers, one of either form, are more than a socket takes at once: they are on their way when the calls are over. */
const LENGTHS = [8 * 1024 * 1024, 8 * 1024 * 1024, 1, 1, 1, 1, 1, 1];

const hosts = {
  listen: 'a server that listens by itself',
  node: "a host's own node:http server",
  exit: 'a host that exits as soon as the server has closed',
} as const;

for (const [host, title] of Object.entries(hosts) as [keyof typeof hosts, string][]) {
  verifies(
    ['R18', 'D14', 'S176'],
    `SIGTERM to ${title} refuses new requests, gives 8 of 8 results, closes the streams and ends with code 0`,
    async () => {
      await using server = await startServerProcess({ host, drainMs: 30_000 });
      using client = connectRaw(server.port);
      const sessions = await Promise.all(LENGTHS.map(() => client.open()));
      const [first] = sessions;
      const stream = await client.send({ method: 'GET', headers: first ?? {} });
      const texts = sessions.map((_, index) => String(index));
      const running = sessions.map(async (session, index): Promise<RpcAnswer> => {
        const call = callTool(1, 'wait', { text: texts[index], times: LENGTHS[index], log: index % 2 === 0 });
        const answer = await client.post(call, session);
        const body = await answer.text();
        // Of a stream the last event counts.
        const json = body.startsWith('{') ? body : body.slice(body.lastIndexOf('data: ') + 6);
        return JSON.parse(json) as RpcAnswer;
      });
      await until('all calls are running', async () => (await server.ask('waiting')) === 8);

      server.kill('SIGTERM');
      await until('new requests are refused', async () => {
        const refused = await client.post(initialize());
        await refused.text();
        return refused.status === 503 && refused.headers['retry-after'] !== undefined;
      });
      for (const refused of [
        await client.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, first),
        await client.send({ method: 'GET', headers: sessions[1] ?? {} }),
      ]) {
        expect(refused.status).toBe(503);
        await refused.text();
      }
      expect(await server.ask('waiting')).toBe(8);

      expect(await server.ask('finish')).toBe(8);
      server.release();
      const results = (await Promise.all(running)).map(answer => answer.result?.content?.[0]?.text);
      expect(results.map((text, index) => text === texts[index]?.repeat(LENGTHS[index] ?? 0))).toEqual(
        texts.map(() => true),
      );
      expect(await stream.event()).toBeUndefined();
      expect([await server.exit, server.errors()]).toEqual([{ code: 0, signal: null }, '']);
    },
    60_000,
  );
}
