import { expect } from 'vitest';
import { getMcpCallToolContent, getMcpCallToolMeta } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput } from '../support/client.ts';

verifies('B84', 'near enough results are accepted and broken ones are explained', async () => {
  await using client = openClient({ s: regressionInput('B84-structured-variants.mjs') });
  const call = async (name: string) => await (await executeOf(client, `s_${name}`))({});
  expect(await call('only_structured')).toEqual({ n: 1 });
  expect(await call('no_schema')).toMatchObject({
    structuredContent: { any: [1] },
    content: [{ text: 't' }],
  });
  expect(await call('only_text')).toEqual({ n: 1 });
  expect(await call('empty_content')).toMatchObject({ content: [] });
  const broken = await call('breaks_schema');
  expect(broken).toMatchObject({
    error: true,
    message: expect.stringMatching(/output validation failed.*n/is),
  });
  const extra = await call('extra_meta');
  expect(extra).toEqual({ n: 2 });
  expect(getMcpCallToolContent(extra)).toEqual([{ type: 'text', text: 'shown to the model' }]);
  expect(getMcpCallToolMeta(extra)).toEqual({ trace: 'abc' });
});
