/**
 * The tools a user gives to the server: Mastra tools, tools of the AI SDK, plain objects with an `execute`.
 *
 * Owns how each becomes a served tool, and that every schema is validated without generated code. Does not list and does
 * not authorise.
 */
import { isValidationError, isVercelTool, noopObserve, Tool, validateToolInput } from '@mastra/core/tools';
import type { MCPToolProperties, NeedsApprovalFn, ToolExecutionContext } from '@mastra/core/tools';
import type { PublicSchema, StandardSchemaWithJSON } from '@mastra/core/schema';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import { withUiResourceUri } from '../../shared/meta.ts';
import { plainJsonSchemaOf, toJsonSchema, toStandardSchema } from '../../shared/schema.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { isCallToolResult } from '../../shared/tool-result.ts';
import type { CallContext } from './call-context.ts';
import type { CheckedInput, ServedTool, ToolInvocation, ToolRun } from './served-tool.ts';
import { toInputSchema, toOutputSchema } from './tool-definition.ts';

/** Tells the operator about a tool that cannot be served as it is. */
export type WarnAboutTool = (message: string) => void;

/** What is read of a tool, whoever made it. */
interface ToolLike {
  readonly id?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly parameters?: unknown;
  readonly outputSchema?: unknown;
  readonly resumeSchema?: PublicSchema;
  readonly execute?: unknown;
  readonly mcp?: MCPToolProperties;
  readonly requireApproval?: unknown;
  readonly needsApproval?: unknown;
  readonly needsApprovalFn?: unknown;
}

const MASTRA_TOOL = Symbol.for('mastra.core.tool.Tool');

/** Makes a tool of a user servable; `undefined` when it has nothing to run. */
export function createUserTool(name: string, source: object, warn: WarnAboutTool): ServedTool | undefined {
  const given = source as ToolLike;
  if (typeof given.execute !== 'function') {
    warn(`Tool ${JSON.stringify(name)} has no execute function and is not served`);
    return undefined;
  }
  const tool = MASTRA_TOOL in source ? (given as Tool) : toMastraTool(name, given);
  useOwnValidation(tool, warn);
  return new UserTool(name, source, tool, warn);
}

class UserTool implements ServedTool {
  readonly name: string;
  readonly id: string;
  readonly toolType: ServedTool['toolType'];
  readonly #source: object;
  readonly #tool: Tool;
  readonly #warn: WarnAboutTool;
  #definition: ToolDefinition | undefined;

  constructor(name: string, source: object, tool: Tool, warn: WarnAboutTool) {
    this.name = name;
    this.id = typeof tool.id === 'string' && tool.id !== '' ? tool.id : name;
    this.toolType = tool.mcp?.toolType;
    this.#source = source;
    this.#tool = tool;
    this.#warn = warn;
  }

  get definition(): ToolDefinition {
    this.#definition ??= this.#define();
    return this.#definition;
  }

  get approvable(): boolean {
    const { needsApprovalFn, requireApproval } = this.#tool;
    return needsApprovalFn !== undefined || (requireApproval !== undefined && requireApproval !== false);
  }

  checkInput(args: unknown): CheckedInput {
    const { data, error } = validateToolInput(this.#tool.inputSchema, args, this.name);
    return error === undefined ? { value: data } : { error };
  }

  async needsApproval(args: unknown, call: CallContext): Promise<boolean> {
    const { needsApprovalFn, requireApproval } = this.#tool;
    const predicate = needsApprovalFn ?? requireApproval;
    if (typeof predicate !== 'function') return predicate === true;
    try {
      return await (predicate as NeedsApprovalFn)(args, { requestContext: call.requestContext.all });
    } catch {
      return true;
    }
  }

  async run(args: unknown, invocation: ToolInvocation): Promise<ToolRun> {
    let suspended: { readonly payload: unknown } | undefined;
    const context = toToolContext(invocation, payload => {
      suspended = { payload };
      return Promise.resolve();
    });
    try {
      const output: unknown = await this.#tool.execute?.(args, context);
      if (isValidationError(output)) return { status: 'invalid', error: output };
      if (suspended === undefined || output !== undefined) return { status: 'completed', output };
      return this.#suspendedRun(suspended.payload);
    } catch (error) {
      return { status: 'failed', cause: error };
    }
  }

  toCoreSource(): object {
    return this.#source;
  }

  /** A tool that suspends by itself cannot go on: that would run it a second time. */
  #suspendedRun(payload: unknown): ToolRun {
    const { resumeSchema } = this.#tool;
    return {
      status: 'suspended',
      output: { status: 'suspended', suspendPayload: payload },
      suspension: {
        runId: undefined,
        payload,
        resumeSchema: resumeSchema === undefined ? undefined : toJsonSchema(resumeSchema, 'input'),
        resume: undefined,
      },
    };
  }

  #define(): ToolDefinition {
    const { title, description, mcp } = this.#tool;
    const outputSchema = toOutputSchema(this.#tool.outputSchema, this.name, this.#warn);
    return {
      name: this.name,
      ...(title === undefined ? {} : { title }),
      description: description ?? '',
      inputSchema: toInputSchema(this.#tool.inputSchema, this.name, this.#warn),
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(mcp?.annotations === undefined ? {} : { annotations: mcp.annotations }),
      ...(mcp?._meta === undefined ? {} : { _meta: withUiResourceUri(mcp._meta) }),
    };
  }
}

/** What `execute` sees. Core copies the object, so only what costs nothing may lie on it; `mcp` is lazy inside. */
function toToolContext(
  { call, mastra, span, host }: ToolInvocation,
  suspend: (payload: unknown) => Promise<void>,
): ToolExecutionContext {
  const context = {
    mastra: span?.mastra ?? mastra,
    requestContext: call.requestContext,
    abortSignal: call.signal,
    mcp: call.mcp,
    suspend,
    observe: span?.observe ?? noopObserve,
    ...span?.observability,
    ...(host?.resumeData === undefined ? {} : { resumeData: host.resumeData }),
    ...(host?.suspendPayload === undefined ? {} : { suspendPayload: host.suspendPayload }),
    // Both together make core add the `agent` block, as it does for a tool that an agent calls.
    ...(host?.toolCallId === undefined ? {} : { toolCallId: host.toolCallId }),
    ...(host?.messages === undefined ? {} : { messages: host.messages }),
  };
  return context as ToolExecutionContext;
}

/** A tool of the AI SDK, or an object that looks like a tool, with core's order of checks around it. */
function toMastraTool(name: string, given: ToolLike): Tool {
  const execute = given.execute as (args: unknown, options: unknown) => Promise<unknown>;
  const inputSchema = ownSchema(given.inputSchema ?? given.parameters);
  const outputSchema = ownSchema(given.outputSchema);
  const needsApproval = given.needsApproval ?? given.needsApprovalFn ?? given.requireApproval;
  return new Tool({
    id: typeof given.id === 'string' ? given.id : name,
    ...(typeof given.title === 'string' ? { title: given.title } : {}),
    description: typeof given.description === 'string' ? given.description : '',
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(given.mcp === undefined ? {} : { mcp: given.mcp }),
    ...(needsApproval === undefined ? {} : { requireApproval: needsApproval as NeedsApprovalFn }),
    execute: async (args: unknown, context) => {
      const { mcp } = context as ToolExecutionContext;
      // Options of the AI SDK lie beside what Mastra's tools get: each author finds what they know.
      const toolCallId = String(mcp?.extra.requestId ?? name);
      const call = { toolCallId, messages: [], ...context };
      return execute.call(given, args, isVercelTool(given as never) ? call : context);
    },
  });
}

/** A schema that core would wrap into generated code gets ours; those that validate by themselves stay. */
function ownSchema(schema: unknown): PublicSchema | undefined {
  const resolved: unknown = typeof schema === 'function' ? (schema as () => unknown)() : schema;
  if (typeof resolved !== 'object' || resolved === null) return undefined;
  // The AI SDK's own wrapper, unless its maker gave it a validator.
  const isBare = 'jsonSchema' in resolved && typeof Reflect.get(resolved, 'validate') !== 'function';
  const json = plainJsonSchemaOf(isBare ? resolved.jsonSchema : resolved);
  return json === undefined ? resolved : toStandardSchema(json, { missingDefaults: 'refuse' });
}

/**
 * Puts validators of ours where core would generate code for plain JSON Schema, and lets a ready-made result pass an
 * output schema. It has to happen on the tool itself, since its `execute` reads its own schemas; the tool validates as
 * before wherever else it is used.
 */
function useOwnValidation(tool: Tool, warn: WarnAboutTool): void {
  const input = coreJsonSchemaOf(tool.inputSchema);
  if (input !== undefined) Reflect.set(tool, 'inputSchema', toOwn(input, tool.id, warn));
  const { outputSchema } = tool;
  if (outputSchema === undefined || PASSES_RESULTS in outputSchema) return;
  const output = coreJsonSchemaOf(outputSchema);
  Reflect.set(
    tool,
    'outputSchema',
    passResults(output === undefined ? outputSchema : toOwn(output, tool.id, warn)),
  );
}

function toOwn(schema: JsonSchema, id: string, warn: WarnAboutTool): StandardSchemaWithJSON {
  return toStandardSchema(schema, {
    missingDefaults: 'refuse',
    onUnusable: () => warn(`A schema of tool ${JSON.stringify(id)} cannot be used; values are not validated`),
    onSkippedPatterns: () =>
      warn(`A schema of tool ${JSON.stringify(id)} has patterns too costly to evaluate; they are skipped`),
  });
}

function coreJsonSchemaOf(schema: StandardSchemaWithJSON | undefined): JsonSchema | undefined {
  return schema?.['~standard'].vendor === 'json-schema' ? plainJsonSchemaOf(schema) : undefined;
}

const PASSES_RESULTS: unique symbol = Symbol.for('@mastra/mcp.passesResults');

/** An output schema that also lets a CallToolResult through, whose structured content then has to fit. */
function passResults(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const { validate } = schema['~standard'];
  const standard: StandardSchemaWithJSON['~standard'] = {
    ...schema['~standard'],
    validate: (value, options) => {
      const result = validate(value, options);
      if (!isCallToolResult(value) || result instanceof Promise || result.issues === undefined) return result;
      if (value.isError === true) return { value };
      const structured = validate(value.structuredContent, options);
      if (structured instanceof Promise) return structured;
      return structured.issues === undefined ? { value } : structured;
    },
  };
  return Object.create(schema, {
    '~standard': { value: standard, enumerable: true },
    [PASSES_RESULTS]: { value: true },
  }) as StandardSchemaWithJSON;
}
