/**
 * What the `execute` of a remote tool does: meta, call, result, error.
 *
 * The one way out for tool calls. Owns no connection and no schema; core validates input before and output after it.
 */
import type { RequestContext } from '@mastra/core/request-context';
import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/sdk/types.js';
import { MCPRequestError, MCPToolCallError } from '../../shared/errors.ts';
import { fromCallToolResult, joinText } from '../../shared/tool-result.ts';
import { toTraceMeta, type TraceSpan } from '../../shared/trace-context.ts';
import type { Connection } from '../connection/connection.ts';
import { quote } from '../connection/to-error.ts';

/** The parts of core's execution context a remote call uses. */
export interface RemoteCallContext {
  readonly requestContext?: RequestContext | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** Becomes the progress token (S078). */
  readonly runId?: string | undefined;
  readonly tracingContext?: { readonly currentSpan?: TraceSpan | undefined } | undefined;
}

/**
 * Calls a tool at its server and resolves to what an agent gets.
 *
 * @throws MCPToolCallError `MCP_CLIENT_TOOL_EXECUTION_FAILED` for a result with `isError` unless `onToolError` is
 * `return`; `MCP_CLIENT_TOOL_EXCLUDED`; every error of a request.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#calling-tools
 */
export async function callRemoteTool(
  connection: Connection,
  tool: WireTool,
  input: unknown,
  context: RemoteCallContext,
): Promise<unknown> {
  const result = await callForResult(connection, tool, input, context);
  if (result.isError !== true) {
    return fromCallToolResult(result, { hasOutputSchema: tool.outputSchema !== undefined });
  }
  if (connection.definition.onToolError === 'return') return result;
  throw toToolError(connection, tool, result);
}

/**
 * Calls a tool at its server and resolves to its whole result, which may say `isError`.
 *
 * @throws MCPToolCallError `MCP_CLIENT_TOOL_EXCLUDED`; every error of a request.
 */
export async function callForResult(
  connection: Connection,
  tool: WireTool,
  input: unknown,
  context: RemoteCallContext,
): Promise<CallToolResult> {
  const { definition, serverName } = connection;
  if (!definition.allowsTool(tool.name)) {
    throw new MCPToolCallError('MCP_CLIENT_TOOL_EXCLUDED', {
      message: `Tool ${quote(tool.name)} of server ${quote(serverName)} is excluded by the option "tools"`,
      category: 'USER',
      toolName: tool.name,
      serverName,
      mayHaveExecuted: false,
    });
  }
  const traceMeta = toTraceMeta(context.tracingContext?.currentSpan);
  const call = connection.request(
    'tools/call',
    {
      name: tool.name,
      arguments: input ?? {},
      ...(Object.keys(traceMeta).length === 0 ? {} : { _meta: traceMeta }),
    },
    {
      mayRepeat: definition.retryAnnotatedTools && isRepeatable(tool),
      requestContext: context.requestContext,
      signal: context.abortSignal,
      ...(definition.enableProgressTracking ? { progress: { preferredToken: context.runId } } : {}),
    },
  );
  const result = await call.catch((error: unknown) => {
    throw toArgumentsError(connection, tool, input) ?? error;
  });
  return toCallToolResult(connection, result);
}

/**
 * The error for arguments that are no JSON (a BigInt, a cycle), or `undefined` where they are. Asked after a failure, so
 * that arguments which can be sent are written once.
 */
export function toArgumentsError(
  { serverName }: Connection,
  { name }: WireTool,
  input: unknown,
): MCPToolCallError | undefined {
  try {
    JSON.stringify(input);
    return undefined;
  } catch (cause) {
    return new MCPToolCallError('MCP_CLIENT_TOOL_EXECUTION_FAILED', {
      message:
        `Tool ${quote(name)} of server ${quote(serverName)} was not called: its arguments cannot be written as JSON; ` +
        'they may hold a BigInt or a cycle',
      category: 'USER',
      toolName: name,
      serverName,
      mayHaveExecuted: false,
      cause,
    });
  }
}

function isRepeatable({ annotations }: WireTool): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

/** Missing content is tolerated (B84); content that is no list is not a result. */
function toCallToolResult(connection: Connection, result: Record<string, unknown>): CallToolResult {
  const content = result['content'] ?? [];
  if (Array.isArray(content)) return { ...result, content };
  const { serverName } = connection;
  throw new MCPRequestError('MCP_CLIENT_RESPONSE_INVALID', {
    message: `Server ${quote(serverName)}, tools/call: the "content" of the result is not an array`,
    serverName,
    method: 'tools/call',
    mayHaveExecuted: true,
  });
}

function toToolError(
  { serverName }: Connection,
  { name }: WireTool,
  result: CallToolResult,
): MCPToolCallError {
  return new MCPToolCallError('MCP_CLIENT_TOOL_EXECUTION_FAILED', {
    message: joinText(result.content) || 'the tool failed without saying why',
    toolName: name,
    serverName,
    content: result.content,
    cause: result,
  });
}
