import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, textOf } from '../support/client.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';

const SAFE = /^[A-Za-z0-9_-]{1,64}$/;
const ORIGINALS = [
  'meta.index',
  'user-profile/update',
  'ns:do',
  'with space',
  'büro',
  '🚀launch',
  'x'.repeat(120),
  '9lives',
  'constructor',
];

verifies(
  ['B30', 'B32', 'D05'],
  'names are safe, unique and stable, and calls reach the original',
  async () => {
    await using client = openClient({ 'my srv': regressionInput('B30-odd-tool-names.mjs') });
    const tools = await client.listTools();
    const names = Object.keys(tools);
    expect(names).toHaveLength(ORIGINALS.length);
    for (const [at, name] of names.entries()) {
      expect(name).toMatch(SAFE);
      expect(tools[name]?.mcpMetadata).toMatchObject({ serverName: 'my srv', toolName: ORIGINALS[at] });
      const execute = await executeOf(client, name);
      expect(textOf(await execute({}))).toBe(`called ${ORIGINALS[at]}`);
    }
    expect(Object.keys(await client.listTools())).toEqual(names);
    const toolset = Object.keys((await client.listToolsets())['my srv'] ?? {});
    expect(toolset.every(name => SAFE.test(name))).toBe(true);
    expect(new Set(toolset).size).toBe(ORIGINALS.length);
  },
);

verifies(['B32', 'D05'], 'two long names that differ in the last letter stay apart', async () => {
  const stem = 't'.repeat(59);
  await using client = openClient({
    ['s'.repeat(40)]: rawServer({ tools: [rawTool(`${stem}a`), rawTool(`${stem}b`)] }),
  });
  const names = Object.keys(await client.listTools());
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(SAFE);
});
