import { describe, expect } from 'vitest';
import { InMemoryOAuthStorage, type OAuthStorage } from '../../src/client/index.ts';
import { executeOf, openClient, rejection } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';
import { loopbackProvider, testUser } from '../support/oauth-client.ts';
import { verifies } from '../requirements/requirements.ts';

/** A storage that holds the first pair of tokens of the program, under the keys of 1.x. */
function firstTokens(): OAuthStorage {
  const storage = new InMemoryOAuthStorage();
  storage.set('tokens', JSON.stringify({ access_token: 'A0', refresh_token: 'R0', token_type: 'Bearer' }));
  storage.set('client_info', JSON.stringify({ client_id: 'client-1' }));
  return storage;
}

describe('six calls whose access token has ended, with a refresh token that can be used once', () => {
  verifies(['B50', 'D19'], 'share one refresh and succeed; nobody is sent to a browser', async () => {
    await using server = await startHttpInput('B50-oauth-rotating-refresh.mjs', { EXPIRED_AT_CALL: '1' });
    const user = testUser();
    const authProvider = loopbackProvider({ ...user, storage: firstTokens() });
    await using client = openClient({ s: { url: server.url, authProvider } });
    const echo = await executeOf(client, 's_echo');
    const results = await Promise.all(Array.from({ length: 6 }, (_, index) => echo({ index })));
    expect(results.map(result => JSON.stringify(result))).toEqual(
      Array.from({ length: 6 }, (_, index) => expect.stringContaining(String(index))),
    );
    expect(await server.stats()).toMatchObject({ 'token:refresh_token': 1 });
    expect(await server.stats()).not.toHaveProperty('reuse');
    expect(user.opened).toEqual([]);
  });

  verifies(['B50', 'D19'], 'share it with those of another client on the same storage', async () => {
    await using server = await startHttpInput('B50-oauth-rotating-refresh.mjs', { EXPIRED_AT_CALL: '1' });
    const storage = firstTokens();
    const clients = Array.from({ length: 2 }, () =>
      openClient({ s: { url: server.url, authProvider: loopbackProvider({ ...testUser(), storage }) } }),
    );
    try {
      const echoes = await Promise.all(clients.map(client => executeOf(client, 's_echo')));
      await Promise.all(echoes.flatMap(echo => Array.from({ length: 6 }, (_, index) => echo({ index }))));
      expect(await server.stats()).toMatchObject({ 'token:refresh_token': 1 });
      expect(await server.stats()).not.toHaveProperty('reuse');
    } finally {
      await Promise.all(clients.map(client => client.disconnect()));
    }
  });

  verifies('B50', 'fail alike, without another attempt, once the family is revoked', async () => {
    await using server = await startHttpInput('B50-oauth-rotating-refresh.mjs', { EXPIRED_AT_CALL: '1' });
    const storage = firstTokens();
    await storage.set(
      'tokens',
      JSON.stringify({ access_token: 'A0', refresh_token: 'stolen', token_type: 'Bearer' }),
    );
    const user = testUser();
    await using client = openClient({
      s: { url: server.url, authProvider: loopbackProvider({ ...user, storage }) },
    });
    const echo = await executeOf(client, 's_echo');
    const errors = await Promise.all(Array.from({ length: 6 }, () => rejection(echo({}))));
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['MCP_CLIENT_AUTHORIZATION_REQUIRED']));
    expect(await server.stats()).toMatchObject({ 'token:refresh_token': 1, reuse: 1 });
    expect(user.opened).toEqual([]);
  });
});
