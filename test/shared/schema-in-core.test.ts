import { readFileSync } from 'node:fs';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { createTool, isValidationError } from '@mastra/core/tools';
import { describe, expect } from 'vitest';
import { inspectSchema, toStandardSchema, type JsonSchema } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';

const { tools: kinds } = JSON.parse(
  readFileSync(new URL('../regressions/inputs/B14-schema-kinds-1.json', import.meta.url), 'utf8'),
) as { readonly tools: readonly { readonly name: string; readonly inputSchema: JsonSchema }[] };

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

interface Seen {
  readonly name: string;
  readonly inputSchema: unknown;
}

/** The tools as a model of one provider gets them. */
async function seenByModel(provider: string, modelId: string): Promise<readonly Seen[]> {
  let seen: readonly Seen[] = [];
  const model = new MastraLanguageModelV2Mock({
    provider,
    modelId,
    doGenerate: async options => {
      seen = (options.tools ?? []) as unknown as readonly Seen[];
      return { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage, warnings: [] };
    },
  });
  const tools = Object.fromEntries(
    kinds.map(({ name, inputSchema }) => [
      name,
      createTool({
        id: name,
        description: name,
        inputSchema: toStandardSchema(inputSchema),
        execute: async () => ({}),
      }),
    ]),
  );
  await new Agent({
    id: 'a',
    name: 'a',
    instructions: 'x',
    model: model as MastraModelConfig,
    tools,
  }).generate('go');
  return seen;
}

function toolWith(inputSchema: JsonSchema, received: unknown[]): ReturnType<typeof createTool> {
  return createTool({
    id: 't',
    description: 't',
    inputSchema: toStandardSchema(inputSchema),
    execute: async input => {
      received.push(input);
      return { ok: true };
    },
  }) as ReturnType<typeof createTool>;
}

describe('a JSON Schema on a tool of core', () => {
  verifies('B14', 'is shown to the model as the server wrote it', async () => {
    const seen = await seenByModel('mock', 'plain');
    for (const { name, inputSchema } of kinds) {
      const shown = seen.find(tool => tool.name === name)?.inputSchema;
      expect(Object.keys(shown ?? {}).toSorted(), name).toEqual(
        Object.keys({ ...inputSchema, properties: {} }).toSorted(),
      );
      // core adds a `type` to properties that have none and names a dialect of its own
      const { $schema: _marker, ...rest } = inputSchema;
      expect(shown, name).toMatchObject(rest);
    }
  });

  verifies('B14', 'survives the layers for every provider', async () => {
    for (const [provider, modelId] of [
      ['openai.chat', 'gpt-4o'],
      ['openai.responses', 'o3-mini'],
      ['anthropic.messages', 'claude-sonnet-4-5'],
      ['google.generative-ai', 'gemini-2.5-pro'],
    ] as const) {
      const seen = await seenByModel(provider, modelId);
      expect(seen.map(tool => tool.name).toSorted(), provider).toEqual(
        kinds.map(tool => tool.name).toSorted(),
      );
      for (const { name, inputSchema } of seen) {
        expect(inputSchema, `${provider} ${name}`).toMatchObject({ type: 'object' });
        expect(inspectSchema(inputSchema), `${provider} ${name}`).toBeUndefined();
      }
    }
  });

  verifies('B14', 'refuses arguments by core’s validation error, with the path', async () => {
    const received: unknown[] = [];
    const tool = toolWith({ properties: { a: { properties: { n: { type: 'number' } } } } }, received);
    const result: unknown = await tool.execute?.({ a: { n: 'x' } }, {} as never);
    expect(isValidationError(result)).toBe(true);
    expect(result).toMatchObject({ message: expect.stringContaining('a.n: ') as unknown });
    expect(received).toEqual([]);
  });

  verifies('B21', 'takes missing arguments as an empty object', async () => {
    const received: unknown[] = [];
    const tool = toolWith({ type: 'object' }, received);
    for (const input of [undefined, null, {}]) await tool.execute?.(input, {} as never);
    expect(received).toEqual([{}, {}, {}]);
  });

  verifies(
    'B14',
    'lets core drop every null that the schema does not allow, and keep the others',
    async () => {
      const received: unknown[] = [];
      const schema = {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: ['string', 'null'] } },
      };
      await toolWith(schema, received).execute?.({ a: null, b: null, c: null }, {} as never);
      expect(received).toEqual([{ c: null }]);
    },
  );
});
