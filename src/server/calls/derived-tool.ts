/**
 * What tools made of agents and of workflows have in common.
 *
 * Owns the required description, the check of arguments and the form in which core sees such a tool.
 */
import { Tool, validateToolInput } from '@mastra/core/tools';
import type { StandardSchemaWithJSON } from '@mastra/core/schema';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import type { CheckedInput, ServedTool, ToolInvocation, ToolRun } from './served-tool.ts';
import { toInputSchema } from './tool-definition.ts';

/** What distinguishes one derived tool from another. */
export interface DerivedToolInit {
  readonly name: string;
  readonly toolType: 'agent' | 'workflow';
  readonly description: string;
  readonly inputSchema: StandardSchemaWithJSON | undefined;
  readonly warn: (message: string) => void;
  /** Starts it with arguments that were checked. May reject. */
  start(args: unknown, invocation: ToolInvocation): Promise<ToolRun>;
  /** What `execute` of core's form does. */
  execute(args: unknown, context: unknown): Promise<unknown>;
}

/** A tool that stands for an agent or a workflow. */
export class DerivedTool implements ServedTool {
  readonly name: string;
  readonly id: string;
  readonly toolType: 'agent' | 'workflow';
  readonly approvable = false;
  readonly #init: DerivedToolInit;
  #definition: ToolDefinition | undefined;

  constructor(init: DerivedToolInit) {
    this.name = init.name;
    this.id = init.name;
    this.toolType = init.toolType;
    this.#init = init;
  }

  get definition(): ToolDefinition {
    const { name, description, inputSchema, warn } = this.#init;
    this.#definition ??= { name, description, inputSchema: toInputSchema(inputSchema, name, warn) };
    return this.#definition;
  }

  checkInput(args: unknown): CheckedInput {
    const { data, error } = validateToolInput(this.#init.inputSchema, args, this.name);
    return error === undefined ? { value: data } : { error };
  }

  async needsApproval(): Promise<boolean> {
    return false;
  }

  async run(args: unknown, invocation: ToolInvocation): Promise<ToolRun> {
    const checked = this.checkInput(args);
    if (checked.error !== undefined) return { status: 'invalid', error: checked.error };
    try {
      return await this.#init.start(args, invocation);
    } catch (error) {
      return { status: 'failed', cause: error };
    }
  }

  toCoreSource(): object {
    const { name, description, inputSchema, toolType } = this.#init;
    return new Tool({
      id: name,
      description,
      ...(inputSchema === undefined ? {} : { inputSchema }),
      mcp: { toolType },
      execute: (args: unknown, context: unknown) => this.#init.execute(args, context),
    });
  }
}

/**
 * The description of an agent or workflow, which a client needs to choose the tool.
 *
 * @throws MCPServerError `MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED` when there is none.
 */
export function requireDescription(
  kind: 'Agent' | 'Workflow',
  name: string,
  key: string,
  description: unknown,
): string {
  if (typeof description === 'string' && description.trim() !== '') return description;
  throw new MCPServerError('MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED', {
    message: `${kind} ${JSON.stringify(name)} (key ${JSON.stringify(key)}) needs a non-empty description to be served as a tool`,
    category: 'USER',
  });
}
