import { expect } from 'vitest';
import { openClient, rejection } from '../support/client.ts';
import { follow, loopbackProvider, testUser } from '../support/oauth-client.ts';
import { until } from '../support/processes.ts';
import { startRawIssuer } from '../support/raw-issuer.ts';
import { verifies } from '../requirements/requirements.ts';

verifies(
  'B56',
  'a login takes the code and ends connected; listings meanwhile begin no second one',
  async () => {
    await using issuer = await startRawIssuer();
    const user = testUser(async () => undefined);
    await using client = openClient({ s: { url: issuer.url, authProvider: loopbackProvider({ ...user }) } });
    const login = client.authenticate('s');
    await until('the page is opened', () => user.opened.length === 1);
    for (let listing = 0; listing < 3; listing += 1) {
      expect(await rejection(client.listTools())).toMatchObject({
        code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
      });
    }
    for (const page of user.opened) await follow(page);
    await login;
    expect(client.getServerStatus()['s']?.state).toBe('ready');
    expect(Object.keys(await client.listTools()).toSorted()).toEqual(['s_echo', 's_read']);
    expect(user.opened).toHaveLength(1);
    expect(issuer.tokenRequests).toHaveLength(1);
  },
);
