import { createTool } from '@mastra/core/tools';
import type { MCPToolExecutionContext } from '@mastra/core/tools';
import { assertType, expectTypeOf, test } from 'vitest';
import { urlElicitationRequired } from '../../src/server/index.ts';
import type { MCPServer, MCPServerError, MCPToolContext } from '../../src/server/index.ts';

test('what tools find as context.mcp is what core says, and more', () => {
  expectTypeOf<MCPToolContext>().toExtend<MCPToolExecutionContext>();
  createTool({
    id: 'x',
    description: 'X',
    execute: async (_input, context) => {
      expectTypeOf(context.mcp).toEqualTypeOf<MCPToolExecutionContext | undefined>();
      const mcp = context.mcp as MCPToolContext | undefined;
      expectTypeOf(mcp?.roots.list()).resolves.toHaveProperty('roots');
    },
  });
});

test('a form needs a schema, a page needs a URL and no id', () => {
  const { elicitation } = {} as MCPToolContext;
  const form = { message: 'm', requestedSchema: { type: 'object' as const, properties: {} } };
  assertType<Promise<{ action: 'accept' | 'decline' | 'cancel' }>>(elicitation.sendRequest(form));
  assertType(elicitation.sendRequest({ mode: 'url', message: 'm', url: 'https://example.com' }));
  // @ts-expect-error neither a schema nor a URL
  assertType(elicitation.sendRequest({ message: 'm' }));
  // @ts-expect-error a page without a URL
  assertType(elicitation.sendRequest({ mode: 'url', message: 'm' }));
});

test('a model that may use tools can answer with several blocks', async () => {
  const { sampling } = {} as MCPToolContext;
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
  const plain = sampling.sendRequest({ messages, maxTokens: 1 });
  expectTypeOf((await plain).content.type).toEqualTypeOf<'text' | 'image' | 'audio'>();
  const tools = [{ name: 't', inputSchema: { type: 'object' as const } }];
  const { content } = await sampling.sendRequest({ messages, maxTokens: 1, tools });
  expectTypeOf([content].flat()[0]?.type)
    .extract<string>()
    .toEqualTypeOf<'text' | 'image' | 'audio' | 'tool_use' | 'tool_result'>();
  // @ts-expect-error without a limit
  assertType(sampling.sendRequest({ messages }));
});

test('pages that are required first make an error with a code', () => {
  const error = urlElicitationRequired([{ message: 'm', url: 'https://example.com' }]);
  expectTypeOf(error).toEqualTypeOf<MCPServerError>();
  expectTypeOf<MCPServer['elicitation']['complete']>().returns.resolves.toBeBoolean();
});
