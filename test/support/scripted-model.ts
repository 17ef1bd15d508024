/** An offline model: plays a list of turns and records every prompt and every set of tools it was given. */
import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';

/** One answer of the model: a tool call or a text. */
export interface Turn {
  readonly call?: string;
  readonly args?: Record<string, unknown>;
  /** Tool call id. @defaultValue `call-<n>` */
  readonly id?: string;
  readonly text?: string;
  /** More tool calls of the same answer. */
  readonly beside?: readonly Pick<Turn, 'call' | 'args' | 'id'>[];
  /** The request fails with this message instead. */
  readonly error?: string;
}

interface PromptMessage {
  readonly role: string;
  readonly content: unknown;
}

export interface ScriptedModel {
  readonly model: MastraModelConfig;
  readonly prompts: (readonly PromptMessage[])[];
  readonly toolsSeen: unknown[];
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** The last turn is repeated when there are more requests than turns. */
export function scriptedModel(turns: readonly Turn[]): ScriptedModel {
  const prompts: (readonly PromptMessage[])[] = [];
  const toolsSeen: unknown[] = [];
  const next = (options: {
    readonly prompt: unknown;
    readonly tools?: unknown;
  }): { turn: Turn; n: number } => {
    prompts.push(options.prompt as readonly PromptMessage[]);
    toolsSeen.push(options.tools);
    const turn = turns[Math.min(prompts.length, turns.length) - 1] ?? { text: '' };
    if (turn.error !== undefined) throw new Error(turn.error);
    return { turn, n: prompts.length };
  };
  const contentOf = ({ turn, n }: { turn: Turn; n: number }) =>
    turn.call === undefined
      ? [{ type: 'text', text: turn.text ?? '' } as const]
      : [turn, ...(turn.beside ?? [])].map(({ call = '', args = {}, id }, at) => ({
          type: 'tool-call' as const,
          toolCallId: id ?? `call-${n}${at === 0 ? '' : `-${at}`}`,
          toolName: call,
          input: JSON.stringify(args),
        }));
  const model = new MastraLanguageModelV2Mock({
    provider: 'mock',
    modelId: 'scripted',
    doGenerate: async options => {
      const answer = next(options);
      const finishReason = answer.turn.call === undefined ? 'stop' : 'tool-calls';
      return {
        content: contentOf(answer),
        finishReason,
        usage,
        warnings: [],
        rawCall: { rawPrompt: null, rawSettings: {} },
      };
    },
    doStream: async options => {
      const answer = next(options);
      const finishReason = answer.turn.call === undefined ? 'stop' : 'tool-calls';
      const parts = contentOf(answer).flatMap((content): readonly object[] =>
        content.type === 'text'
          ? [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: content.text },
              { type: 'text-end', id: 't' },
            ]
          : [content],
      );
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          controller.enqueue({
            type: 'response-metadata',
            id: `r${answer.n}`,
            modelId: 'scripted',
            timestamp: new Date(0),
          });
          for (const part of parts) controller.enqueue(part);
          controller.enqueue({ type: 'finish', finishReason, usage });
          controller.close();
        },
      });
      return { stream, rawCall: { rawPrompt: null, rawSettings: {} }, warnings: [] } as never;
    },
  });
  // The mock carries test-only members in whose types exactOptionalPropertyTypes finds fault.
  return { model: model as unknown as MastraModelConfig, prompts, toolsSeen };
}
