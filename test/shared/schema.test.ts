import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  formatIssues,
  inspectSchema,
  jsonSchemaValidator,
  toJsonSchema,
  toStandardSchema,
  validateJson,
  type JsonSchema,
} from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';

interface NamedSchema {
  readonly name: string;
  readonly inputSchema: JsonSchema;
}

const kinds = JSON.parse(
  readFileSync(new URL('../regressions/inputs/B14-schema-kinds-1.json', import.meta.url), 'utf8'),
) as { readonly tools: readonly NamedSchema[] };

function kind(name: string): JsonSchema {
  const found = kinds.tools.find(tool => tool.name === name);
  if (found === undefined) throw new Error(`No schema named ${name}`);
  return found.inputSchema;
}

function paths(schema: JsonSchema, value: unknown): string[] {
  return validateJson(schema, value).map(issue => issue.path);
}

const acceptable: Record<string, unknown> = {
  refs_defs: { home: { street: 'a', zip: '1234' }, work: { street: 'b' } },
  refs_definitions: { unit: 'kg' },
  root_ref: { q: 'x' },
  type_arrays: { a: null, b: 'x', c: [1.5], d: { x: 1 } },
  openapi_nullable: { note: null },
  any_of_null: { limit: null, tag: 'x' },
  array_items_anyof: { filters: [{ field: 'f', op: 'eq', value: [null] }, ['a']] },
  array_no_items: { xs: [1, 'a', null, {}] },
  no_properties: { anything: { at: ['all'] } },
  free_form: { anything: 1 },
  typed_map: { headers: { a: 'b' } },
  pattern_props: { 'x-a': 'b' },
  tuple_draft7: { point: [1, 2] },
  missing_type: { any: null, described: [], en: 'a' },
  bool_schemas: { any: { x: 1 } },
  consts: { k: 'v', n: 3, b: true, z: null },
  odd_formats: {
    when: '2025-11-25T10:00:00Z',
    u: 'https://example.com',
    id: '123e4567-e89b-42d3-a456-426614174000',
    odd: 'no one knows',
    n: 9_007_199_254_740_991,
  },
  defaults: { page: 2 },
  odd_keys: {
    'filter[name]': 'a',
    'user.email': 'b',
    '@type': 'c',
    'with space': 'd',
    ümläut: 'e',
    '🚀': true,
    $top: 1,
  },
  dialect_2019: { q: 'x' },
  dialect_2020: { q: 'x' },
};

const refused: readonly (readonly [name: string, value: unknown, path: string])[] = [
  ['refs_defs', { home: { street: 'a', zip: 'x' } }, '/home/zip'],
  ['refs_definitions', { unit: 'stone' }, '/unit'],
  ['root_ref', { q: 1 }, '/q'],
  ['type_arrays', { a: null, c: ['x'] }, '/c/0'],
  ['any_of_null', { limit: 'x' }, '/limit'],
  ['array_items_anyof', { filters: [{ field: 'f', op: 'ne' }] }, '/filters/0/op'],
  ['typed_map', { headers: { a: 1 } }, '/headers/a'],
  ['pattern_props', { y: 'b' }, '/y'],
  ['tuple_draft7', { point: [1, 2, 3] }, '/point/2'],
  ['bool_schemas', { never: 1 }, '/never'],
  ['consts', { k: 'v', n: 4 }, '/n'],
  ['odd_formats', { when: 'yesterday' }, '/when'],
  ['defaults', { page: 0 }, '/page'],
  ['odd_keys', { '@type': 'c', ümläut: 1 }, '/ümläut'],
  ['dialect_2019', { q: 1 }, '/q'],
  ['dialect_2020', { q: 1 }, '/q'],
];

describe('everyday schemas', () => {
  verifies('B14', 'finds nothing wrong with any of the 21 kinds and accepts a fitting value', () => {
    expect(kinds.tools.map(tool => tool.name).toSorted()).toEqual(Object.keys(acceptable).toSorted());
    for (const { name, inputSchema } of kinds.tools) {
      expect(inspectSchema(inputSchema), name).toBeUndefined();
      expect(validateJson(inputSchema, acceptable[name]), name).toEqual([]);
    }
  });

  verifies('B14', 'refuses a value that does not fit and names the path', () => {
    for (const [name, value, path] of refused) expect(paths(kind(name), value), name).toContain(path);
  });

  test('names a missing property in the issue of the object that lacks it', () => {
    expect(validateJson(kind('refs_defs'), { home: {} })).toEqual([
      { path: '/home', message: expect.stringContaining('"street"') as unknown },
    ]);
  });

  test('reports every place at once', () => {
    const schema = { properties: { a: { type: 'string' }, b: { type: 'string' } } };
    expect(paths(schema, { a: 1, b: null })).toEqual(['/a', '/b']);
  });

  test('writes issues as one line', () => {
    const issues = validateJson({ properties: { a: { items: { type: 'string' } } } }, { a: [1] });
    expect(formatIssues(issues)).toMatch(/^a\.0: .*string/);
  });
});

describe('dialects', () => {
  verifies('B19', 'never refuses a value because of the marker', () => {
    for (const marker of [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema#',
      'https://json-schema.org/draft/2019-09/schema#',
      'https://schemas.example.internal/private',
      'not an address',
      7,
    ]) {
      const schema = { $schema: marker, type: 'object', properties: { q: { type: 'string' } } };
      expect(validateJson(schema, { q: 'x' })).toEqual([]);
      expect(paths(schema, { q: 1 })).toEqual(['/q']);
      expect(inspectSchema(schema)).toBeUndefined();
    }
  });

  test('reads boolean bounds as draft-04 and OpenAPI mean them', () => {
    const bounded = { properties: { n: { minimum: 0, exclusiveMinimum: true } } };
    const draft4 = { ...bounded, $schema: 'http://json-schema.org/draft-04/schema#' };
    for (const schema of [bounded, draft4]) {
      expect(paths(schema, { n: 0 })).toEqual(['/n']);
      expect(paths(schema, { n: 1 })).toEqual([]);
    }
  });

  test('ignores what stands beside a reference in draft-07 and evaluates it in 2020-12', () => {
    const schema = {
      $defs: { s: { type: 'string' } },
      properties: { a: { $ref: '#/$defs/s', minLength: 3 } },
    };
    const draft7 = { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
    expect(paths(draft7, { a: 'x' })).toEqual([]);
    expect(paths(schema, { a: 'x' })).toEqual(['/a']);
  });
});

describe('references', () => {
  test('follows anchors, identifiers and recursive references', () => {
    const schema = {
      $id: 'https://example.com/tree',
      $defs: {
        leaf: { $anchor: 'leaf', type: 'integer' },
        named: { $id: 'https://example.com/named', type: 'boolean' },
      },
      properties: {
        leaf: { $ref: '#leaf' },
        named: { $ref: 'https://example.com/named' },
        child: { $ref: '#' },
      },
    };
    expect(inspectSchema(schema)).toBeUndefined();
    expect(paths(schema, { child: { child: { leaf: 'x', named: 1 } } })).toEqual([
      '/child/child/leaf',
      '/child/child/named',
    ]);
  });

  test('follows the recursion of 2019-09', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      properties: { child: { $recursiveRef: '#' }, v: { type: 'number' } },
    };
    expect(paths(schema, { v: 1, child: { v: 2, child: { v: 'x' } } })).toEqual(['/child/child/v']);
  });

  verifies('T8', 'does not fetch what lies elsewhere and checks the rest', () => {
    const schema = { properties: { a: { $ref: 'http://127.0.0.1:9/x.json' }, b: { type: 'string' } } };
    expect(paths(schema, { a: 1, b: 1 })).toEqual(['/b']);
  });

  test('fails as unusable, not as invalid, when a local reference leads nowhere', () => {
    expect(() => validateJson({ properties: { a: { $ref: '#/$defs/none' } } }, {})).toThrow(
      expect.objectContaining({ name: 'SchemaUnusableError' }) as Error,
    );
  });
});

describe('hostile schemas', () => {
  const within = (milliseconds: number, work: () => void): void => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(milliseconds);
  };

  verifies('T8', 'answers a 1,000 levels deep schema in time', () => {
    const nest = (levels: number, inner: unknown, wrap: (inner: unknown) => unknown): unknown =>
      levels === 0 ? inner : nest(levels - 1, wrap(inner), wrap);
    const schema = nest(1_000, {}, a => ({ properties: { a } })) as JsonSchema;
    const value = nest(1_000, {}, a => ({ a }));
    within(200, () => {
      expect(inspectSchema(schema)?.reason).toContain('nested deeper');
      expect(toStandardSchema(schema)['~standard'].validate(value)).toEqual({ value });
    });
  });

  verifies('T8', 'does not evaluate a pattern that could take exponential time', () => {
    const skipped: string[] = [];
    const schema = { properties: { a: { pattern: '(a+)+$', maxLength: 50 } } };
    const standard = toStandardSchema(schema, { onSkippedPatterns: list => skipped.push(...list) });
    within(200, () => {
      const value = { a: `${'a'.repeat(40)}!` };
      expect(standard['~standard'].validate(value)).toEqual({ value });
      expect(standard['~standard'].validate({ a: 'a'.repeat(60) })).toHaveProperty('issues');
    });
    expect(skipped).toEqual(['(a+)+$']);
  });

  test('lets nothing be refused because a pattern was left out', () => {
    const costly = { type: 'string', pattern: '(a+)+$' };
    const value = { a: 'b', 'x-c': 1 };
    for (const schema of [
      { properties: { a: { not: costly } } },
      { properties: { a: { oneOf: [costly, { type: 'string', minLength: 1 }] } } },
      { properties: { a: { if: { not: costly }, else: { minLength: 3 } } } },
      { patternProperties: { '(a+)+$': {} }, additionalProperties: false },
    ]) {
      expect(validateJson(schema, value)).toEqual([]);
    }
  });

  verifies('T8', 'answers 10,000 alternatives in time', () => {
    const schema = { properties: { a: { anyOf: Array.from({ length: 10_000 }, (_, i) => ({ const: i })) } } };
    within(1_000, () => expect(paths(schema, { a: 'x' })).toContain('/a'));
  });

  test('gives up on references that multiply', () => {
    const double = (next: number): unknown => ({
      allOf: [{ $ref: `#/$defs/a${next}` }, { $ref: `#/$defs/a${next}` }],
    });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, double(i + 1)]));
    const schema = { $defs: { ...$defs, a40: {} }, $ref: '#/$defs/a0' };
    within(3_000, () => expect(validateJson(schema, {})[0]?.message).toContain('too large'));
  });

  test('ignores formats that are unknown, costly or named like members of every object', () => {
    for (const format of ['x-own', 'url', 'hasOwnProperty', '__proto__', 7]) {
      within(200, () =>
        expect(paths({ properties: { a: { format } } }, { a: `http://${'a'.repeat(60)}!` })).toEqual([]),
      );
    }
  });

  test('compares the items of short lists only', () => {
    const schema = { properties: { a: { type: 'array', uniqueItems: true } } };
    expect(paths(schema, { a: [1, 2, 1] })).toEqual(['/a']);
    within(200, () => expect(paths(schema, { a: Array.from({ length: 20_000 }, () => 1) })).toEqual([]));
  });

  test('refuses a value with more errors than can be listed', () => {
    const value = { o: Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 1])) };
    const schema = { properties: { o: { additionalProperties: false } } };
    const issues = validateJson(schema, value);
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThanOrEqual(20);
  });

  verifies('T3', 'neither pollutes nor follows the prototype', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["toString"]}',
    ) as JsonSchema;
    const value: unknown = JSON.parse('{"__proto__":{"polluted":1}}');
    expect(paths(schema, value)).toEqual(expect.arrayContaining(['', '/__proto__']));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('leaves the schema as it was, frozen or not', () => {
    const schema = Object.freeze({
      $ref: '#/$defs/a',
      $defs: Object.freeze({ a: Object.freeze({ id: 1 }) }),
    });
    const before = JSON.stringify(schema);
    expect(validateJson(schema, {})).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);
    expect(Object.getOwnPropertyNames(schema.$defs.a)).toEqual(['id']);
  });
});

describe('values that are not JSON', () => {
  test('reads a value as it would be on the wire', () => {
    const schema = { properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] };
    expect(validateJson(schema, { a: 'x', b: undefined })).toEqual([]);
    expect(validateJson(schema, { a: undefined })).toHaveLength(1);
    expect(validateJson(schema, undefined)).toEqual([{ path: '', message: 'Is not a JSON value.' }]);
    expect(validateJson(schema, { a: 1n })).toHaveLength(1);
  });
});

describe('toStandardSchema', () => {
  test('hands the value on as the same object', () => {
    const value = { q: 'x', more: { limit: null } };
    expect(toStandardSchema(kind('dialect_2020'))['~standard'].validate(value)).toEqual({ value });
    const result = toStandardSchema(kind('dialect_2020'))['~standard'].validate(value);
    expect('value' in result && result.value).toBe(value);
  });

  verifies('B14', 'does not demand a required property that has a default, unless told to', () => {
    const lenient = toStandardSchema(kind('defaults'))['~standard'];
    const strict = toStandardSchema(kind('defaults'), { missingDefaults: 'refuse' })['~standard'];
    expect(lenient.validate({})).toEqual({ value: {} });
    expect(strict.validate({})).toHaveProperty('issues');
    expect(validateJson(kind('defaults'), {})).toHaveLength(1);
  });

  verifies('D06', 'lets values pass when the schema is unusable, and says so once', () => {
    const errors: unknown[] = [];
    const schema = { properties: { a: { $ref: '#/$defs/none' } } };
    const { validate } = toStandardSchema(schema, { onUnusable: error => errors.push(error) })['~standard'];
    expect([validate({ a: 1 }), validate({ a: 2 })]).toEqual([{ value: { a: 1 } }, { value: { a: 2 } }]);
    expect(errors).toEqual([expect.objectContaining({ name: 'SchemaUnusableError' })]);
  });

  verifies('B21', 'shows an empty properties object where there is none', () => {
    const schema = { type: 'object' };
    const { jsonSchema } = toStandardSchema(schema)['~standard'];
    expect(jsonSchema.input({ target: 'draft-07' })).toEqual({ type: 'object', properties: {} });
    expect(toJsonSchema(toStandardSchema(schema), 'input')).toBe(schema);
  });

  test('gives issue paths as keys and positions', () => {
    const schema = { properties: { 'a/b~c': { items: { type: 'string' } } } };
    const result = toStandardSchema(schema)['~standard'].validate({ 'a/b~c': [1] });
    expect(result).toMatchObject({ issues: [{ path: ['a/b~c', 0] }] });
  });
});

describe('jsonSchemaValidator', () => {
  test('makes no validator before the first value', () => {
    const schema = { type: 'object' } as const;
    Object.defineProperty(schema, 'properties', {
      enumerable: true,
      get: () => {
        throw new Error('read too early');
      },
    });
    const validate = jsonSchemaValidator.getValidator(schema);
    // a schema that breaks is no reason to refuse a value
    expect(validate({ a: 1 })).toEqual({ valid: true, data: { a: 1 }, errorMessage: undefined });
  });

  test('answers as the SDK expects', () => {
    const validate = jsonSchemaValidator.getValidator<{ n: number }>({
      type: 'object',
      properties: { n: { type: 'number' } },
    });
    expect(validate({ n: 1 })).toEqual({ valid: true, data: { n: 1 }, errorMessage: undefined });
    expect(validate({ n: 'x' })).toEqual({
      valid: false,
      data: undefined,
      errorMessage: expect.stringMatching(/^n: /) as unknown,
    });
  });
});
