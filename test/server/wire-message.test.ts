import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toWireMessage } from '../../src/server/sessions/wire-message.ts';
import { keepWireText, toWireText } from '../../src/server/sessions/wire-text.ts';

const id = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.constant(null), fc.constant([]));
const meta = fc.oneof(
  fc.anything(),
  fc.record({ progressToken: id, other: fc.jsonValue() }, { requiredKeys: [] }),
  fc.record({ 'io.modelcontextprotocol/related-task': fc.oneof(fc.jsonValue(), fc.record({ taskId: id })) }),
);
const holder = fc.oneof(
  fc.jsonValue(),
  fc.dictionary(fc.string(), fc.jsonValue()),
  fc.record({ _meta: meta, x: fc.jsonValue() }),
);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
    id,
    method: fc.oneof(fc.string(), fc.jsonValue()),
    params: holder,
    result: holder,
    error: fc.oneof(
      fc.jsonValue(),
      fc.record({ code: id, message: fc.oneof(fc.string(), fc.jsonValue()), data: fc.jsonValue() }),
    ),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ['jsonrpc'] },
);

describe('toWireMessage', () => {
  test('accepts nothing that the engine would drop without an answer', () => {
    fc.assert(
      fc.property(fc.oneof(message, fc.jsonValue()), value => {
        if (toWireMessage(value) !== undefined)
          expect(JSONRPCMessageSchema.safeParse(value).success).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test('tells requests, notifications and responses apart', () => {
    const kind = (value: object): unknown => toWireMessage({ jsonrpc: '2.0', ...value })?.kind;
    expect(kind({ id: 0, method: 'a' })).toBe('request');
    expect(kind({ id: 'x', method: 'a', params: { _meta: { progressToken: 0 } } })).toBe('request');
    expect(kind({ method: 'a', params: {} })).toBe('notification');
    expect(kind({ id: 1, result: { anything: 1 } })).toBe('response');
    expect(kind({ id: 1, error: { code: -1, message: '', data: 1 } })).toBe('response');
    expect(kind({ id: 1, result: {}, error: { code: 1, message: '' } })).toBeUndefined();
    expect(
      toWireMessage(JSON.parse('{"jsonrpc":"2.0","id":1,"method":"a","__proto__":{"x":1}}')),
    ).toBeUndefined();
  });
});

describe('toWireText', () => {
  test('is the JSON of the message, made once for a result that is kept', () => {
    let reads = 0;
    const result = keepWireText({ tools: [], toJSON: () => ({ tools: [(reads += 1)] }) });
    for (const requestId of [1, 'a"b'])
      expect(JSON.parse(toWireText({ jsonrpc: '2.0', id: requestId, result }))).toEqual({
        jsonrpc: '2.0',
        id: requestId,
        result: { tools: [1] },
      });
    expect(keepWireText(result)).toBe(result);
    expect(toWireText({ jsonrpc: '2.0', method: 'm' })).toBe('{"jsonrpc":"2.0","method":"m"}');
  });
});
