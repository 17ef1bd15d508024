import { describe, expect } from 'vitest';
import type { MCPOAuthClientMetadata } from '../../src/client/index.ts';
import { openClient } from '../support/client.ts';
import type { ReceivedRequest } from '../support/http-server.ts';
import { loopbackProvider, testUser } from '../support/oauth-client.ts';
import { startRawIssuer } from '../support/raw-issuer.ts';
import { verifies } from '../requirements/requirements.ts';

const SECRET = 'secret-0123456789';
const basic = (id: string): string => `Basic ${Buffer.from(`${id}:${SECRET}`).toString('base64')}`;

describe('the way a client authenticates at the token endpoint', () => {
  const cases = {
    'none, the only one there is': {
      supported: ['none'],
      asks: 'none',
      header: undefined,
      inForm: undefined,
    },
    'client_secret_basic, the only one there is': {
      supported: ['client_secret_basic'],
      asks: 'client_secret_basic',
      header: basic('client-1'),
      inForm: undefined,
    },
    'client_secret_post, the only one there is': {
      supported: ['client_secret_post'],
      asks: 'client_secret_post',
      header: undefined,
      inForm: SECRET,
    },
    // The default of RFC 8414 where nothing is said.
    'left to the server, which says nothing': {
      supported: undefined,
      asks: undefined,
      header: basic('client-1'),
      inForm: undefined,
    },
  } as const;
  for (const [name, { supported, asks, header, inForm }] of Object.entries(cases)) {
    verifies('B59', `is ${name}`, async () => {
      const requests: ReceivedRequest[] = [];
      await using issuer = await startRawIssuer({
        metadata: own => ({ ...own, token_endpoint_auth_methods_supported: supported }),
        register: metadata => {
          const secret = metadata['token_endpoint_auth_method'] === 'none' ? {} : { client_secret: SECRET };
          return { status: 201, body: { ...metadata, client_id: 'client-1', ...secret } };
        },
        token: (_, request) => void requests.push(request),
      });
      await using client = openClient({
        s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser() }) },
      });
      await client.authenticate('s');
      expect(issuer.registrations[0]?.['token_endpoint_auth_method']).toBe(asks);
      expect(requests[0]?.headers.authorization).toBe(header);
      expect(issuer.tokenRequests[0]?.get('client_secret') ?? undefined).toBe(inForm);
    });
  }

  verifies('B59', 'is the one the registration was answered with', async () => {
    const requests: ReceivedRequest[] = [];
    await using issuer = await startRawIssuer({
      metadata: own => ({
        ...own,
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      }),
      register: metadata => ({
        status: 201,
        body: {
          ...metadata,
          client_id: 'client-1',
          client_secret: SECRET,
          token_endpoint_auth_method: 'client_secret_post',
        },
      }),
      token: (_, request) => void requests.push(request),
    });
    await using client = openClient({
      s: { url: issuer.url, authProvider: loopbackProvider({ ...testUser() }) },
    });
    await client.authenticate('s');
    expect(requests[0]?.headers.authorization).toBeUndefined();
    expect(issuer.tokenRequests[0]?.get('client_secret')).toBe(SECRET);
  });

  verifies('B59', 'is not the one of the configuration where the server does not know it', async () => {
    await using issuer = await startRawIssuer();
    const redirectUrl = 'http://127.0.0.1:0/cb';
    const clientMetadata: MCPOAuthClientMetadata = {
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const authProvider = loopbackProvider({ ...testUser(), redirectUrl, clientMetadata });
    await using client = openClient({ s: { url: issuer.url, authProvider } });
    await client.authenticate('s');
    // And a name is always there: some servers refuse a client without one.
    expect(issuer.registrations[0]).toMatchObject({
      token_endpoint_auth_method: 'none',
      client_name: expect.stringMatching(/./),
    });
  });
});
