import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';
import { until } from '../support/processes.ts';

describe.each(['404', '500', 'html', '400json', 'hang'])('a GET answered with %s', GET => {
  verifies('B09', 'disturbs nothing and is not repeated', async () => {
    await using server = await startHttpInput('B09-get-answers.mjs', { GET });
    const client = openClient({ shop: { url: server.url } });
    const echo = await executeOf(client, 'shop_echo');
    await until('the GET arrived', async () => (await server.stats())['get'] === 1);
    for (const n of [1, 2, 3]) expect(textOf(await echo({ n }))).toBe(`ok {"n":${n}}`);
    const started = performance.now();
    await client.disconnect();
    expect(performance.now() - started).toBeLessThan(1500);
    expect(await server.stats()).toEqual({ get: 1 });
  });
});

verifies('B09', 'with openEventStream: false there is no GET', async () => {
  await using server = await startHttpInput('B09-get-answers.mjs', { GET: '500' });
  await using client = openClient({ shop: { url: server.url, openEventStream: false } });
  expect(textOf(await (await executeOf(client, 'shop_echo'))({}))).toBe('ok {}');
  expect(await server.stats()).toEqual({});
});
