import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { toStandardSchema } from '../../src/shared/schema.ts';
import { fromCallToolResult, toModelOutput } from '../../src/shared/tool-result.ts';
import { verifies } from '../requirements/requirements.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** What the model was given as the output of a tool that returned `output`. */
async function shownToModel(output: unknown, args: object = {}): Promise<unknown> {
  const prompts: { role: string; content: unknown }[][] = [];
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async options => {
      prompts.push(options.prompt);
      const content =
        prompts.length === 1
          ? [{ type: 'tool-call' as const, toolCallId: '1', toolName: 't', input: JSON.stringify(args) }]
          : [{ type: 'text' as const, text: 'done' }];
      const finishReason = prompts.length === 1 ? ('tool-calls' as const) : ('stop' as const);
      return { content, finishReason, usage, warnings: [] };
    },
  });
  const tool = createTool({
    id: 't',
    description: 't',
    inputSchema: toStandardSchema({ type: 'object', properties: { n: { type: 'number' } } }),
    execute: async () => output,
    toModelOutput,
  });
  const agent = new Agent({
    id: 'a',
    name: 'a',
    instructions: 'x',
    model: model as MastraModelConfig,
    tools: { t: tool },
  });
  await agent.generate('go');
  const parts = prompts[1]?.filter(message => message.role === 'tool').flatMap(message => message.content);
  return (parts?.[0] as { readonly output: unknown } | undefined)?.output;
}

describe('through an agent', () => {
  verifies('D07', 'media reaches the model as media, the rest as text', async () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' },
      { type: 'hologram', depth: 3 },
    ];
    expect(await shownToModel({ content })).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: 'look' },
        { type: 'media', data: 'AAAA', mediaType: 'image/png' },
        { type: 'media', data: 'BBBB', mediaType: 'audio/wav' },
        { type: 'text', text: '{"type":"hologram","depth":3}' },
      ],
    });
  });

  verifies(['D07', 'S249'], 'structured output is shown by the content it came with', async () => {
    const output = fromCallToolResult(
      { content: [{ type: 'text', text: 'shown to the model' }], structuredContent: { n: 2 } },
      { hasOutputSchema: true },
    );
    expect(await shownToModel(output)).toEqual({ type: 'text', value: 'shown to the model' });
  });

  verifies('B82', 'a failed result is shown as an error', async () => {
    const content = [
      { type: 'text', text: 'first reason' },
      { type: 'text', text: 'second reason' },
    ];
    expect(await shownToModel({ isError: true, content })).toEqual({
      type: 'error-text',
      value: 'first reason\nsecond reason',
    });
  });

  verifies('D07', 'arguments that core refused are shown as an error with the path', async () => {
    expect(await shownToModel({}, { n: 'x' })).toEqual({
      type: 'error-text',
      value: expect.stringContaining('n: ') as unknown,
    });
  });
});

describe('toModelOutput', () => {
  const block = (content: unknown): unknown => toModelOutput({ content: [content] });

  verifies('D07', 'tells a model what an embedded resource or a link is', () => {
    expect(block({ type: 'resource', resource: { uri: 'file:///a', text: 'body' } })).toEqual({
      type: 'text',
      value: 'Resource file:///a:\nbody',
    });
    expect(
      block({ type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA', mimeType: 'image/png' } }),
    ).toEqual({ type: 'content', value: [{ type: 'media', data: 'AAAA', mediaType: 'image/png' }] });
    expect(
      block({ type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA', mimeType: 'application/zip' } }),
    ).toEqual({ type: 'text', value: 'Resource file:///a (application/zip, 3 bytes)' });
    expect(block({ type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } })).toEqual({
      type: 'text',
      value: 'Resource file:///a (unknown type, 3 bytes)',
    });
    expect(
      block({ type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain', description: 'd' }),
    ).toEqual({ type: 'text', value: 'Resource a: file:///a (text/plain; d)' });
    expect(block({ type: 'resource_link', uri: 'file:///a' })).toEqual({
      type: 'text',
      value: 'Resource file:///a',
    });
  });

  verifies('D07', 'keeps malformed blocks as JSON text', () => {
    for (const malformed of [
      { type: 'text' },
      { type: 'image', data: 1, mimeType: 'image/png' },
      { type: 'resource' },
      { type: 'resource', resource: {} },
      { type: 'resource', resource: { uri: 'file:///a' } },
      { type: 'resource_link' },
    ]) {
      expect(block(malformed)).toEqual({ type: 'text', value: JSON.stringify(malformed) });
    }
  });

  test('shows other output as text or JSON', () => {
    expect(toModelOutput('x')).toEqual({ type: 'text', value: 'x' });
    expect(toModelOutput({ n: 1n })).toEqual({ type: 'json', value: { n: 1 } });
    expect(toModelOutput(null)).toEqual({ type: 'json', value: null });
    expect(toModelOutput(undefined)).toEqual({ type: 'text', value: '' });
    expect(toModelOutput({ content: [] })).toEqual({ type: 'text', value: '' });
    expect(toModelOutput({ content: [], structuredContent: { n: 1 } })).toEqual({
      type: 'json',
      value: { n: 1 },
    });
  });

  verifies('B82', 'says something even when a failed result says nothing', () => {
    expect(toModelOutput({ isError: true, content: [] })).toEqual({
      type: 'error-text',
      value: 'The tool failed without saying why.',
    });
  });

  verifies('D07', 'never throws', () => {
    const broken = {
      get content(): never {
        throw new Error('no access');
      },
    };
    expect(toModelOutput(broken)).toEqual({
      type: 'error-text',
      value: 'The output of the tool cannot be shown: no access',
    });
  });
});
