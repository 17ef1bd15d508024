import { expect } from 'vitest';
import { openClient } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { isRunning } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

const deaf = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;

/** Ignores SIGTERM and the end of its input, and so does its child. */
const stubborn = serverProgram(`
  ${deaf}
  const inner = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}], { stdio: 'inherit' });
  fs.appendFileSync(process.env.PIDFILE, process.pid + '\\n' + inner.pid + '\\n');`);

verifies(
  ['R19', 'P3', 'S084'],
  'a disconnect ends a stubborn server and its stubborn child within 5 s',
  async () => {
    const pidFile = temporaryFile();
    const client = openClient({ server: { ...stubborn, env: { PIDFILE: pidFile } } });
    await client.ping('server');
    const pids = linesOf(pidFile).map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    const before = performance.now();
    await client.disconnect();
    expect(performance.now() - before).toBeLessThan(5500);
    expect(pids.map(isRunning)).toEqual([false, false]);
  },
);

verifies(
  ['R19', 'P3'],
  'a call in flight is told of the disconnect at once, not when the tree is gone',
  async () => {
    const pidFile = temporaryFile();
    const client = openClient({ server: { ...stubborn, env: { PIDFILE: pidFile } } });
    await client.ping('server');
    process.kill(Number(linesOf(pidFile)[0]), 'SIGSTOP');
    const before = performance.now();
    const call = client.ping('server').then(
      () => undefined,
      (error: unknown) => ({ error, after: performance.now() - before }),
    );
    const closing = client.disconnect();
    const outcome = await call;
    expect(outcome?.error).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST' });
    expect(outcome?.after).toBeLessThan(1500);
    await closing;
    expect(linesOf(pidFile).map(Number).some(isRunning)).toBe(false);
  },
);
