import { expect } from 'vitest';
import { linesOf, temporaryFile } from '../support/files.ts';
import { runHost, type Host } from '../support/host.ts';
import { serverProgram } from '../support/node-program.ts';
import { isRunning, until } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

const LIMIT_MS = 40_000;
const note = `fs.appendFileSync(process.env.PIDFILE, process.pid + '\\n');`;
const good = serverProgram(note);
const stubborn = serverProgram(`${note} process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`);

async function hostOf(
  server: ReturnType<typeof serverProgram>,
  options: { readonly exitCodeOnSigterm?: number } = {},
): Promise<Host & { readonly servers: readonly number[] }> {
  const env = { PIDFILE: temporaryFile() };
  const host = runHost({ ...options, servers: { one: { ...server, env }, two: { ...server, env } } });
  await host.ready;
  const servers = linesOf(env.PIDFILE).map(Number);
  expect(servers.map(isRunning)).toEqual([true, true]);
  return { ...host, servers };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  verifies(
    ['R20', 'D15'],
    `${signal} ends the servers and then the host, by the same signal`,
    async () => {
      const host = await hostOf(signal === 'SIGTERM' ? stubborn : good);
      const before = performance.now();
      host.kill(signal);
      expect(await host.exit).toEqual({ code: null, signal });
      expect(performance.now() - before).toBeLessThan(5000);
      expect(host.servers.some(isRunning)).toBe(false);
      expect(host.errors()).toBe('');
    },
    LIMIT_MS,
  );
}

verifies(
  ['R20', 'D15'],
  'a host with a handler for SIGTERM keeps its time and its exit code; only the servers end',
  async () => {
    const host = await hostOf(good, { exitCodeOnSigterm: 42 });
    host.kill('SIGTERM');
    expect(await host.exit).toEqual({ code: 42, signal: null });
    expect(host.servers.some(isRunning)).toBe(false);
    expect(host.errors()).toBe('');
  },
  LIMIT_MS,
);

verifies(
  'R20',
  'SIGKILL leaves servers to the end of their standard input',
  async () => {
    const host = await hostOf(good);
    host.kill('SIGKILL');
    expect(await host.exit).toEqual({ code: null, signal: 'SIGKILL' });
    await until('the servers are gone', () => !host.servers.some(isRunning), 5000);
  },
  LIMIT_MS,
);

verifies(
  ['R20', 'S084'],
  'a host ends by itself after a disconnect',
  async () => {
    const host = await hostOf(stubborn);
    host.tell('disconnect');
    expect(await host.exit).toEqual({ code: 0, signal: null });
    expect(host.servers.some(isRunning)).toBe(false);
    expect(host.errors()).toBe('');
  },
  LIMIT_MS,
);
