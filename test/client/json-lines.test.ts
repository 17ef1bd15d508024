import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonLineReader } from '../../src/client/connection/transports/json-lines.ts';
import { verifies } from '../requirements/requirements.ts';

/** Reads pieces and tells everything in order. */
function read(pieces: readonly (string | Buffer)[], limit = 1000): unknown[] {
  const told: unknown[] = [];
  const reader = new JsonLineReader(limit, {
    onLine: text => told.push(text),
    onOther: start => told.push({ other: start }),
    onTooLarge: (start, size) => told.push({ start, size }),
  });
  for (const piece of pieces) reader.push(Buffer.from(piece as string));
  return told;
}

verifies('B74', 'gives whole lines of JSON, and only the start of others', () => {
  expect(read(['hello\n{"a":1}\n\n  \t\r\n[1]\r\n', '  {"b":2}\n', 'x'.repeat(1500), 'y\n{}\n'])).toEqual([
    { other: 'hello' },
    '{"a":1}',
    '[1]\r',
    '{"b":2}',
    { other: 'x'.repeat(800) },
    '{}',
  ]);
});

verifies('B74', 'gives the same lines however the bytes are cut, characters included', () => {
  const line = fc.oneof(
    fc.json().map(json => `{"value":${json}}`),
    fc.string({ unit: 'grapheme' }).map(text => `{"text":${JSON.stringify(text)}}`),
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(line), cuts, (lines, sizes) => {
      const bytes = Buffer.from(lines.map(text => `${text}\n`).join(''));
      const pieces: Buffer[] = [];
      for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length] ?? 1) {
        pieces.push(bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1)));
      }
      expect(read(pieces, 1e6)).toEqual(lines);
    }),
  );
});

verifies('P5', 'stops at a line of JSON above the limit, and passes one of exactly the limit', () => {
  const fits = JSON.stringify(['x'.repeat(996)]);
  expect(read([fits, '\n'])).toEqual([fits]);
  expect(read([`${fits}\n`])).toEqual([fits]);
  const tooLarge = { start: expect.stringMatching(/^\["x+$/) as unknown, size: 1001 };
  expect(read([JSON.stringify(['x'.repeat(997)]), '\n{}\n'])).toEqual([tooLarge]);
  expect(read([`${JSON.stringify(['x'.repeat(997)])}\n{}\n`, '{}\n'])).toEqual([tooLarge]);
  expect(read([fits.slice(0, 500), fits.slice(500), 'x', '\n{}\n'])).toEqual([tooLarge]);
});

test('drops a line that is no JSON without keeping it, whatever its size', () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const told: string[] = [];
  const reader = new JsonLineReader(1000, {
    onLine: text => told.push(text),
    onOther: start => told.push(start),
    onTooLarge: () => told.push('too large'),
  });
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 200; index += 1) reader.push(piece);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1e6);
  reader.push(Buffer.from('\n{}\n'));
  expect(told).toEqual(['x'.repeat(800), '{}']);
});

verifies('B62', 'takes linear time for a long line in small pieces', () => {
  const piece = Buffer.from(`${' '.repeat(15)}1`);
  const time = (pieces: number): number => {
    const reader = new JsonLineReader(1e9, {
      onLine: () => undefined,
      onOther: () => undefined,
      onTooLarge: () => undefined,
    });
    const before = performance.now();
    reader.push(Buffer.from('['));
    for (let index = 0; index < pieces; index += 1) reader.push(piece);
    reader.push(Buffer.from(']\n'));
    return performance.now() - before;
  };
  time(50_000);
  // Ten times the size in ten times the time; a hundred times would be quadratic.
  expect(time(1_000_000)).toBeLessThan(40 * Math.max(time(100_000), 1));
});
