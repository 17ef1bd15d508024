import { readFileSync } from 'node:fs';
import { Agent } from '@mastra/core/agent';
import { expect } from 'vitest';
import type { MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, textOf } from '../support/client.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const file = new URL('inputs/B14-schema-kinds-1.json', import.meta.url);
const { tools } = JSON.parse(readFileSync(file, 'utf8')) as {
  tools: { name: string; inputSchema: Record<string, unknown> }[];
};

/** Arguments each schema accepts, and arguments it refuses with the place. */
const cases: Record<string, { readonly valid: object; readonly invalid?: object; readonly at?: string }> = {
  refs_defs: { valid: { home: { street: 'A', zip: '1234' } }, invalid: { home: { zip: '1' } }, at: 'street' },
  refs_definitions: { valid: { unit: 'kg' }, invalid: { unit: 'stone' }, at: 'unit' },
  root_ref: { valid: { q: 'x' }, invalid: { q: 1 }, at: 'q' },
  type_arrays: { valid: { a: null, b: 'x', c: [1], d: { x: 2 } }, invalid: { a: 1 }, at: 'a' },
  openapi_nullable: { valid: { note: 'x' }, invalid: { note: 7 }, at: 'note' },
  any_of_null: { valid: { limit: null, tag: 't' }, invalid: { limit: 'many' }, at: 'limit' },
  array_items_anyof: {
    valid: { filters: [{ field: 'f', op: 'eq', value: [1, null] }] },
    invalid: { filters: [1] },
    at: 'filters',
  },
  array_no_items: { valid: { xs: [1, 'two', null] }, invalid: { xs: { length: 1 } }, at: 'xs' },
  no_properties: { valid: { anything: 1 } },
  free_form: { valid: { anything: { deep: [1] } } },
  typed_map: { valid: { headers: { a: 'b' } }, invalid: { headers: { a: 1 } }, at: 'headers' },
  pattern_props: { valid: { 'x-a': 'b' }, invalid: { y: 'b' }, at: 'y' },
  tuple_draft7: { valid: { point: [1, 2] }, invalid: { point: [1, 'x'] }, at: 'point' },
  missing_type: { valid: { any: [null], en: 'a' }, invalid: { any: 1, en: 'c' }, at: 'en' },
  bool_schemas: { valid: { any: 5 }, invalid: { never: 1 }, at: 'never' },
  consts: { valid: { k: 'v', n: 3, b: true, z: null }, invalid: { k: 'w' }, at: 'k' },
  odd_formats: { valid: { when: '2024-01-01T00:00:00Z', odd: 'zz' } },
  defaults: { valid: {}, invalid: { page: 0 }, at: 'page' },
  odd_keys: { valid: { 'filter[name]': 'a', 'user.email': 'b', '@type': 'c', 'with space': 'd' } },
  dialect_2019: { valid: { q: 'x' }, invalid: { q: 1 }, at: 'q' },
  dialect_2020: { valid: { q: 'x' }, invalid: {}, at: 'q' },
};

function connect(): MCPClient {
  const server = regressionInput('serve-tools.mjs');
  return openClient({ s: { ...server, args: [...server.args, decodeURIComponent(file.pathname)] } });
}

verifies('B14', 'all kinds are listed, without a complaint', async () => {
  await using client = connect();
  const { tools: listed, errorDetails } = await client.listToolsWithErrors();
  expect(Object.keys(listed)).toEqual(tools.map(({ name }) => `s_${name}`));
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(cases));
  expect(errorDetails).toEqual({});
});

verifies(
  ['B14', 'B19'],
  'valid arguments arrive unchanged, and invalid ones are refused with the place',
  async () => {
    await using client = connect();
    for (const [name, { valid, invalid, at }] of Object.entries(cases)) {
      const execute = await executeOf(client, `s_${name}`);
      const arrived = textOf(await execute(valid));
      expect(JSON.parse(arrived.slice(arrived.indexOf('{'))), name).toEqual(valid);
      if (invalid === undefined) continue;
      expect(await execute(invalid), name).toMatchObject({
        error: true,
        message: expect.stringContaining(at ?? ''),
      });
    }
  },
);

verifies('B14', 'the model is offered the schema of the server', async () => {
  await using client = connect();
  const { model, toolsSeen } = scriptedModel([{ text: 'ok' }]);
  await new Agent({ id: 'a', name: 'a', instructions: 'x', model, tools: await client.listTools() }).generate(
    'hi',
  );
  const offered = toolsSeen[0] as readonly { name: string; inputSchema: Record<string, unknown> }[];
  expect(offered).toHaveLength(tools.length);
  for (const { name, inputSchema } of tools) {
    const seen = offered.find(tool => tool.name === `s_${name}`)?.inputSchema ?? {};
    const { properties = {} } = inputSchema as { properties?: object };
    expect(seen['type'], name).toBe('object');
    expect(Object.keys((seen['properties'] as object | undefined) ?? {}), name).toEqual(
      Object.keys(properties),
    );
    expect(seen['required'], name).toEqual(inputSchema['required']);
  }
});
