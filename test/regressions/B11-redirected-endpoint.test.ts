import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';

describe.each(['307', '308'])('an endpoint that redirects with %s on its origin', STATUS => {
  verifies('B11', 'works, with and without allowedHosts', async () => {
    await using server = await startHttpInput('B11-redirect-slash.mjs', { STATUS });
    const allowedHosts = [new URL(server.url).host];
    for (const definition of [{ url: server.url }, { url: server.url, allowedHosts }]) {
      await using client = openClient({ shop: definition });
      const echo = await executeOf(client, 'shop_echo');
      expect(textOf(await echo({ a: 'ä' }))).toBe('ok {"a":"ä"}');
    }
  });
});

describe.each(['301', '302', '303'])('an endpoint that redirects with %s', STATUS => {
  verifies('B11', 'fails with the target address, after one request and without a fallback', async () => {
    await using server = await startHttpInput('B11-redirect-slash.mjs', { STATUS });
    await using client = openClient({ shop: { url: server.url } });
    const error = await rejection(client.ping('shop'));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_REDIRECT_REFUSED', serverName: 'shop' });
    expect(error.message).toContain(`${server.url}/`);
    expect(await server.stats()).toEqual({ redirect: 1 });
  });
});
