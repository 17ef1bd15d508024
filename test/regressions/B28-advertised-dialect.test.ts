import type { ToolsInput } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';
import { MCPServer } from '../../src/server/index.ts';
import { validateJson } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';
import { post } from '../support/raw-http.ts';

type Schema = Readonly<Record<string, unknown>>;

const NEWEST = 'https://json-schema.org/draft/2020-12/schema';

const node4 = z.object({
  name: z.string(),
  get parts() {
    return z.array(node4);
  },
});
const money4 = z.object({ amount: z.number().positive(), note: z.string().nullable() }).meta({ id: 'Money' });
const pair4 = z.tuple([z.string(), z.int().gt(3).lt(9)]);

const money3 = zod3.object({ amount: zod3.number().positive(), note: zod3.string().nullable() });
const pair3 = zod3.tuple([zod3.string(), zod3.number().int().gt(3).lt(9)]);

/** What converters write that know no dialect newer than draft-07, as the zod 3 ones do. */
const order7 = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  definitions: {
    money: { type: 'object', properties: { amount: { type: 'number', exclusiveMinimum: 0 } } },
    order: {
      type: 'object',
      properties: {
        price: { $ref: '#/definitions/money', description: 'What it costs', minProperties: 9 },
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
        parts: { type: 'array', items: { $ref: '#/definitions/order' } },
      },
      dependencies: { pair: ['price'], price: { required: ['pair'] } },
    },
  },
  properties: { order: { $ref: '#/definitions/order' } },
};

/** A library that is not zod and knows draft-07 only. */
const otherLibrary = {
  '~standard': {
    version: 1,
    vendor: 'other',
    validate: (value: unknown) => ({ value }),
    jsonSchema: Object.fromEntries(
      ['input', 'output'].map(io => [
        io,
        ({ target }: { target: string }) => {
          if (target !== 'draft-07') throw new Error(`Unsupported target ${target}`);
          return order7;
        },
      ]),
    ),
  },
};

const schemas: Readonly<Record<string, object>> = {
  zod4: z.object({ tree: node4, first: money4, second: money4, pair: pair4 }),
  zod3: zod3.object({ first: money3, second: money3, pair: pair3 }),
  other: otherLibrary,
  json_draft_07: order7,
  json_draft_04: {
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: { amount: { type: 'number', minimum: 0, exclusiveMinimum: true } },
  },
  json_2019_09: {
    $schema: 'https://json-schema.org/draft/2019-09/schema',
    type: 'object',
    properties: { parts: { type: 'array', items: { $recursiveRef: '#' } } },
  },
  json_unknown: { $schema: 'https://schemas.example.com/ours/v3', type: 'object' },
  json_unmarked: {
    type: 'object',
    $defs: { a: { type: 'string' } },
    properties: { a: { $ref: '#/$defs/a' } },
  },
  json_2020_12: {
    $schema: NEWEST,
    type: 'object',
    $defs: { a: {} },
    properties: { a: { $ref: '#/$defs/a' } },
  },
};

const tools: ToolsInput = Object.fromEntries(
  Object.entries(schemas).map(([id, schema]) => [
    id,
    createTool({
      id,
      description: id,
      inputSchema: schema as never,
      outputSchema: schema as never,
      execute: input => Promise.resolve(input),
    }),
  ]),
);

/** The schemas of tools/list, as a client reads them. */
async function listed(): Promise<ReadonlyMap<string, { readonly input: Schema; readonly output: Schema }>> {
  await using server = new MCPServer({ name: 'Dialects', version: '1.0.0', tools });
  const { url } = await server.listen({ port: 0, options: { serverless: true } });
  const { answer } = await post(url.href, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const entries = answer?.result?.['tools'] as readonly {
    readonly name: string;
    readonly inputSchema: Schema;
    readonly outputSchema: Schema;
  }[];
  return new Map(
    entries.map(({ name, inputSchema, outputSchema }) => [
      name,
      { input: inputSchema, output: outputSchema },
    ]),
  );
}

/** Every object within a schema. */
function* objectsOf(value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Schema;
  for (const item of Object.values(value)) yield* objectsOf(item);
}

const at = (root: Schema, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, key) => Reflect.get(Object(value), key), root);

verifies(
  'B28',
  'tools/list speaks JSON Schema 2020-12 and no other dialect, whatever a tool was declared with',
  async () => {
    const all = await listed();
    expect([...all.keys()]).toEqual(Object.keys(schemas));
    for (const [name, { input, output }] of all) {
      for (const root of [input, output]) {
        expect([undefined, NEWEST], name).toContain(root['$schema']);
        for (const schema of objectsOf(root)) {
          for (const old of ['definitions', 'dependencies', 'additionalItems', '$recursiveRef'])
            expect(schema, name).not.toHaveProperty(old);
          expect(Array.isArray(schema['items']), name).toBe(false);
          for (const bound of ['exclusiveMinimum', 'exclusiveMaximum'])
            expect(['undefined', 'number'], name).toContain(typeof schema[bound]);
          const { $ref } = schema;
          if (typeof $ref === 'string') expect(at(root, $ref), `${name} ${$ref}`).toBeDefined();
        }
      }
    }
  },
);

verifies('B28', 'a schema of an older dialect means the same as before', async () => {
  const all = await listed();
  for (const name of ['json_draft_07', 'other']) {
    const input = all.get(name)?.input ?? {};
    expect(input['$defs']).toEqual({
      money: { type: 'object', properties: { amount: { type: 'number', exclusiveMinimum: 0 } } },
      order: {
        type: 'object',
        properties: {
          price: { $ref: '#/$defs/money', description: 'What it costs' },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
          parts: { type: 'array', items: { $ref: '#/$defs/order' } },
        },
        dependentRequired: { pair: ['price'] },
        dependentSchemas: { price: { required: ['pair'] } },
      },
    });
    for (const order of [
      { price: { amount: 1 }, pair: ['a', 1], parts: [] },
      { price: { amount: 0 }, pair: ['a', 1] },
      { price: { amount: 1 } },
      { pair: ['a', 1] },
      { price: { amount: 1 }, pair: ['a', 1, 2] },
      { parts: [{ parts: [{ price: 1 }] }] },
    ]) {
      const isValid = validateJson(order7, { order }).length === 0;
      expect(validateJson(input, { order }).length === 0, JSON.stringify(order)).toBe(isValid);
    }
  }
  expect(all.get('json_draft_04')?.input).toEqual({
    type: 'object',
    properties: { amount: { type: 'number', exclusiveMinimum: 0 } },
  });
  expect(all.get('json_2019_09')?.input).toEqual({
    type: 'object',
    properties: { parts: { type: 'array', items: { $ref: '#' } } },
  });
});

verifies('B28', 'what is in 2020-12 already is listed as it was written', async () => {
  const all = await listed();
  expect(all.get('json_2020_12')?.input).toEqual(schemas['json_2020_12']);
  expect(all.get('json_unmarked')?.input).toEqual(schemas['json_unmarked']);
});
