import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toRunnablePattern } from '../../src/shared/schema-patterns.ts';
import { inspectSchema, toJsonSchema, toStandardSchema, validateJson } from '../../src/shared/schema.ts';
import type { JsonSchema } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';

interface Sample {
  readonly schema: JsonSchema;
  /** A value that fits the schema. */
  readonly value: unknown;
}

const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc.string().map(value => ({ schema: { type: 'string' }, value })),
  fc.integer().map(value => ({ schema: { type: ['integer', 'null'] }, value })),
  fc.boolean().map(value => ({ schema: { const: value }, value })),
  fc.constant({ schema: { type: 'string', nullable: true }, value: null }),
);
const { sample } = fc.letrec<{ sample: Sample; list: Sample; object: Sample }>(tie => ({
  sample: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('sample'), { maxLength: 4 }).map(items => ({
    schema: { type: 'array', prefixItems: items.map(item => item.schema), items: false },
    value: items.map(item => item.value),
  })),
  object: fc
    .dictionary(fc.string({ unit: 'grapheme' }), tie('sample'), { maxKeys: 5, noNullPrototype: true })
    .map(members => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema])),
        required: Object.keys(members),
        additionalProperties: false,
      },
      value: Object.fromEntries(Object.entries(members).map(([name, { value }]) => [name, value])),
    })),
}));
const objectSample = sample.map(({ schema, value }) => ({
  schema: { type: 'object', properties: { root: schema }, required: ['root'] },
  value: { root: value },
}));

verifies('B14', 'toJsonSchema(toStandardSchema(s)) = s, and s is not touched', () => {
  fc.assert(
    fc.property(objectSample, ({ schema, value }) => {
      const before = JSON.stringify(schema);
      const standard = toStandardSchema(schema);
      expect(standard['~standard'].validate(value)).toEqual({ value });
      expect(toJsonSchema(standard, 'input')).toBe(schema);
      expect(JSON.stringify(schema)).toBe(before);
    }),
  );
});

verifies('B14', 'a value that was made from a schema fits it, and one more member does not', () => {
  fc.assert(
    fc.property(objectSample, ({ schema, value }) => {
      expect(inspectSchema(schema)).toBeUndefined();
      expect(validateJson(schema, value)).toEqual([]);
      const closed = { ...schema, additionalProperties: false };
      expect(validateJson(closed, { ...value, 'one more': 1 })[0]?.path).toBe('/one more');
    }),
  );
});

verifies('D06', 'inspectSchema answers for any value', () => {
  fc.assert(fc.property(fc.anything(), value => void inspectSchema(value)));
});

verifies('D06', 'no schema makes a validation throw', () => {
  const keyword = fc.constantFrom('type', 'properties', 'items', 'anyOf', 'required', '$ref', 'enum', 'x');
  const literal = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('#', '#/items', 'string', 'object'),
  );
  const { schema } = fc.letrec<{ schema: Record<string, unknown> }>(tie => ({
    schema: fc.dictionary(keyword, fc.oneof({ depthSize: 'small' }, literal, tie('schema')), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  }));
  fc.assert(
    fc.property(schema, fc.jsonValue({ maxDepth: 2 }), (given, value) => {
      expect(() => toStandardSchema(given)['~standard'].validate(value)).not.toThrow();
    }),
  );
});

test('a runnable pattern compiles with the u flag', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab\\-_()[]{}*+?|^$.d1,'.split('')) }), pattern => {
      const runnable = toRunnablePattern(pattern);
      if (runnable !== undefined) expect(new RegExp(runnable, 'u')).toBeInstanceOf(RegExp);
    }),
  );
});
