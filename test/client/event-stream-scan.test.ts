import { createParser } from 'eventsource-parser';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventStreamScan } from '../../src/client/connection/event-stream-scan.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function scan(...chunks: readonly string[]): {
  lastEventId: string | undefined;
  unfinished: boolean;
  sizes: number[];
} {
  const stream = new EventStreamScan();
  const sizes = chunks.map(chunk => stream.feed(bytes(chunk)));
  return { lastEventId: stream.lastEventId, unfinished: stream.unfinished, sizes };
}

test('the id of an event counts once the event is complete and has data', () => {
  expect(scan('id: 1\ndata: x\n').lastEventId).toBeUndefined();
  expect(scan('id: 1\ndata: x\n\n').lastEventId).toBe('1');
  expect(scan('id: 1\ndata:\n\n').lastEventId).toBe('1');
  expect(scan('id: 1\n\n').lastEventId).toBeUndefined();
  expect(scan('id: 1\ndata: x\n\ndata: y\n\n').lastEventId).toBe('1');
  expect(scan('id: 1\ndata: x\n\nid: 2\ndata: y\n\n').lastEventId).toBe('2');
});

test('data and comments that look like ids are none', () => {
  expect(scan('data: id: 1\n: id: 2\nidx: 3\nevent: id\n\n').lastEventId).toBeUndefined();
});

test('an event without its blank line is unfinished', () => {
  expect(scan('data: x\n\n').unfinished).toBe(false);
  expect(scan('data: x\n').unfinished).toBe(true);
  expect(scan('data: x').unfinished).toBe(true);
});

test('the size of an event is that of its lines, over chunks and lines', () => {
  expect(scan('data: 123\n\n').sizes).toEqual([9]);
  expect(scan('data: 123\ndata: 4\n', 'da').sizes).toEqual([16, 18]);
  expect(scan('data: 123456789\n\ndata: 1\n\n').sizes).toEqual([15]);
});

test('a line may end with carriage return and line feed in different chunks', () => {
  expect(scan('id: 1\r', '\ndata: x\r', '', '\n\r', '\n').lastEventId).toBe('1');
  expect(scan('id: 1\rdata: x\r', '', '\nid: 2\r', '\n').lastEventId).toBeUndefined();
});

const anyLine = fc.oneof(
  fc.constantFrom(
    '',
    '',
    'data: {}',
    'data:',
    'data',
    'id: 7',
    'id:8',
    'id',
    'id: ',
    ': hi',
    'event: message',
    'retry: 5',
  ),
  fc.nat(99).map(id => `id: e${id}`),
);
const anyStream = fc
  .array(fc.tuple(anyLine, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
  .map(lines => lines.flat().join(''));

test('however it is cut, the last event id is the one the parser of the SDK gives', () => {
  fc.assert(
    fc.property(anyStream, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
      let expected: string | undefined;
      // The parser keeps a carriage return at the end back, waiting for more.
      const parser = createParser({ onEvent: ({ id }) => (expected = id || expected) });
      parser.feed(`${text}:`);

      const stream = new EventStreamScan();
      const all = bytes(`${text}:`);
      const at = [0, ...cuts.map(cut => Math.min(cut, all.length)).toSorted((a, b) => a - b), all.length];
      at.slice(1).forEach((end, index) => stream.feed(all.subarray(at[index], end)));
      expect(stream.lastEventId).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});
