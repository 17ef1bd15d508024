import { describe, expect, test } from 'vitest';
import { inNewestDialect } from '../../src/shared/schema.ts';

const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };

describe('a schema in 2020-12', () => {
  test('is the same object when it says so already', () => {
    const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [{}] };
    expect(inNewestDialect(schema)).toBe(schema);
  });

  test('has the keywords of 2020-12 for those of older dialects', () => {
    expect(inNewestDialect({ ...draft7, items: [{}, { items: [{}] }] })).toEqual({
      prefixItems: [{}, { prefixItems: [{}] }],
    });
    expect(inNewestDialect({ ...draft7, items: {}, additionalItems: false })).toEqual({ items: {} });
    expect(inNewestDialect({ ...draft7, dependencies: { a: ['b'] } })).toEqual({
      dependentRequired: { a: ['b'] },
    });
    expect(
      inNewestDialect({ minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }),
    ).toEqual({ exclusiveMinimum: 1, maximum: 9 });
  });

  test('evaluates nothing beside a reference that draft-07 ignored', () => {
    const schema = { properties: { p: { $ref: '#/$defs/a', minLength: 3, title: 'P' } }, $defs: { a: {} } };
    expect(inNewestDialect({ ...draft7, ...schema })).toEqual({
      properties: { p: { $ref: '#/$defs/a', title: 'P' } },
      $defs: { a: {} },
    });
    expect(inNewestDialect(schema)).toEqual(schema);
  });

  test('keeps properties that are called like keywords', () => {
    const schema = {
      properties: { definitions: { type: 'string' }, items: { type: 'array' }, dependencies: {} },
      required: ['definitions'],
    };
    expect(inNewestDialect({ ...draft7, ...schema })).toEqual(schema);
  });

  test('keeps the definitions where there are $defs as well', () => {
    const schema = {
      $defs: { a: {} },
      definitions: { a: { type: 'string' } },
      properties: { p: { $ref: '#/definitions/a' } },
    };
    expect(inNewestDialect(schema)).toEqual(schema);
  });

  test('stays as it was when a reference would lead nowhere', () => {
    const schema = {
      ...draft7,
      properties: { pair: { items: [{ type: 'string' }] }, other: { $ref: '#/properties/pair/items/0' } },
    };
    expect(inNewestDialect(schema)).toBe(schema);
  });
});
