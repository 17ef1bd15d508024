import { describe, expect, test } from 'vitest';
import { inspectSchema } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';

describe('defects', () => {
  const defects: readonly (readonly [what: string, schema: unknown, path: string, reason: string])[] = [
    ['no schema at all', undefined, '', 'missing'],
    ['a boolean at the root', true, '', 'true'],
    ['a list at the root', [], '', 'list'],
    ['a root that is no object', { type: 'string' }, '/type', '"string"'],
    ['an unknown type', { properties: { a: { type: 'int' } } }, '/properties/a/type', '"int"'],
    ['a misspelt type', { properties: { a: { type: ['strng', 'null'] } } }, '/properties/a/type', '"strng"'],
    [
      'required inside properties',
      { properties: { a: {}, required: ['a'] } },
      '/properties/required',
      'a list',
    ],
    ['required as a flag', { properties: { a: { required: true } } }, '/properties/a/required', 'true'],
    ['required with numbers', { required: [1] }, '/required', 'property names'],
    ['properties as a list', { properties: [] }, '/properties', 'not an object'],
    ['an empty alternative', { anyOf: [] }, '/anyOf', 'list of schemas'],
    ['an alternative that is text', { anyOf: ['x'] }, '/anyOf/0', 'not a JSON Schema'],
    ['enum as an object', { properties: { a: { enum: {} } } }, '/properties/a/enum', 'not a list'],
    ['a broken pattern', { properties: { a: { pattern: '(' } } }, '/properties/a/pattern', 'regular'],
    ['a broken property pattern', { patternProperties: { '[': {} } }, '/patternProperties', '"["'],
    ['a reference to nowhere', { items: { $ref: '#/$defs/a' } }, '/items/$ref', 'leads nowhere'],
    ['a reference to an unknown anchor', { $ref: '#a' }, '/$ref', 'leads nowhere'],
    ['a reference into a broken escape', { $ref: '#/%zz' }, '/$ref', 'leads nowhere'],
    ['a reference to an inherited member', { $ref: '#/constructor' }, '/$ref', 'leads nowhere'],
    ['a reference that is a number', { $ref: 1 }, '/$ref', 'not a string'],
    ['a reference to itself', { $ref: '#' }, '/$ref', 'leads back'],
    [
      'references in a circle',
      { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
      '/$defs/a/allOf/0/$ref',
      'leads back',
    ],
  ];

  verifies(['B24', 'D06'], 'names path and reason of what makes a schema unusable', () => {
    for (const [what, schema, path, reason] of defects) {
      const defect = inspectSchema(schema);
      expect(defect?.path, what).toBe(path);
      expect(defect?.reason, what).toContain(reason);
    }
  });
});

describe('what is no defect', () => {
  const sound: Record<string, object> = {
    'no keywords': {},
    'boolean subschemas': { properties: { a: true, b: false }, additionalProperties: false },
    'a property named like a keyword': { properties: { required: { type: 'boolean' }, type: {}, $ref: {} } },
    'a nullable root': { type: ['object', 'null'] },
    'a recursive reference below the value': { properties: { child: { $ref: '#' } } },
    'an escaped reference': { $defs: { 'a/b c': {} }, items: { $ref: '#/$defs/a~1b%20c' } },
    'a reference to a boolean': { $defs: { any: true }, items: { $ref: '#/$defs/any' } },
    'a reference to a place that is no keyword': {
      components: { schemas: { a: {} } },
      items: { $ref: '#/components/schemas/a' },
    },
    'a reference elsewhere': { items: { $ref: 'https://example.com/x.json' } },
    'a reference inside an embedded schema': {
      $defs: { inner: { $id: 'https://example.com/i', $defs: { a: {} }, items: { $ref: '#/$defs/a' } } },
    },
    'a pattern that is valid without the u flag': { properties: { a: { pattern: '^\\d\\-\\_$' } } },
    'draft-07 dependencies': { dependencies: { a: ['b'], c: { required: ['d'] } } },
    'unknown keywords': { 'x-note': [], properties: { a: { 'x-mcp-header': 'A' } } },
    'literals that look like schemas': {
      properties: { a: { default: { type: 'int' }, const: { $ref: 1 } } },
    },
  };

  for (const [what, schema] of Object.entries(sound)) {
    test(`accepts ${what}`, () => expect(inspectSchema(schema)).toBeUndefined());
  }
});
