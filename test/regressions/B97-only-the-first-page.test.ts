import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, regressionInput } from '../support/client.ts';

verifies(
  ['B97', 'D16', 'D06'],
  '250 tools on five pages are all there; a name given twice is reported',
  async () => {
    await using client = openClient({ s: regressionInput('B97-many-pages.mjs') });
    let changes = 0;
    await client.tools.onDefinitionChanged('s', () => void (changes += 1));
    for (const _ of ['first', 'again']) {
      const { tools, errors, errorDetails } = await client.listToolsWithErrors();
      const names = Array.from({ length: 250 }, (_, index) => `s_t${index}`).filter(
        name => name !== 's_t120',
      );
      expect(Object.keys(tools).toSorted()).toEqual(names.toSorted());
      expect(tools['s_t3']?.description).toBe('test tool t3');
      expect(errors).toEqual({});
      expect(errorDetails['s']?.tools).toEqual([
        { toolName: 't3', kind: 'name', reason: expect.stringContaining('given before') as string },
      ]);
    }
    expect(changes).toBe(0);
  },
);

verifies(
  ['B97', 'D16', 'S110', 'S111', 'S124'],
  'nine resources, templates and prompts on three pages are all there',
  async () => {
    await using client = openClient({ s: regressionInput('B97-paged-resources.mjs') });
    const nine = Array.from({ length: 9 }, (_, index) => index);
    expect(await client.resources.list()).toEqual({
      s: nine.map(n => ({ uri: `mem://r/${n}`, name: `r${n}` })),
    });
    expect(await client.resources.templates()).toEqual({
      s: nine.map(n => ({ uriTemplate: `mem://t${n}/{x}`, name: `t${n}` })),
    });
    expect(await client.prompts.list()).toEqual({ s: nine.map(n => ({ name: `p${n}` })) });
    expect((await client.resources.listWithErrors()).errorDetails).toEqual({});
  },
);

verifies(['B97', 'D16'], 'maxPages bounds every listing, and the stop is reported', async () => {
  await using client = openClient({ s: { ...regressionInput('B97-paged-resources.mjs'), maxPages: 2 } });
  const { resources, errorDetails } = await client.resources.listWithErrors();
  expect(resources['s']).toHaveLength(6);
  expect(errorDetails['s']).toEqual({ stopped: expect.stringContaining('maxPages') as string, tools: [] });
  expect((await client.resources.templatesWithErrors()).templates['s']).toHaveLength(6);
  expect((await client.prompts.listWithErrors()).prompts['s']).toHaveLength(6);
});
