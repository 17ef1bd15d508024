import { describe, expect } from 'vitest';
import { InMemoryOAuthStorage, type MCPClient } from '../../src/client/index.ts';
import { openClient, rejection } from '../support/client.ts';
import { loopbackProvider, testUser, type TestUser } from '../support/oauth-client.ts';
import { startRawIssuer, type RawIssuer, type RawIssuerOptions } from '../support/raw-issuer.ts';
import { verifies } from '../requirements/requirements.ts';

const GONE = 'gone';
const redirectUrl = 'http://127.0.0.1:38931/cb';

const clientOf = (issuer: RawIssuer, user: TestUser<unknown>, options: object): MCPClient =>
  openClient({
    s: { url: issuer.url, authProvider: loopbackProvider({ ...user, redirectUrl, ...options }) },
  });

/** A storage with a registration that the authorization server has forgotten. */
function forgotten(issuer: RawIssuer): InMemoryOAuthStorage {
  const storage = new InMemoryOAuthStorage();
  const client = { client_id: GONE, issuer: issuer.issuer };
  storage.set(`client_info ${issuer.url}`, JSON.stringify(client));
  const tokens = { access_token: 'ended', refresh_token: 'old', token_type: 'Bearer', issuer: issuer.issuer };
  storage.set(`tokens ${issuer.url}`, JSON.stringify(tokens));
  return storage;
}

const refusing = (status: number, error: string): RawIssuerOptions => ({
  token: form => (form.get('client_id') === GONE ? { status, body: { error } } : undefined),
});

describe('a registration that the authorization server has forgotten', () => {
  for (const [status, error] of [
    [401, 'invalid_client'],
    [400, 'invalid_client'],
    [400, 'unauthorized_client'],
  ] as const) {
    verifies('B54', `(${status} ${error}) is made anew once, and the user is asked again`, async () => {
      await using issuer = await startRawIssuer(refusing(status, error));
      const user = testUser();
      await using client = clientOf(issuer, user, { storage: forgotten(issuer) });
      // The refresh finds out first.
      expect(await rejection(client.ping('s'))).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
      await client.authenticate('s');
      expect(issuer.registrations).toHaveLength(1);
      expect(user.opened).toHaveLength(1);
      await client.ping('s');
    });
  }

  verifies(
    'B54',
    'found out by the exchange of a code leads to a second page in the same login',
    async () => {
      await using issuer = await startRawIssuer(refusing(401, 'invalid_client'));
      const storage = forgotten(issuer);
      storage.delete(`tokens ${issuer.url}`);
      const user = testUser();
      await using client = clientOf(issuer, user, { storage });
      await client.authenticate('s');
      expect(user.opened.map(page => page.searchParams.get('client_id'))).toEqual([GONE, 'client-1']);
      const pages = await Promise.all(user.visits);
      expect(pages[0]?.html).toContain('One more step');
      expect(pages[1]?.html).toContain('Authorization complete');
      await client.ping('s');
    },
  );

  verifies('B54', 'ends the login when the new one is refused as well', async () => {
    await using issuer = await startRawIssuer({
      token: () => ({ status: 401, body: { error: 'invalid_client' } }),
    });
    const user = testUser();
    await using client = clientOf(issuer, user, {});
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
      reason: 'registration',
      oauthError: 'invalid_client',
    });
    expect(issuer.registrations).toHaveLength(2);
    expect(user.opened).toHaveLength(2);
  });

  verifies('B54', 'is never replaced where the client was registered beforehand', async () => {
    await using issuer = await startRawIssuer(refusing(401, 'invalid_client'));
    const user = testUser();
    await using client = clientOf(issuer, user, { clientInformation: { client_id: GONE } });
    expect(await rejection(client.authenticate('s'))).toMatchObject({
      reason: 'registration',
      oauthError: 'invalid_client',
      message: expect.stringContaining('invalid_client'),
    });
    expect(issuer.registrations).toHaveLength(0);
    expect(user.opened).toHaveLength(1);
  });
});
