import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, textOf } from '../support/client.ts';

verifies(
  ['B96', 'D16'],
  'the listing stops at a repeated cursor, keeps what was read and says so',
  async () => {
    await using client = openClient({ s: regressionInput('B96-cursor-never-advances.mjs') });
    const { tools, errors, errorDetails } = await client.listToolsWithErrors();
    expect(Object.keys(tools)).toEqual(['s_one', 's_two']);
    expect(errors).toEqual({});
    expect(errorDetails['s']?.stopped).toMatch(/cursor/);
    // This test and `executeOf` listed once each: two pages for each.
    expect(textOf(await (await executeOf(client, 's_one'))({}))).toBe('pages served: 4');
  },
);

verifies('D16', 'maxPages bounds a listing', async () => {
  await using client = openClient({
    s: { ...regressionInput('B96-cursor-never-advances.mjs'), maxPages: 1 },
  });
  const { errorDetails } = await client.listToolsWithErrors();
  expect(errorDetails['s']?.stopped).toMatch(/maxPages/);
});
