import { expect, test } from 'vitest';
import { MCPClient } from '../../../src/client/index.ts';
import { loopbackProvider } from '../../support/oauth-client.ts';

const url = 'http://127.0.0.1:1/mcp';

test('a client with the same id is another one when its provider is: it may be of another user', async () => {
  const [alice, bob] = [loopbackProvider(), loopbackProvider()];
  const open = (authProvider: typeof alice): MCPClient =>
    new MCPClient({ id: 'oauth', servers: { s: { url, authProvider } } });
  const ofAlice = open(alice);
  expect(open(alice)).toBe(ofAlice);
  const ofBob = open(bob);
  expect(ofBob).not.toBe(ofAlice);
  await Promise.all([ofAlice, ofBob].map(client => client.disconnect()));
});
