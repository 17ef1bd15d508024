/**
 * The one table of everything this server serves as a tool.
 *
 * Owns names, their conflicts and the listing. The pipeline and the listings read nothing else; core's converted tools are
 * made of it for `tools()` alone. A change makes a new table.
 */
import type { Agent } from '@mastra/core/agent';
import type { IMastraLogger } from '@mastra/core/logger';
import type { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import type { InternalCoreTool } from '@mastra/core/tools';
import { makeCoreTool } from '@mastra/core/utils';
import type { Workflow } from '@mastra/core/workflows';
import type { ListToolsResult } from '@modelcontextprotocol/sdk/types.js';
import { createAgentTool } from './agents-as-tools.ts';
import type { AgentOutput } from './agents-as-tools.ts';
import type { ServedTool } from './served-tool.ts';
import { createUserTool } from './user-tools.ts';
import { createWorkflowTool } from './workflows-as-tools.ts';

/** What a table is made of. */
export interface ToolSources {
  readonly tools: Readonly<Record<string, unknown>>;
  readonly agents: Readonly<Record<string, Agent>> | undefined;
  readonly workflows: Readonly<Record<string, Workflow>> | undefined;
}

/** How a table is made. */
export interface ToolTableOptions {
  readonly agentOutput: AgentOutput;
  readonly warn: (message: string) => void;
}

/** Served tools by name, in the order of configuration: tools, agents, workflows. */
export interface ToolTable {
  readonly names: readonly string[];
  /** By the name clients call it. */
  find(name: string): ServedTool | undefined;
  /** By name, else by the id a tool has by itself, where only one has it. For the host's own calls. */
  resolve(nameOrId: string): ServedTool | undefined;
  /** The answer to tools/list: the same object every time. */
  readonly list: ListToolsResult;
}

/** What models and clients accept as a name; anything else is served all the same. */
const COMMON_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Builds the table. An explicit tool wins over one made of an agent or workflow.
 *
 * @throws MCPServerError `MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED` when an agent or workflow has no description.
 */
export function buildToolTable(sources: ToolSources, options: ToolTableOptions): ToolTable {
  const { agentOutput, warn } = options;
  const byName = new Map<string, ServedTool>();
  const addDerived = (tool: ServedTool, from: string): void => {
    if (byName.has(tool.name)) {
      warn(`${from} is not served as ${JSON.stringify(tool.name)}: a tool has that name already`);
      return;
    }
    byName.set(tool.name, tool);
  };
  for (const [name, source] of Object.entries(sources.tools)) {
    const tool = createUserTool(name, source as object, warn);
    if (tool === undefined) continue;
    if (!COMMON_NAME.test(name)) {
      warn(`Tool name ${JSON.stringify(name)} has characters or a length that some clients refuse`);
    }
    byName.set(name, tool);
  }
  for (const [key, agent] of Object.entries(sources.agents ?? {})) {
    addDerived(createAgentTool(key, agent, { output: agentOutput, warn }), `Agent ${JSON.stringify(key)}`);
  }
  for (const [key, workflow] of Object.entries(sources.workflows ?? {})) {
    addDerived(createWorkflowTool(key, workflow, { warn }), `Workflow ${JSON.stringify(key)}`);
  }
  return new BuiltTable(byName);
}

class BuiltTable implements ToolTable {
  readonly #byName: ReadonlyMap<string, ServedTool>;
  readonly names: readonly string[];
  #list: ListToolsResult | undefined;

  constructor(byName: ReadonlyMap<string, ServedTool>) {
    this.#byName = byName;
    this.names = [...byName.keys()];
  }

  find(name: string): ServedTool | undefined {
    return this.#byName.get(name);
  }

  resolve(nameOrId: string): ServedTool | undefined {
    const named = this.#byName.get(nameOrId);
    if (named !== undefined) return named;
    const [only, second] = [...this.#byName.values()].filter(tool => tool.id === nameOrId);
    return second === undefined ? only : undefined;
  }

  get list(): ListToolsResult {
    this.#list ??= Object.freeze({ tools: [...this.#byName.values()].map(tool => tool.definition) });
    return this.#list;
  }
}

/** What core needs to convert a tool. */
export interface CoreToolDeps {
  readonly mastra: Mastra | undefined;
  readonly logger: IMastraLogger;
}

/** The tools of a table in core's form. Each is converted when it is first read: a server is often never asked for them. */
export function toCoreTools(table: ToolTable, deps: CoreToolDeps): Record<string, InternalCoreTool> {
  const tools: Record<string, InternalCoreTool> = {};
  for (const name of table.names) {
    let converted: InternalCoreTool | undefined;
    Object.defineProperty(tools, name, {
      enumerable: true,
      configurable: true,
      get: () => (converted ??= toCoreTool(name, table, deps)),
    });
  }
  return tools;
}

function toCoreTool(name: string, table: ToolTable, { mastra, logger }: CoreToolDeps): InternalCoreTool {
  const source = table.find(name)?.toCoreSource();
  return makeCoreTool(source as Parameters<typeof makeCoreTool>[0], {
    name,
    logger,
    // Empty, so that what a caller passes later is not overridden by it.
    requestContext: new RequestContext(),
    ...(mastra === undefined ? {} : { mastra }),
  }) as InternalCoreTool;
}
