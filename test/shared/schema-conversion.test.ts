import type { PublicSchema } from '@mastra/core/schema';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { plainJsonSchemaOf, toJsonSchema, toStandardSchema } from '../../src/shared/schema.ts';

/** A schema as core keeps it on a tool. */
function onTool(inputSchema: unknown): PublicSchema {
  const tool = createTool({
    id: 't',
    description: 't',
    inputSchema: inputSchema as z.ZodType,
    execute: async () => ({}),
  });
  return tool.inputSchema as PublicSchema;
}

/** What the AI SDK makes of a JSON Schema. */
function aiSdkSchema(jsonSchema: object): PublicSchema {
  return { _type: undefined, jsonSchema, validate: undefined };
}

describe('schemas of zod', () => {
  test('carry no marker and use the keywords of 2020-12', () => {
    const shape = { pair: [z.string(), z.number().gt(0)] as const };
    const schema = z.object({ pair: z.tuple([...shape.pair]) });
    const old = z3.object({ pair: z3.tuple([z3.string(), z3.number().gt(0)]) });
    for (const json of [toJsonSchema(schema, 'input'), toJsonSchema(old, 'input')]) {
      expect(json).not.toHaveProperty('$schema');
      expect(json).toMatchObject({
        properties: {
          pair: { prefixItems: [{ type: 'string' }, { type: 'number', exclusiveMinimum: 0 }] },
        },
      });
    }
  });

  test('stay open unless they are strict, in both directions', () => {
    const schema = z.object({ open: z.object({ a: z.string() }), shut: z.strictObject({ a: z.string() }) });
    for (const io of ['input', 'output'] as const) {
      const json = toJsonSchema(schema, io);
      expect(json).not.toHaveProperty('additionalProperties');
      expect(json).not.toHaveProperty('properties.open.additionalProperties');
      expect(json).toHaveProperty('properties.shut.additionalProperties', false);
    }
  });

  test('of version 3 stay open too, whether core has wrapped them or not', () => {
    const schema = z3.object({ a: z3.object({ b: z3.string() }), when: z3.date() });
    const expected = {
      type: 'object',
      properties: {
        a: { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
        when: { type: 'string', format: 'date-time' },
      },
      required: ['a', 'when'],
    };
    expect(toJsonSchema(schema, 'input')).toEqual(expected);
    expect(toJsonSchema(onTool(schema), 'input')).toEqual(expected);
    expect(toJsonSchema(z3.object({ a: z3.string() }).strict(), 'input')).toMatchObject({
      additionalProperties: false,
    });
  });

  test('demand what has a default of results only', () => {
    const schema = z.object({ a: z.string().default('x') });
    expect(toJsonSchema(schema, 'input')).not.toHaveProperty('required');
    expect(toJsonSchema(schema, 'output')).toHaveProperty('required', ['a']);
  });

  test('may hold types that JSON does not know', () => {
    const schema = z.object({ when: z.date(), big: z.bigint(), own: z.custom<Map<string, string>>() });
    expect(toJsonSchema(schema, 'input')).toMatchObject({
      properties: { when: { type: 'string', format: 'date-time' }, big: {}, own: {} },
    });
  });

  test('may be recursive', () => {
    const node: z.ZodType = z.object({ children: z.lazy(() => z.array(node)) });
    expect(toJsonSchema(node, 'input')).toMatchObject({
      properties: { children: { items: { $ref: expect.stringMatching(/^#/) as unknown } } },
    });
  });

  test('are converted once', () => {
    const schema = z.object({ a: z.string() });
    expect(toJsonSchema(schema, 'input')).toBe(toJsonSchema(schema, 'input'));
  });
});

describe('schemas of other libraries', () => {
  const standard = (target: string): PublicSchema => {
    const jsonSchema = (options: { target: string }): Record<string, unknown> => {
      if (options.target !== target) throw new Error(`Unsupported target ${options.target}`);
      return {
        $schema: 'http://json-schema.org/draft-07/schema#',
        properties: { p: { items: [{ type: 'string' }], additionalItems: false } },
      };
    };
    return {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
    } as unknown as PublicSchema;
  };

  test('are brought to 2020-12 even when they speak draft-07 only', () => {
    expect(toJsonSchema(standard('draft-07'), 'output')).toEqual({
      properties: { p: { prefixItems: [{ type: 'string' }], items: false } },
    });
  });

  test('fail as unusable when they have no JSON form', () => {
    expect(() => toJsonSchema(standard('none'), 'input')).toThrow(
      expect.objectContaining({ name: 'SchemaUnusableError' }) as Error,
    );
  });
});

describe('plain JSON Schemas', () => {
  test('come back unchanged, also from the wrappers of core and of this module', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { p: { type: 'array', items: [{ type: 'string' }] } },
      $defs: {},
    } as const;
    for (const given of [
      schema,
      onTool(schema),
      toStandardSchema(schema),
      onTool(toStandardSchema(schema)),
    ]) {
      expect(toJsonSchema(given as PublicSchema, 'input')).toBe(schema);
      expect(plainJsonSchemaOf(given)).toBe(schema);
    }
  });

  test('of the AI SDK come back unchanged and stay in the hands of the AI SDK', () => {
    const schema = { type: 'object', properties: { q: { type: 'string' } } };
    for (const given of [aiSdkSchema(schema), onTool(aiSdkSchema(schema))]) {
      expect(toJsonSchema(given, 'input')).toEqual(schema);
      expect(plainJsonSchemaOf(given)).toBeUndefined();
    }
  });

  test('are not seen in schemas of a library', () => {
    expect(plainJsonSchemaOf(z.object({}))).toBeUndefined();
    expect(plainJsonSchemaOf(z3.object({}))).toBeUndefined();
    expect(plainJsonSchemaOf(undefined)).toBeUndefined();
    expect(toJsonSchema(undefined, 'input')).toBeUndefined();
  });
});
