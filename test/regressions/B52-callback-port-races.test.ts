import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'vitest';
import type { MCPClient } from '../../src/client/index.ts';
import { openClient, rejection } from '../support/client.ts';
import { follow, loopbackProvider, testUser, type TestUser } from '../support/oauth-client.ts';
import { until } from '../support/processes.ts';
import { startRawIssuer, type RawIssuer } from '../support/raw-issuer.ts';
import { verifies } from '../requirements/requirements.ts';

const PORT = 38_911;
const redirectUrl = `http://127.0.0.1:${PORT}/cb`;

const clientOf = (issuer: RawIssuer, user: TestUser<unknown>): MCPClient =>
  openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ ...user, redirectUrl }) } });

/** The port on which a user will come back. */
const portOf = (user: TestUser<unknown>): number =>
  Number(new URL(user.opened.at(-1)?.searchParams.get('redirect_uri') ?? '').port);

async function assertFree(port: number): Promise<void> {
  const server = createServer();
  await once(server.listen({ port, host: '127.0.0.1' }), 'listening');
  server.close();
  await once(server, 'close');
}

verifies('B52', 'a login whose port is taken uses the next one, which was registered', async () => {
  const taken = createServer();
  await once(taken.listen(PORT, '127.0.0.1'), 'listening');
  try {
    await using issuer = await startRawIssuer();
    const user = testUser();
    await using client = clientOf(issuer, user);
    await client.authenticate('s');
    expect(portOf(user)).toBe(PORT + 1);
    expect(issuer.registrations[0]?.['redirect_uris']).toContain(`http://127.0.0.1:${PORT + 1}/cb`);
  } finally {
    taken.close();
    await once(taken, 'close');
  }
});

verifies('B52', 'two logins at once, begun and ended in any order, each get their own code', async () => {
  await using one = await startRawIssuer();
  await using other = await startRawIssuer();
  const idle = async (): Promise<void> => undefined;
  const users = [testUser(idle), testUser(idle)];
  const clients = [one, other].map((issuer, index) => clientOf(issuer, users[index] ?? testUser()));
  try {
    const logins = clients.map(client => client.authenticate('s'));
    await until('both pages are opened', () => users.every(user => user.opened.length === 1));
    expect(new Set(users.map(portOf)).size).toBe(2);
    for (const user of users.toReversed()) for (const page of user.opened) await follow(page);
    await Promise.all(logins);
    expect([one, other].map(({ tokenRequests }) => tokenRequests.length)).toEqual([1, 1]);
  } finally {
    await Promise.all(clients.map(client => client.disconnect()));
  }
});

verifies('B52', 'the port is free after success, refusal, abort and time-out', async () => {
  const idle = testUser(async () => undefined);
  await using good = await startRawIssuer();
  await using denying = await startRawIssuer({ returns: ({ iss }) => ({ iss, error: 'access_denied' }) });

  const user = testUser();
  await using client = clientOf(good, user);
  await client.authenticate('s');
  await assertFree(portOf(user));

  await using denied = clientOf(denying, user);
  expect(await rejection(denied.authenticate('s'))).toMatchObject({ reason: 'denied' });
  await assertFree(portOf(user));

  await using waiting = clientOf(good, idle);
  expect(await rejection(waiting.authenticate('s', { timeoutMs: 50 }))).toMatchObject({ reason: 'timeout' });
  await assertFree(portOf(idle));

  const aborted = rejection(waiting.authenticate('s'));
  await until('the page is opened', () => idle.opened.length === 2);
  await waiting.cancelAuthentication('s');
  expect(await aborted).toMatchObject({ reason: 'cancelled' });
  await assertFree(portOf(idle));
});
