import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJsonValue } from '../../src/shared/json-value.ts';
import {
  fromCallToolResult,
  isCallToolResult,
  joinText,
  toCallToolResult,
  toModelOutput,
} from '../../src/shared/tool-result.ts';
import { verifies } from '../requirements/requirements.ts';

const json = fc.jsonValue();
const jsonObject = fc.dictionary(fc.string(), json, { noNullPrototype: true });
const base64 = fc.base64String();
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: fc.string() }),
  fc.record({ type: fc.constant('image' as const), data: base64, mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('audio' as const), data: base64, mimeType: fc.constant('audio/wav') }),
  fc.record({ type: fc.constant('resource_link' as const), uri: fc.webUrl(), name: fc.string() }),
  fc.record({
    type: fc.constant('resource' as const),
    resource: fc.record({ uri: fc.webUrl(), text: fc.string() }),
  }),
);
const result: fc.Arbitrary<CallToolResult> = fc.record(
  { content: fc.array(block), structuredContent: jsonObject, _meta: jsonObject, isError: fc.boolean() },
  { requiredKeys: ['content'] },
);
/** Everything a tool could return, also what JSON does not know. */
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
  withNullPrototype: true,
});

/** A value as it arrives at the other side. */
function overTheWire<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

verifies('D08', 'fromCallToolResult(toCallToolResult(v)) = v for every JSON object', () => {
  fc.assert(
    fc.property(
      jsonObject.filter(value => !isCallToolResult(value)),
      value => {
        const sent = overTheWire(toCallToolResult(value, { hasOutputSchema: true }));
        expect(fromCallToolResult(sent, { hasOutputSchema: true })).toStrictEqual(overTheWire(value));
      },
    ),
  );
});

verifies('D08', 'the text of a result without a schema is the JSON of the value', () => {
  fc.assert(
    fc.property(
      json.filter(value => typeof value !== 'string' && !isCallToolResult(value)),
      value => {
        const { content } = overTheWire(toCallToolResult(value, { hasOutputSchema: false }));
        expect(joinText(content)).toBe(JSON.stringify(value));
      },
    ),
  );
});

verifies(['D08', 'S079'], 'a result passes through both directions unchanged', () => {
  fc.assert(
    fc.property(result, fc.boolean(), (given, hasOutputSchema) => {
      const options = { hasOutputSchema: hasOutputSchema && given.structuredContent !== undefined };
      expect(toCallToolResult(fromCallToolResult(given, options), options)).toEqual(
        // a success is a success without saying so
        options.hasOutputSchema && given.isError === false ? { ...given, isError: undefined } : given,
      );
    }),
  );
});

verifies('B81', 'whatever a tool returns can be sent', () => {
  fc.assert(
    fc.property(anything, fc.boolean(), (value, hasOutputSchema) => {
      const sent = overTheWire(toCallToolResult(value, { hasOutputSchema }));
      expect(CallToolResultSchema.safeParse(sent).success).toBe(true);
    }),
  );
});

verifies('D07', 'whatever a tool returns can be shown to a model', () => {
  fc.assert(
    fc.property(fc.oneof(anything, result, fc.record({ content: fc.array(fc.anything()) })), value => {
      expect(() => JSON.stringify(toModelOutput(value))).not.toThrow();
    }),
  );
});

test('JSON is its own JSON value', () => {
  fc.assert(fc.property(json, value => toJsonValue(value) === value));
});
