import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';

verifies('B94', 'frames of nothing but data, between comments and retry lines, are messages', async () => {
  await using server = await startHttpInput('B94-sse-bare-data.mjs');
  await using client = openClient({ shop: { url: server.url } });
  const echo = await executeOf(client, 'shop_echo');
  expect(textOf(await echo({ a: 1 }))).toBe('ok {"a":1}');
});
