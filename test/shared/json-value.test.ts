import { describe, expect, test } from 'vitest';
import { toJsonValue } from '../../src/shared/json-value.ts';
import { verifies } from '../requirements/requirements.ts';

describe('toJsonValue', () => {
  test('gives JSON back as the same object', () => {
    const value = { a: [1, 'x', null, true, { b: [] }], c: undefined };
    expect(toJsonValue(value)).toBe(value);
  });

  test('copies only the branches that change', () => {
    const value = { same: { a: 1 }, changed: { at: new Date(0) }, list: [[1], [2n]] };
    const json = toJsonValue(value) as typeof value;
    expect(json).toEqual({
      same: { a: 1 },
      changed: { at: '1970-01-01T00:00:00.000Z' },
      list: [[1], [2]],
    });
    expect(json.same).toBe(value.same);
    expect(json.list[0]).toBe(value.list[0]);
    expect(value.changed.at).toBeInstanceOf(Date);
  });

  const readable: readonly (readonly [what: string, value: unknown, json: unknown])[] = [
    ['a big integer', 2n ** 64n, '18446744073709551616'],
    ['a map with text keys', new Map([['a', 1n]]), { a: 1 }],
    ['a map with other keys', new Map([[{ k: 1 }, 'v']]), [[{ k: 1 }, 'v']]],
    ['a set', new Set([1, new Set(['a'])]), [1, ['a']]],
    ['bytes', new Uint8Array([1, 2, 3]), 'AQID'],
    ['a buffer', Buffer.from('abc'), 'YWJj'],
    ['an array buffer', new Uint8Array([1]).buffer, 'AQ=='],
    ['an error', new TypeError('no'), { name: 'TypeError', message: 'no' }],
    ['a regular expression', /a+/g, '/a+/g'],
    ['a URL', new URL('https://example.com/a'), 'https://example.com/a'],
    ['an object with toJSON', { toJSON: () => ({ n: 1n }) }, { n: 1 }],
    ['a function', () => 1, undefined],
    ['a symbol', Symbol('x'), undefined],
  ];
  for (const [what, value, json] of readable) {
    test(`makes ${what} readable`, () => expect(toJsonValue({ value })).toEqual({ value: json }));
  }

  test('marks a reference to an object around it, but not one beside it', () => {
    const shared = { a: 1 };
    const value: Record<string, unknown> = { first: shared, second: shared };
    value['self'] = value;
    expect(toJsonValue(value)).toEqual({ first: { a: 1 }, second: { a: 1 }, self: '[Circular]' });
  });

  verifies('T3', 'keeps a member named __proto__ a member', () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"n":0}') as Record<string, unknown>;
    value['n'] = 1n;
    const json = toJsonValue(value);
    expect(JSON.stringify(json)).toBe('{"__proto__":{"polluted":1},"n":1}');
    expect(Reflect.get(Object(json) as object, 'polluted')).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
