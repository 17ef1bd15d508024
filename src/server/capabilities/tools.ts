/**
 * Tools as a capability: tools/list, tools/call, and tools that come and go while the server runs.
 *
 * Owns what an outcome of the pipeline is to a client. Knows no transport, no session and no SDK; writes no JSON-RPC code.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools
 */
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/sdk/types.js';
import { MCPAccessDeniedError, MCPServerError } from '../../shared/errors.ts';
import type { MCPToolCallError } from '../../shared/errors.ts';
import { toSuspensionMeta } from '../../shared/meta.ts';
import { toCallToolResult, toErrorResult } from '../../shared/tool-result.ts';
import type { CallContext, CallHandler } from '../calls/call-context.ts';
import { callTool } from '../calls/call-tool.ts';
import type { CallToolDeps, ToolOutcome } from '../calls/call-tool.ts';
import { toShownJson } from '../calls/question.ts';
import { toUrlElicitationRequired } from '../calls/tool-failure.ts';
import { formatToolIssues } from '../calls/tool-issues.ts';
import type { ToolTable } from '../calls/tool-table.ts';
import { keepWireText } from '../sessions/wire-text.ts';

/** What the handlers work with. */
export interface ToolsDeps extends CallToolDeps {
  /** Told about every tool that throws; its caller gets one line. */
  onFailure(error: MCPToolCallError): void;
}

/** The methods of this capability. */
export function toolHandlers(deps: ToolsDeps): readonly (readonly [string, CallHandler])[] {
  return [
    ['tools/list', (params, call) => listTools(params, call, deps)],
    ['tools/call', (params, call) => handleCall(params, call, deps)],
  ];
}

async function listTools(params: unknown, call: CallContext, deps: CallToolDeps): Promise<ListToolsResult> {
  // One page holds every tool, so no cursor can have come from here.
  if (Reflect.get(Object(params), 'cursor') !== undefined) throw invalid('Unknown cursor');
  const { list } = deps.table();
  if (!deps.authorization.filters) return keepWireText(list);
  await deps.authorization.identify(call);
  return visibleTools(deps.table(), call, deps);
}

/** The entries of tools/list that this caller may use. */
async function visibleTools(
  table: ToolTable,
  call: CallContext,
  { authorization }: Pick<CallToolDeps, 'authorization'>,
): Promise<ListToolsResult> {
  const visible = new Set(await authorization.visible(table.names, call));
  return { tools: table.list.tools.filter(({ name }) => visible.has(name)) };
}

async function handleCall(params: unknown, call: CallContext, deps: ToolsDeps): Promise<CallToolResult> {
  const { name, arguments: args } = Object(params) as {
    readonly name?: unknown;
    readonly arguments?: unknown;
  };
  if (typeof name !== 'string') throw invalid('tools/call needs a "name" that is a string');
  if (args !== undefined && args !== null && (typeof args !== 'object' || Array.isArray(args))) {
    throw invalid('"arguments" of tools/call must be an object');
  }
  return toResult(name, await callTool({ name, args, call }, deps), deps);
}

/** What a client gets for an outcome. */
function toResult(name: string, outcome: ToolOutcome, deps: ToolsDeps): CallToolResult {
  const tool = JSON.stringify(name);
  switch (outcome.status) {
    case 'completed': {
      const hasOutputSchema = outcome.tool.definition.outputSchema !== undefined;
      return toCallToolResult(outcome.shown, { hasOutputSchema });
    }
    case 'unknown-tool':
      throw new MCPServerError('MCP_SERVER_UNKNOWN_TOOL', {
        message: `Unknown tool: ${name}`,
        category: 'USER',
      });
    case 'denied':
      throw new MCPAccessDeniedError({ message: `Access to tool ${tool} was denied`, toolName: name });
    case 'invalid-input':
      return toErrorResult(`Invalid arguments for tool ${tool}: ${formatToolIssues(outcome.issues)}`);
    case 'invalid-output':
      return toErrorResult(`Tool ${tool} failed validation: ${formatToolIssues(outcome.issues)}`);
    case 'not-approved':
      return toErrorResult(`Tool ${tool} was not run: the user did not approve it`);
    case 'needs-capability':
      return toErrorResult(
        `Tool ${tool} was not run: it needs the user's approval, and this client cannot be asked (no form ${outcome.capability})`,
      );
    case 'suspended':
      return toSuspendedResult(tool, outcome);
    case 'failed': {
      // No failure: the tool asks to be called again once its user has opened a page.
      const required = toUrlElicitationRequired(outcome.error.cause);
      if (required !== undefined) throw required;
      deps.onFailure(outcome.error);
      return toErrorResult(outcome.error.message);
    }
  }
}

/** Says what a run waits for; `_meta` says where it stands, for a client that knows how to go on with it. */
function toSuspendedResult(
  tool: string,
  { runId, payload, missing }: ToolOutcome & { status: 'suspended' },
): CallToolResult {
  const told = payload === undefined ? '' : `. It says: ${toShownJson(payload)}`;
  return toErrorResult(
    `Tool ${tool} is waiting for ${missing}, which nobody gave${told}`,
    runId === undefined ? undefined : toSuspensionMeta({ runId, payload }),
  );
}

function invalid(message: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_PARAMS_INVALID', { message, category: 'USER' });
}

/** What changing tools needs from the server. */
export interface ServerToolsDeps {
  /** Tools as they were given, by key. */
  tools(): Readonly<Record<string, unknown>>;
  /** Takes over a changed set, everywhere: in the table, in core's own form and in Mastra's registry. */
  replace(tools: Readonly<Record<string, unknown>>): void;
  /** Tells every connected client. */
  publish(): Promise<void>;
  debug(message: string): void;
  /** @throws MCPConfigurationError when a value is no tool. */
  check(tools: unknown): void;
}

/** Tools of a running server. */
export class ServerTools {
  readonly #deps: ServerToolsDeps;

  constructor(deps: ServerToolsDeps) {
    this.#deps = deps;
  }

  /**
   * Adds tools by key and tells every client that the list changed. A key that exists is replaced.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` when a value is no tool; nothing is added then.
   */
  async add(tools: Readonly<Record<string, unknown>>): Promise<void> {
    this.#deps.check(tools);
    this.#deps.replace({ ...this.#deps.tools(), ...tools });
    await this.#deps.publish();
  }

  /**
   * Removes tools, by key or by the id a tool has by itself where only one has it. Tells every client when at least one
   * was removed; what is unknown is ignored.
   */
  async remove(toolIds: readonly string[]): Promise<void> {
    const rest = new Map(Object.entries(this.#deps.tools()));
    let removed = 0;
    for (const id of toolIds) {
      const key = rest.has(id) ? id : keyOfId(rest, id);
      if (key === undefined) {
        this.#deps.debug(`No tool ${JSON.stringify(id)} to remove`);
        continue;
      }
      rest.delete(key);
      removed += 1;
    }
    if (removed === 0) return;
    this.#deps.replace(Object.fromEntries(rest));
    await this.#deps.publish();
  }

  /** Tells every client that the list changed, without changing it. */
  async notifyListChanged(): Promise<void> {
    await this.#deps.publish();
  }
}

function keyOfId(tools: ReadonlyMap<string, unknown>, id: string): string | undefined {
  const keys = [...tools].filter(([, tool]) => Reflect.get(Object(tool), 'id') === id).map(([key]) => key);
  return keys.length === 1 ? keys[0] : undefined;
}
