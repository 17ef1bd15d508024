/**
 * The host's own calls: Studio's button, `executeTool`, listings for the registry.
 *
 * Owns the context of a call without a client, and what an outcome of the pipeline is to the host. The pipeline itself is
 * that of the wire.
 */
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import { MCPAccessDeniedError, MCPServerError, MCPToolCallError } from '../../shared/errors.ts';
import { callTool } from './call-tool.ts';
import type { CallToolDeps } from './call-tool.ts';
import { callerIn, createCallContext } from './call-context.ts';
import type { AnyRequestContext, CallContext } from './call-context.ts';
import type { HostExecution } from './served-tool.ts';
import type { ToolTable } from './tool-table.ts';

/** What a host may hand over with a call. */
export interface ToolExecutionOptions extends HostExecution {
  readonly requestContext?: AnyRequestContext | undefined;
}

/** A tool in a listing for the host. */
export interface ToolInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ToolDefinition['inputSchema'];
  readonly outputSchema?: ToolDefinition['outputSchema'];
  readonly toolType?: 'agent' | 'workflow';
  readonly _meta?: Record<string, unknown>;
}

/** What a host brings along. */
interface HostCallInit {
  readonly requestContext?: AnyRequestContext | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Identity of the host itself. */
const HOST = 'host';

/**
 * The context of a call that no client made. Nobody can be asked, and nobody listens. Inside a client's call, by a tool that
 * hands its RequestContext on, the caller is that client and the end of its call is the end of this one.
 */
export function createHostCall(method: string, serverName: string, given: HostCallInit): CallContext {
  const { requestContext, signal = new AbortController().signal } = given;
  const caller = callerIn(requestContext);
  const nobody = (): Promise<never> => Promise.reject(new Error('There is no client'));
  return createCallContext({
    method,
    revision: LATEST_PROTOCOL_VERSION,
    requestId: HOST,
    signal: caller === undefined ? signal : AbortSignal.any([signal, caller.signal]),
    meta: undefined,
    principal: HOST,
    authInfo: caller?.authInfo,
    requestContext,
    client: { info: undefined, capabilities: undefined },
    askable: 'host',
    askTimeoutMs: 0,
    serverName,
    streams: false,
    logLevel: () => undefined,
    wire: {
      sessionId: undefined,
      request: nobody,
      notify: nobody,
      req: undefined,
      closeStream: undefined,
      closeStandaloneStream: undefined,
    },
  });
}

/**
 * Runs a tool for the host and resolves to what it returned. Arguments or output that do not fit resolve to core's
 * validation error, as in core; a tool that suspends resolves to where it stands.
 *
 * @throws MCPToolCallError `MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED` (status 404) when there is no such tool,
 * `MCP_SERVER_TOOL_EXECUTE_FAILED` when the tool throws (its own status, else 424) or the user may not use it (status 403).
 */
export async function executeTool(
  name: string,
  args: unknown,
  { requestContext, signal, ...host }: ToolExecutionOptions & HostCallInit,
  deps: CallToolDeps,
): Promise<unknown> {
  const call = createHostCall('tools/call', deps.serverName, { requestContext, signal });
  const outcome = await callTool({ name, args, call, host }, deps);
  const tool = JSON.stringify(name);
  switch (outcome.status) {
    case 'completed':
    case 'suspended':
      return outcome.output;
    case 'invalid-input':
    case 'invalid-output':
      return outcome.error;
    case 'unknown-tool': {
      const cause = new MCPServerError('MCP_SERVER_UNKNOWN_TOOL', {
        message: `Unknown tool: ${name}`,
        status: 404,
      });
      throw refused('MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED', `Unknown tool: ${name}`, 404, cause);
    }
    case 'denied': {
      const message = `Access to tool ${tool} was denied`;
      const cause = new MCPAccessDeniedError({ message, toolName: name });
      throw refused('MCP_SERVER_TOOL_EXECUTE_FAILED', message, 403, cause);
    }
    case 'failed':
      throw new MCPToolCallError('MCP_SERVER_TOOL_EXECUTE_FAILED', {
        message: `Tool ${tool} failed: ${outcome.error.message}`,
        toolName: name,
        serverName: deps.serverName,
        status: statusOf(outcome.error.cause) ?? FAILED_TOOL_STATUS,
        cause: outcome.error.cause,
      });
    case 'not-approved':
    case 'needs-capability':
      // The host's own calls are not asked about.
      throw refused('MCP_SERVER_TOOL_EXECUTE_FAILED', `Tool ${tool} was not run`, 409, undefined);
  }

  function refused(
    code: 'MCP_SERVER_TOOL_EXECUTE_FAILED' | 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
    message: string,
    status: number,
    cause: unknown,
  ): MCPToolCallError {
    const { serverName } = deps;
    return new MCPToolCallError(code, {
      message,
      toolName: name,
      serverName,
      status,
      cause,
      mayHaveExecuted: false,
    });
  }
}

/** Entries of a table for the host, all or those named. */
export function toToolInfos(table: ToolTable, names: readonly string[] = table.names): ToolInfo[] {
  return names.flatMap(name => {
    const tool = table.find(name);
    if (tool === undefined) return [];
    const { description = '', inputSchema, outputSchema, _meta } = tool.definition;
    return [
      {
        id: name,
        name,
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(tool.toolType === undefined ? {} : { toolType: tool.toolType }),
        ...(_meta === undefined ? {} : { _meta }),
      },
    ];
  });
}

/** Status of a tool that failed: from 500 on Studio repeats the request, and the tool would run again. */
const FAILED_TOOL_STATUS = 424;

/** A tool's error may say how a REST layer should answer. */
function statusOf(cause: unknown): number | undefined {
  const status: unknown = Reflect.get(Object(cause), 'status');
  return typeof status === 'number' && status >= 400 && status <= 599 ? status : undefined;
}
