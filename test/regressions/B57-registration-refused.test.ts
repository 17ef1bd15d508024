import { expect } from 'vitest';
import { openClient, rejection } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';
import { loopbackProvider, testUser } from '../support/oauth-client.ts';
import { startRawIssuer } from '../support/raw-issuer.ts';
import { verifies } from '../requirements/requirements.ts';

verifies('B57', 'a registration that is forbidden in plain words says so, and what to do', async () => {
  await using server = await startHttpInput('B57-registration-forbidden.mjs');
  const user = testUser();
  await using client = openClient({ s: { url: server.url, authProvider: loopbackProvider({ ...user }) } });
  const error = await rejection(client.authenticate('s'));
  expect(error).toMatchObject({
    code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
    reason: 'registration',
    httpStatus: 403,
    message: expect.stringMatching(/HTTP 403: "Forbidden".*clientInformation/),
  });
  expect(error.message).not.toContain('JSON');
  expect(user.opened).toEqual([]);
});

verifies('B57', 'a registration refused for one scope is tried once more without it', async () => {
  await using issuer = await startRawIssuer({
    scope: 'read admin write',
    register: ({ scope }) =>
      String(scope).includes('admin')
        ? {
            status: 400,
            body: { error: 'invalid_client_metadata', error_description: "scope 'admin' is not allowed" },
          }
        : undefined,
  });
  const user = testUser();
  await using client = openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ ...user }) } });
  await client.authenticate('s');
  expect(issuer.registrations.map(({ scope }) => scope)).toEqual(['read admin write', 'read write']);
  expect(user.opened[0]?.searchParams.get('scope')).toBe('read write');
});

verifies('B57', 'a registration that is refused twice is not tried a third time', async () => {
  await using issuer = await startRawIssuer({
    scope: 'read',
    register: () => ({ status: 400, body: { error: 'invalid_client_metadata', error_description: 'no' } }),
  });
  await using client = openClient({
    s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser() }) },
  });
  expect(await rejection(client.authenticate('s'))).toMatchObject({
    reason: 'registration',
    httpStatus: 400,
    oauthError: 'invalid_client_metadata',
  });
  expect(issuer.registrations.map(({ scope }) => scope)).toEqual(['read', undefined]);
});

verifies('B57', 'a server that takes one redirect address only gets the one that is used', async () => {
  await using issuer = await startRawIssuer({
    register: ({ redirect_uris: uris }) =>
      (uris as string[]).length > 1 ? { status: 400, body: { error: 'invalid_redirect_uri' } } : undefined,
  });
  const redirectUrl = 'http://127.0.0.1:38951/cb';
  const user = testUser();
  await using client = openClient({
    s: { url: issuer.url, authProvider: loopbackProvider({ ...user, redirectUrl }) },
  });
  await client.authenticate('s');
  expect(issuer.registrations[1]?.['redirect_uris']).toEqual([
    user.opened[0]?.searchParams.get('redirect_uri'),
  ]);
});
