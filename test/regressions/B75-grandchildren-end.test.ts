import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { runHost } from '../support/host.ts';
import { nodeProgram } from '../support/node-program.ts';
import { isRunning, runningChildren, until } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

const input = regressionInput('B75-wrapper-with-grandchild.mjs');
const pidsIn = (file: string): number[] => linesOf(file).map(Number);

verifies(['B75', 'D15'], 'the whole tree of a wrapper ends with the disconnect', async () => {
  const pidFile = temporaryFile();
  const client = openClient({ wrapped: { ...input, env: { PIDFILE: pidFile } } });
  await (
    await executeOf(client, 'wrapped_echo')
  )({});
  const [grandchild = 0] = pidsIn(pidFile);
  expect(isRunning(grandchild)).toBe(true);
  const before = performance.now();
  await client.disconnect();
  expect(isRunning(grandchild)).toBe(false);
  expect(performance.now() - before).toBeLessThan(5000);
  expect(pidsIn(pidFile)).toHaveLength(1);
});

verifies('B75', 'it ends as well after a connect that failed', async () => {
  const pidFile = temporaryFile();
  const silentWrapper = nodeProgram(`
    const inner = require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit' });
    require('node:fs').appendFileSync(process.env.PIDFILE, inner.pid + '\\n');
    setInterval(() => {}, 1000);`);
  await using client = openClient({
    wrapped: { ...silentWrapper, env: { PIDFILE: pidFile }, connectTimeout: 2000 },
  });
  expect(await rejection(client.ping('wrapped'))).toMatchObject({ code: 'MCP_CLIENT_CONNECT_TIMEOUT' });
  const pids = pidsIn(pidFile);
  expect(pids).toHaveLength(1);
  await until('nothing is left', () => !pids.some(isRunning), 5000);
});

for (const [what, end] of [
  ['SIGTERM', { code: null, signal: 'SIGTERM' }],
  ['exit 7', { code: 7, signal: null }],
] as const) {
  verifies(
    ['B75', 'S083'],
    `it ends with the host, by ${what}, and how the host ends stays its own`,
    async () => {
      const pidFile = temporaryFile();
      const host = runHost({ servers: { wrapped: { ...input, env: { PIDFILE: pidFile } } } });
      await host.ready;
      if (what === 'exit 7') host.tell(what);
      else host.kill(what);
      expect(await host.exit).toEqual(end);
      await until('nothing is left', () => !pidsIn(pidFile).some(isRunning), 5000);
      expect(pidsIn(pidFile)).toHaveLength(1);
    },
    40_000,
  );
}

verifies(['B75', 'R1'], 'it ends when the wrapper is killed, and the call in flight is told', async () => {
  const pidFile = temporaryFile();
  await using client = openClient({ wrapped: { ...input, env: { PIDFILE: pidFile } } });
  const before = runningChildren();
  const echo = await executeOf(client, 'wrapped_echo');
  const [wrapper = 0] = runningChildren().filter(pid => !before.includes(pid));
  const [grandchild = 0] = pidsIn(pidFile);
  // A server that does not answer any more.
  process.kill(grandchild, 'SIGSTOP');
  const call = rejection(echo({}));
  process.kill(wrapper, 'SIGKILL');
  expect(await call).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST', mayHaveExecuted: true });
  await until('the grandchild is gone', () => !isRunning(grandchild), 5000);
});
