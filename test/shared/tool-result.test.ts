import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  fromCallToolResult,
  getMcpCallToolContent,
  getMcpCallToolMeta,
  isCallToolResult,
  joinText,
  MCP_CALL_TOOL_CONTENT,
  MCP_CALL_TOOL_META,
  toCallToolResult,
  toErrorResult,
  toErrorText,
} from '../../src/shared/tool-result.ts';
import { verifies } from '../requirements/requirements.ts';

const bare = { hasOutputSchema: false };
const withSchema = { hasOutputSchema: true };

function textOf(output: unknown, options = bare): string {
  return joinText(toCallToolResult(output, options).content);
}

/** Whatever we make must be accepted by the wire. */
function expectSendable(result: CallToolResult): void {
  expect(CallToolResultSchema.safeParse(JSON.parse(JSON.stringify(result))).success).toBe(true);
}

describe('a result the author made', () => {
  verifies(['D08', 'X22'], 'passes as the same object', () => {
    for (const result of [
      {
        content: [{ type: 'text', text: 'a' }],
        structuredContent: { n: 1 },
        _meta: { k: 1 },
        isError: false,
      },
      { content: [{ type: 'text', text: 'a' }], isError: true },
      { content: [], structuredContent: { n: 1 } },
      { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'x' } }] },
    ]) {
      expect(toCallToolResult(result, bare)).toBe(result);
      expectSendable(result as CallToolResult);
    }
  });

  verifies('D08', 'is told by typed blocks, so that a blog post stays data', () => {
    const post = { title: 'T', content: ['first paragraph'] };
    expect(isCallToolResult(post)).toBe(false);
    expect(toCallToolResult(post, bare)).toEqual({
      content: [{ type: 'text', text: JSON.stringify(post) }],
      structuredContent: post,
    });
    for (const value of [null, 'x', [], { content: 'x' }, { content: [{}] }, { content: [{ type: 1 }] }]) {
      expect(isCallToolResult(value)).toBe(false);
    }
  });

  verifies('B81', 'keeps its content and gets structured content where an output schema asks for it', () => {
    const output = { content: [{ type: 'text', text: 'a' }] };
    const result = toCallToolResult(output, withSchema);
    expect(result).toEqual({ ...output, structuredContent: output });
    expectSendable(result);
    const failed = { ...output, isError: true };
    expect(toCallToolResult(failed, withSchema)).toBe(failed);
  });

  verifies('D06', 'keeps sound blocks beside malformed and unknown ones, which become text', () => {
    const result = toCallToolResult(
      {
        content: [
          { type: 'text', text: 'good' },
          { type: 'text' },
          { type: 'hologram', depth: 3 },
          { type: 'image', data: 'not base64!', mimeType: 'image/png' },
          { type: 'image', data: 'data:image/gif;base64,AAAA' },
        ],
      },
      bare,
    );
    expect(result.content).toEqual([
      { type: 'text', text: 'good' },
      { type: 'text', text: '{"type":"text"}' },
      { type: 'text', text: '{"type":"hologram","depth":3}' },
      { type: 'text', text: '{"type":"image","data":"not base64!","mimeType":"image/png"}' },
      { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
    ]);
    expectSendable(result);
  });

  verifies('B81', 'never breaks the protocol by the members around its content', () => {
    for (const around of [
      { structuredContent: [1, 2] },
      { structuredContent: { n: 1n } },
      { _meta: 'x' },
      { isError: 'yes' },
    ]) {
      expectSendable(toCallToolResult({ content: [{ type: 'text', text: 'a' }], ...around }, bare));
    }
  });
});

describe('a returned value', () => {
  verifies(['D08', 'B81'], 'is nothing, text or JSON', () => {
    expect(toCallToolResult(undefined, bare)).toEqual({ content: [] });
    expect(toCallToolResult(() => 1, bare)).toEqual({ content: [] });
    expect(toCallToolResult('plain', bare)).toEqual({ content: [{ type: 'text', text: 'plain' }] });
    expect(toCallToolResult('', withSchema)).toEqual({ content: [{ type: 'text', text: '' }] });
    expect(toCallToolResult([1, { a: null }], withSchema)).toEqual({
      content: [{ type: 'text', text: '[1,{"a":null}]' }],
    });
    for (const [value, text] of [
      [null, 'null'],
      [0, '0'],
      [false, 'false'],
      [10n, '10'],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
    ] as const) {
      expect(toCallToolResult(value, bare)).toEqual({ content: [{ type: 'text', text }] });
    }
  });

  verifies('D08', 'stays structured when it is a plain object, or when the tool has an output schema', () => {
    class Point {
      readonly x = 1;
    }
    expect(toCallToolResult({ a: 1 }, bare).structuredContent).toEqual({ a: 1 });
    expect(toCallToolResult(Object.create(null), bare).structuredContent).toEqual({});
    expect(toCallToolResult(new Point(), bare)).not.toHaveProperty('structuredContent');
    expect(toCallToolResult(new Point(), withSchema).structuredContent).toEqual({ x: 1 });
    expect(textOf(new Point())).toBe('{"x":1}');
  });

  test('is not copied when it is JSON already', () => {
    const value = { a: [1] };
    expect(toCallToolResult(value, bare).structuredContent).toBe(value);
  });

  verifies(['D08', 'B81'], 'is readable when it is not JSON', () => {
    const loop: Record<string, unknown> = { n: 2n ** 70n, map: new Map([['a', new Set([1])]]) };
    loop['self'] = loop;
    const result = toCallToolResult(loop, bare);
    expect(result.structuredContent).toEqual({
      n: '1180591620717411303424',
      map: { a: [1] },
      self: '[Circular]',
    });
    expect(textOf(loop)).toBe(JSON.stringify(result.structuredContent));
    expectSendable(result);
  });

  verifies('D08', 'that cannot be written at all gives an error result that says so', () => {
    const value = {
      get broken(): never {
        throw new Error('no access');
      },
    };
    expect(toCallToolResult(value, bare)).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'The tool returned a value that cannot be sent: no access' }],
    });
  });

  verifies('T3', 'keeps a member named __proto__ a member', () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":1}}');
    const result = toCallToolResult(value, bare);
    expect(textOf(value)).toBe('{"__proto__":{"polluted":1}}');
    const back = fromCallToolResult(result, withSchema);
    expect(JSON.stringify(back)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('an error', () => {
  verifies('D08', 'becomes a result with isError, and _meta when there is some', () => {
    expect(toErrorResult('no')).toEqual({ isError: true, content: [{ type: 'text', text: 'no' }] });
    expect(toErrorResult('no', { k: 1 })._meta).toEqual({ k: 1 });
  });

  verifies('D08', 'is one readable line without stack traces or JSON of its own', () => {
    const zodError = z
      .object({ user: z.object({ age: z.number() }) })
      .safeParse({ user: { age: 'x' } }).error;
    expect(toErrorText(zodError)).toMatch(/^user\.age: Invalid input/);
    const cases: readonly (readonly [error: unknown, text: string])[] = [
      [new Error('first\n  second\n    at run (file:///a.js:1:2)\n    at file:///b.js:3:4'), 'first second'],
      [new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
      [new TypeError(), 'TypeError'],
      ['thrown text', 'thrown text'],
      [{ message: 'like an error' }, 'like an error'],
      [{ token: 'secret' }, 'Unknown error'],
      [undefined, 'Unknown error'],
      [null, 'Unknown error'],
      [new Error('meet me at (noon)'), 'meet me at (noon)'],
    ];
    for (const [error, text] of cases) expect(toErrorText(error)).toBe(text);
    expect(toErrorText('x'.repeat(5_000)).length).toBeLessThan(2_100);
  });
});

describe('what a remote tool gives back', () => {
  verifies('S079', 'is the whole result without an output schema', () => {
    const result: CallToolResult = {
      content: [{ type: 'text', text: 'a' }],
      structuredContent: { n: 1 },
      isError: false,
    };
    expect(fromCallToolResult(result, bare)).toBe(result);
  });

  verifies(['S079', 'S249'], 'is the structured content with one; content and _meta are found on it', () => {
    const result: CallToolResult = {
      content: [{ type: 'text', text: 'shown to the model' }],
      structuredContent: { n: 2 },
      _meta: { trace: 'abc' },
    };
    const output = fromCallToolResult(result, withSchema);
    expect(output).toStrictEqual({ n: 2 });
    expect(JSON.stringify(output)).toBe('{"n":2}');
    expect(getMcpCallToolContent(output)).toEqual(result.content);
    expect(getMcpCallToolMeta(output)).toEqual({ trace: 'abc' });
    expect(Reflect.get(output as object, MCP_CALL_TOOL_CONTENT)).toBe(result.content);
    expect(Reflect.get(output as object, MCP_CALL_TOOL_META)).toBe(result._meta);
    // over an in-memory transport the object is the server's own
    expect(Reflect.ownKeys(result.structuredContent ?? {})).toEqual(['n']);
  });

  verifies('S249', 'is searched for content and _meta in the whole form too', () => {
    const result = { content: [{ type: 'text', text: 'a' }], _meta: { k: 1 } };
    expect(getMcpCallToolContent(result)).toBe(result.content);
    expect(getMcpCallToolMeta(result)).toBe(result._meta);
    for (const value of [undefined, null, 'x', { a: 1 }, { content: ['x'], _meta: {} }]) {
      expect(getMcpCallToolContent(value)).toBeUndefined();
      expect(getMcpCallToolMeta(value)).toBeUndefined();
    }
  });

  verifies('B84', 'tolerates what is missing', () => {
    const onlyStructured = { structuredContent: { n: 1 } } as unknown as CallToolResult;
    expect(fromCallToolResult(onlyStructured, withSchema)).toEqual({ n: 1 });
    expect(fromCallToolResult(onlyStructured, bare)).toEqual({ content: [], structuredContent: { n: 1 } });
    const onlyText: CallToolResult = { content: [{ type: 'text', text: '{"n":1}' }] };
    expect(fromCallToolResult(onlyText, withSchema)).toEqual({ n: 1 });
    for (const text of ['words', '{broken', '[1]']) {
      const result: CallToolResult = { content: [{ type: 'text', text }] };
      expect(fromCallToolResult(result, withSchema)).toBe(result);
    }
  });

  verifies('B82', 'stays whole when it is an error, and its text blocks can be joined', () => {
    const result: CallToolResult = {
      isError: true,
      structuredContent: { n: 1 },
      content: [
        { type: 'text', text: 'first reason' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'text', text: 'second reason' },
      ],
    };
    expect(fromCallToolResult(result, withSchema)).toBe(result);
    expect(joinText(result.content)).toBe('first reason\nsecond reason');
    expect(joinText([null, { type: 'text' }] as never)).toBe('');
  });

  test('goes through a server of ours with its own content', () => {
    const result: CallToolResult = {
      content: [{ type: 'text', text: 'own words' }],
      structuredContent: { n: 1 },
      _meta: { k: 1 },
    };
    expect(toCallToolResult(fromCallToolResult(result, withSchema), withSchema)).toEqual(result);
  });
});
