/** The client half: explicit named re-exports. */
export { MCPClient } from './mcp-client.ts';
export type { MCPServerStatus, MCPServerStatusChange } from './mcp-client.ts';
export type {
  BaseServerDefinition,
  HttpServerDefinition,
  LogHandler,
  LogMessage,
  MastraFetchLike,
  MastraMCPServerDefinition,
  MCPClientOptions,
  RequireToolApproval,
  RequireToolApprovalContext,
  StdioServerDefinition,
  ToolFilter,
} from './options.ts';
export type { ProgressHandler, ProgressUpdate } from './capabilities/progress.ts';
export type { ConnectionState, ElicitationHandler } from './connection/connection.ts';
export type { ListErrors, ListWithErrorsOptions, ServerErrorDetails, ToolProblem } from './discovery.ts';
export type { MCPToolDefinition, RemoteTool } from './tools/tools.ts';
export { getMcpCallToolContent, getMcpCallToolMeta } from '../shared/tool-result.ts';
