import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { openClient, rejection } from '../support/client.ts';
import { serverProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'uncaughtException', 'warning'] as const;
const counts = (): number[] => EVENTS.map(event => process.listenerCount(event));

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

verifies(['B77', 'S084'], 'twelve clients that cannot connect leave no listener and no warning', async () => {
  const before = counts();
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const url = `http://127.0.0.1:${await closedPort()}/mcp`;
  for (let index = 0; index < 12; index += 1) {
    const client = openClient({ closed: { url }, missing: { command: '/no/such/program' } });
    await rejection(client.ping('closed'));
    await rejection(client.ping('missing'));
    expect(counts()).toEqual(before.map((count, at) => count + (EVENTS[at] === 'warning' ? 1 : 0)));
    await client.disconnect();
  }
  process.off('warning', note);
  expect(counts()).toEqual(before);
  expect(warnings).toEqual([]);
});

verifies(
  ['B77', 'S084'],
  'clients share one listener per signal while their servers run, and none remains',
  async () => {
    const before = counts();
    const clients = Array.from({ length: 12 }, () => openClient({ server: { ...serverProgram() } }));
    await Promise.all(clients.map(client => client.ping('server')));
    const added = counts().map((count, at) => count - (before[at] ?? 0));
    expect(Object.fromEntries(EVENTS.map((event, at) => [event, added[at]]))).toEqual({
      SIGINT: 1,
      SIGTERM: 1,
      SIGHUP: 1,
      exit: 1,
      beforeExit: 0,
      uncaughtException: 0,
      warning: 0,
    });
    await Promise.all(clients.map(client => client.disconnect()));
    expect(counts()).toEqual(before);
  },
);
