import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { MCPClient } from '../../src/client/index.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { isRunning, until } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

/** A server that notes its process id when it starts. */
function noted(pidFile: string, source = '') {
  return {
    ...serverProgram(`fs.appendFileSync(process.env.PIDFILE, process.pid + '\\n'); ${source}`),
    env: { PIDFILE: pidFile },
  };
}

const pidsIn = (file: string): number[] => linesOf(file).map(Number);

verifies('B100', 'five parallel first listings start one process', async () => {
  const pidFile = temporaryFile();
  await using client = openClient({ server: noted(pidFile) });
  const listings = await Promise.all(Array.from({ length: 5 }, () => client.listTools()));
  expect(listings.map(tools => Object.keys(tools).join())).toEqual(Array(5).fill('server_echo'));
  expect(pidsIn(pidFile)).toHaveLength(1);
});

verifies('B100', 'two reconnects at once leave one process, and the replaced one is gone', async () => {
  const pidFile = temporaryFile();
  const client = openClient({ server: noted(pidFile) });
  const echo = await executeOf(client, 'server_echo');
  await Promise.all([client.reconnectServer('server'), client.reconnectServer('server')]);
  expect(textOf(await echo({}))).toBe('ok');
  await until('one process is left', () => pidsIn(pidFile).filter(isRunning).length === 1, 5000);
  expect(isRunning(pidsIn(pidFile)[0] ?? 0)).toBe(false);
  await client.disconnect();
  expect(pidsIn(pidFile).filter(isRunning)).toEqual([]);
});

describe('a disconnect during a connect', () => {
  verifies(['B100', 'S084'], 'wins, and nothing is left', async () => {
    const pidFile = temporaryFile();
    // Long enough in starting to be disconnected meanwhile.
    const client = openClient({
      server: noted(pidFile, `process.stdin.pause(); setTimeout(() => process.stdin.resume(), 1500);`),
    });
    const connecting = rejection(client.ping('server'));
    await until('the process is there', () => pidsIn(pidFile).length === 1);
    await client.disconnect();
    expect(await connecting).toMatchObject({ mayHaveExecuted: false });
    expect(pidsIn(pidFile).filter(isRunning)).toEqual([]);
    expect(pidsIn(pidFile)).toHaveLength(1);
    expect(client.getServerStatus()['server']?.state).toBe('closed');
  });
});

verifies(
  ['B100', 'S002'],
  'a client with the id of another and a different configuration replaces it',
  async () => {
    const [oldPids, newPids] = [temporaryFile(), temporaryFile()];
    const id = randomUUID();
    const old = new MCPClient({ id, servers: { server: noted(oldPids) } });
    await old.ping('server');
    await using current = new MCPClient({ id, servers: { server: noted(newPids) } });
    await current.ping('server');
    expect(pidsIn(oldPids).filter(isRunning)).toEqual([]);
    expect(pidsIn(newPids).filter(isRunning)).toHaveLength(1);
  },
);
