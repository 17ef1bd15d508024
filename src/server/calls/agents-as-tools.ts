/**
 * Agents as tools: `ask_<key>` takes a message and answers with the agent's text.
 *
 * Owns what of a generate result is shown, and how an agent that waits goes on. Does not ask anybody: the pipeline does.
 */
import type { Agent, AgentExecutionOptionsBase } from '@mastra/core/agent';
import type { ToolExecutionContext } from '@mastra/core/tools';
import { toJsonValue } from '../../shared/json-value.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { toStandardSchema } from '../../shared/schema.ts';
import { DerivedTool, requireDescription } from './derived-tool.ts';
import type { ServedTool, SuspendedRun, ToolInvocation, ToolRun } from './served-tool.ts';

/** What a client gets of an agent's result: its text, or the whole result beside it. */
export type AgentOutput = 'text' | 'full';

/** Settings of all agents of a server. */
export interface AgentToolOptions {
  readonly output: AgentOutput;
  readonly warn: (message: string) => void;
}

type GenerateResult = Awaited<ReturnType<Agent['generate']>>;
type GenerateOptions = Pick<
  AgentExecutionOptionsBase<unknown>,
  'requestContext' | 'abortSignal' | 'mcp' | 'tracingContext'
>;

const inputSchema: JsonSchema = {
  type: 'object',
  properties: { message: { type: 'string', description: 'The question or task for the agent.' } },
  required: ['message'],
};

/**
 * Makes a tool of an agent.
 *
 * @throws MCPServerError `MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED` when the agent has no description.
 */
export function createAgentTool(key: string, agent: Agent, options: AgentToolOptions): ServedTool {
  const description = requireDescription('Agent', agent.name, key, agent.getDescription());
  const name = `ask_${key}`;
  return new DerivedTool({
    name,
    toolType: 'agent',
    description: `Ask agent '${agent.name}' a question. Agent description: ${description}`,
    inputSchema: toStandardSchema(inputSchema),
    warn: options.warn,
    start: async (args, invocation) => {
      const run = new AgentRun(agent, options.output, invocation);
      return run.toToolRun(await agent.generate(messageOf(args), run.options));
    },
    execute: (args, context) => {
      const { requestContext, abortSignal, mcp } = context as ToolExecutionContext;
      return agent.generate(messageOf(args), {
        ...(requestContext === undefined ? {} : { requestContext }),
        ...(abortSignal === undefined ? {} : { abortSignal }),
        ...(mcp === undefined ? {} : { mcp }),
      });
    },
  });
}

/** One conversation with an agent, from the question to its end. */
class AgentRun {
  readonly options: GenerateOptions;
  readonly #agent: Agent;
  readonly #output: AgentOutput;

  constructor(agent: Agent, output: AgentOutput, { call, span }: ToolInvocation) {
    this.#agent = agent;
    this.#output = output;
    this.options = {
      requestContext: call.requestContext,
      abortSignal: call.signal,
      mcp: call.mcp,
      ...(span === undefined ? {} : { tracingContext: span.tracingContext }),
    };
  }

  toToolRun(result: GenerateResult): ToolRun {
    if (result.finishReason === 'suspended') {
      return { status: 'suspended', output: result, suspension: this.#toSuspension(result) };
    }
    const failure: unknown =
      result.error ?? (result.tripwire as { readonly reason?: unknown } | undefined)?.reason;
    if (failure !== undefined) return { status: 'failed', cause: failure };
    return { status: 'completed', output: result, shown: { value: this.#toShown(result) } };
  }

  #toShown(result: GenerateResult): unknown {
    if (this.#output === 'text') return result.text;
    return { content: [{ type: 'text', text: result.text }], structuredContent: toJsonValue({ ...result }) };
  }

  #toSuspension({ runId, suspendPayload, resumeSchema }: GenerateResult): SuspendedRun {
    const payload = Object(suspendPayload) as Record<string, unknown>;
    const toolCallId = payload['toolCallId'];
    // A tool that suspends has told something; one that waits for a yes or no has not been run.
    const waitsForApproval = 'toolName' in payload && !('suspendPayload' in payload);
    return {
      runId,
      payload: waitsForApproval ? suspendPayload : payload['suspendPayload'],
      resumeSchema: parseSchema(resumeSchema),
      approval: waitsForApproval
        ? { toolName: String(payload['toolName']), args: payload['args'] }
        : undefined,
      resume: async data => {
        try {
          const result = await this.#agent.resumeGenerate(data, {
            ...this.options,
            ...(runId === undefined ? {} : { runId }),
            ...(typeof toolCallId === 'string' ? { toolCallId } : {}),
          });
          return this.toToolRun(result);
        } catch (error) {
          return { status: 'failed', cause: error };
        }
      },
    };
  }
}

function messageOf(args: unknown): string {
  return (args as { readonly message: string }).message;
}

/** Core gives the schema of the answer as JSON text. */
function parseSchema(text: unknown): JsonSchema | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const schema: unknown = JSON.parse(text);
    return typeof schema === 'object' && schema !== null ? (schema as JsonSchema) : undefined;
  } catch {
    return undefined;
  }
}
