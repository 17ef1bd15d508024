import { UriTemplate } from '@modelcontextprotocol/sdk/shared/uriTemplate.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toUriMatcher } from '../../src/server/capabilities/uri-template.ts';
import { verifies } from '../requirements/requirements.ts';

const fits = (template: string, uri: string): boolean | undefined => toUriMatcher(template)?.(uri);

test.each([
  ['x://fixed', ['x://fixed'], ['x://fixed/', 'x://fixe', 'y://fixed', '']],
  [
    'file://data/{id}',
    ['file://data/1', 'file://data/a%20b'],
    ['file://data/', 'file://data/1/2', 'file://1'],
  ],
  ['x://{a}/{b}', ['x://1/2'], ['x://1', 'x://1/2/3', 'x:///2']],
  ['x://{a}-{b}', ['x://1-2', 'x://1-2-3', 'x://--9'], ['x://12', 'x://-2', 'x://1-']],
  ['x://{+path}', ['x://a/b?c#d'], ['x://']],
  ['x://{+path}/end', ['x://a/end', 'x://a/end/end'], ['x://a/end/', 'x:///end']],
  ['x://a{#part}', ['x://a', 'x://a#b/c'], ['x://ab', 'x://a#']],
  ['x://a{.kind}', ['x://a', 'x://a.txt', 'x://a.b.c'], ['x://a/b', 'x://atxt']],
  ['x://a{/path*}', ['x://a', 'x://a/b/c'], ['x://ab', 'x://a/b?c']],
  ['x://a{;list}', ['x://a', 'x://a;list=1'], ['x://a?list=1']],
  ['x://a{?q,page}', ['x://a', 'x://a?q=1&page=2'], ['x://a&q=1', 'x://a?q=1#f']],
  ['x://a?fixed=1{&q}', ['x://a?fixed=1', 'x://a?fixed=1&q=2'], ['x://a?q=2']],
  ['x://{id:3}', ['x://abc'], ['x://a/b']],
  ['x://{a}{?q}{#f}', ['x://1', 'x://1?q=2', 'x://1#3', 'x://1?q=2#3'], ['x://?q=2']],
] as const)('%s fits what it can be expanded to', (template, fitting, others) => {
  expect(fitting.map(uri => [uri, fits(template, uri)])).toEqual(fitting.map(uri => [uri, true]));
  expect(others.map(uri => [uri, fits(template, uri)])).toEqual(others.map(uri => [uri, false]));
});

test.each(['x://{a', 'x://a}', 'x://}a{', 'x://{a{b}}', 'x://{}', 'x://{a b}', 'x://{=a}', 'x://{a,}'])(
  '%s is no template',
  template => expect(toUriMatcher(template)).toBeUndefined(),
);

verifies('S9', 'refuses templates whose values nobody could tell apart', () => {
  for (const template of ['x://{a}{b}', 'x://{a}{b}{c}{d}', 'x://{+a}{+b}', 'x://{a}{+b}', 'x://{?a}{b}']) {
    expect(toUriMatcher(template), template).toBeUndefined();
  }
});

verifies('S9', 'decides about the longest URIs at once, whatever the template', () => {
  const templates = [
    ['x://{a}-{b}-{c}-{d}-{e}-{f}!', `x://${'a-'.repeat(4094)}`],
    ['x://{+a}a{+b}a{+c}a{+d}a{+e}a{+f}!', `x://${'a'.repeat(8188)}`],
    [`{+a}${'a'.repeat(100)}b{+c}`, 'a'.repeat(8192)],
    ['x:{/a*}{/b*}{/c*}{/d*}{?e}{#f}!', `x:${'/a'.repeat(4095)}`],
  ] as const;
  const start = performance.now();
  for (const [template, uri] of templates) expect(fits(template, uri), template).toBe(false);
  // A matcher that tries again what it has tried needs minutes for any of them; this one needs some milliseconds.
  expect(performance.now() - start).toBeLessThan(1000);
});

const value = fc.string({ unit: fc.constantFrom('x', 'y', '-', '~', 'ä', ' '), minLength: 1, maxLength: 4 });
const literal = fc.string({ unit: fc.constantFrom('x', '-', '/', '.'), minLength: 1, maxLength: 3 });
const expression = fc.constantFrom('{a}', '{+b}', '{c}', '{/a}', '{.b}');
const tail = fc.constantFrom('', '{?a,b}', '{#c}', '{?a}{#b}');
const anyTemplate = fc
  .tuple(fc.array(fc.tuple(literal, expression), { minLength: 1, maxLength: 4 }), tail)
  .map(([parts, end]) => parts.flat().join('') + end);

test('fits whatever another implementation expands a template to', () => {
  fc.assert(
    fc.property(anyTemplate, fc.record({ a: value, b: value, c: value }), (template, values) => {
      const uri = new UriTemplate(template).expand(values);
      expect(fits(template, uri), `${template} ${uri}`).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

/** Tries every split of a URI: slow, and plainly right. */
function fitsSlowly(
  parts: readonly (string | { readonly prefix: string; readonly ends: string })[],
  uri: string,
): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return uri === '';
  if (typeof part === 'string') return uri.startsWith(part) && fitsSlowly(rest, uri.slice(part.length));
  const { prefix, ends } = part;
  if (prefix !== '' && fitsSlowly(rest, uri)) return true;
  if (!uri.startsWith(prefix)) return false;
  for (let end = prefix.length + 1; end <= uri.length; end += 1) {
    if (ends.includes(uri.charAt(end - 1))) return false;
    if (fitsSlowly(rest, uri.slice(end))) return true;
  }
  return false;
}

const EXPANSIONS: Readonly<Record<string, { readonly prefix: string; readonly ends: string }>> = {
  '{a}': { prefix: '', ends: '/?#' },
  '{+a}': { prefix: '', ends: '' },
  '{/a}': { prefix: '/', ends: '?#' },
  '{?a}': { prefix: '?', ends: '#' },
  '{#a}': { prefix: '#', ends: '' },
};

test('agrees with a matcher that tries every split', () => {
  const piece = fc.oneof(literal, fc.constantFrom(...Object.keys(EXPANSIONS)));
  const uri = fc.string({ unit: fc.constantFrom('x', '-', '/', '?', '#'), maxLength: 10 });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), uri, (pieces, candidate) => {
      const matcher = toUriMatcher(pieces.join(''));
      if (matcher === undefined) return;
      const parts = pieces.map(text => EXPANSIONS[text] ?? text);
      expect(matcher(candidate), `${pieces.join('')} ${candidate}`).toBe(fitsSlowly(parts, candidate));
    }),
    { numRuns: 2000 },
  );
});
