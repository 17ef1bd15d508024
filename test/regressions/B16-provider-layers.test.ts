import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { expect } from 'vitest';
import { inspectSchema } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient, textOf } from '../support/client.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const inputSchema = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
    order: { anyOf: [{ $ref: '#/$defs/order' }, { type: 'null' }] },
  },
  required: ['query'],
  $defs: { order: { type: 'string', enum: ['asc', 'desc'] } },
};

verifies('B16', 'null unions and references survive the layer of core for every provider', async () => {
  await using client = openClient({
    s: rawServer({ tools: [rawTool('search', { definition: { inputSchema } })] }),
  });
  const tools = await client.listTools();
  for (const [provider, modelId] of [
    ['openai.chat', 'gpt-4o'],
    ['openai.responses', 'o3-mini'],
    ['anthropic.messages', 'claude-sonnet-4-5'],
    ['google.generative-ai', 'gemini-2.5-pro'],
  ] as const) {
    let shown: unknown;
    let calls = 0;
    const model = new MastraLanguageModelV2Mock({
      provider,
      modelId,
      doGenerate: options => {
        calls += 1;
        shown = options.tools?.find(({ name }) => name === 's_search');
        const input = JSON.stringify({ query: 'x', limit: null, order: null });
        const call = { type: 'tool-call', toolCallId: 'c', toolName: 's_search', input } as const;
        const text = { type: 'text', text: 'done' } as const;
        return Promise.resolve({
          content: [calls === 1 ? call : text],
          finishReason: calls === 1 ? 'tool-calls' : 'stop',
          usage,
          warnings: [],
        });
      },
    });
    const agent = new Agent({
      id: 'a',
      name: 'a',
      instructions: 'x',
      model: model as MastraModelConfig,
      tools,
    });
    const { toolResults } = await agent.generate('go');
    const { inputSchema: offered } = shown as { readonly inputSchema: { readonly properties: object } };
    expect(inspectSchema(offered), provider).toBeUndefined();
    expect(Object.keys(offered.properties), provider).toEqual(['query', 'limit', 'order']);
    const sent = JSON.parse(textOf(toolResults[0]?.payload.result)) as object;
    // In OpenAI's strict mode null stands for an optional argument that is not there, so core drops it.
    const asGiven = { query: 'x', limit: null, order: null };
    expect(sent, provider).toEqual(provider.startsWith('openai') ? { query: 'x' } : asGiven);
  }
});
