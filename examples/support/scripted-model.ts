/**
 * A language model that needs no network: it plays a list of turns and remembers what it was given.
 *
 * The examples use it so that they can check their results. An application gives its Agent a model string instead, such
 * as `openai/gpt-5-mini`.
 */
import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';

type Options = MastraLanguageModelV2Mock['doStreamCalls'][number];
type Result = Awaited<ReturnType<MastraLanguageModelV2Mock['doStream']>>;
type Part = Result['stream'] extends ReadableStream<infer P> ? P : never;

/** One answer of the model: a call of a tool, or the final text. */
export type Turn =
  { readonly call: string; readonly args?: Record<string, unknown> } | { readonly text: string };

/** Turns in order; a function makes its turn from the tool results seen so far, oldest first. */
export type Script = readonly (Turn | ((results: readonly string[]) => Turn))[];

export interface ScriptedModel {
  readonly model: MastraModelConfig;
  /** What the model was told as `system` last, joined by newlines. */
  readonly systemPrompt: () => string;
  /** The tool results the model saw last, oldest first. */
  readonly results: () => readonly string[];
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model that plays `script`; the last turn is repeated when the script is over. */
export function scriptedModel(script: Script): ScriptedModel {
  const given: Options[] = [];
  const next = (options: Options): { readonly id: string; readonly turn: Turn } => {
    const turn = script[Math.min(given.length, script.length - 1)] ?? { text: '' };
    given.push(options);
    return { id: `call-${given.length}`, turn: typeof turn === 'function' ? turn(resultsIn(options)) : turn };
  };
  const model = new MastraLanguageModelV2Mock({
    provider: 'offline',
    modelId: 'scripted',
    doGenerate: options => {
      const { id, turn } = next(options);
      const content = 'call' in turn ? toCall(id, turn) : ({ type: 'text', text: turn.text } as const);
      return Promise.resolve({ content: [content], finishReason: reasonOf(turn), usage, warnings: [] });
    },
    doStream: options => {
      const { id, turn } = next(options);
      const parts: Part[] = [
        { type: 'stream-start', warnings: [] },
        ...('call' in turn
          ? [toCall(id, turn)]
          : [
              { type: 'text-start' as const, id },
              { type: 'text-delta' as const, id, delta: turn.text },
              { type: 'text-end' as const, id },
            ]),
        { type: 'finish', finishReason: reasonOf(turn), usage },
      ];
      return Promise.resolve({ stream: ReadableStream.from<Part>(parts) });
    },
  });
  return {
    // The types of the mock and of the Agent differ in optional members only.
    model: model as unknown as MastraModelConfig,
    systemPrompt: () =>
      (given.at(-1)?.prompt ?? [])
        .filter(message => message.role === 'system')
        .map(message => message.content)
        .join('\n'),
    results: () => given.slice(-1).flatMap(resultsIn),
  };
}

const reasonOf = (turn: Turn): 'tool-calls' | 'stop' => ('call' in turn ? 'tool-calls' : 'stop');

interface ToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
}

function toCall(toolCallId: string, turn: Extract<Turn, { readonly call: string }>): ToolCall {
  return { type: 'tool-call', toolCallId, toolName: turn.call, input: JSON.stringify(turn.args ?? {}) };
}

/** The tool results in a prompt as text; what is not text is JSON. */
function resultsIn({ prompt }: Options): string[] {
  const outputs = prompt.flatMap(message =>
    message.role === 'tool' ? message.content.map(({ output }) => output) : [],
  );
  return outputs.map(output => {
    if (output.type === 'content') {
      return output.value.map(part => (part.type === 'text' ? part.text : part.mediaType)).join('\n');
    }
    return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  });
}
