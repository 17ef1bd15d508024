import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';

describe.each(['Unknown thing', 'the tool failed', 'Session not found'])('a 404 that says %j', WORDING => {
  verifies(['B01', 'D04'], 'leads to one new session and one repetition of the refused call', async () => {
    await using server = await startHttpInput('B01-session-forgotten.mjs', { WORDING });
    await using client = openClient({ shop: { url: server.url } });
    const echo = await executeOf(client, 'shop_echo');
    for (const n of [1, 2, 3]) expect(textOf(await echo({ n }))).toBe(`ok {"n":${n}}`);
    expect(await server.stats()).toMatchObject({ initialize: 2, stale: 1, call: 3 });
  });
});

verifies('B01', 'five parallel calls share one new session, and each runs once', async () => {
  await using server = await startHttpInput('B01-session-forgotten.mjs');
  await using client = openClient({ shop: { url: server.url } });
  const echo = await executeOf(client, 'shop_echo');
  await echo({});
  const results = await Promise.all([1, 2, 3, 4, 5].map(n => echo({ n })));
  expect(results.map(textOf)).toEqual([1, 2, 3, 4, 5].map(n => `ok {"n":${n}}`));
  expect(await server.stats()).toMatchObject({ initialize: 2, call: 6 });
});

verifies('B01', 'a listing and a ping get a new session as well', async () => {
  await using server = await startHttpInput('B01-session-forgotten.mjs');
  await using client = openClient({ shop: { url: server.url } });
  await (
    await executeOf(client, 'shop_echo')
  )({});
  await client.ping('shop');
  expect(Object.keys(await client.listTools())).toEqual(['shop_echo']);
  expect(await server.stats()).toMatchObject({ initialize: 2, stale: 1 });
});
