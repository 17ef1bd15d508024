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
export type { RemoteCallContext } from './tools/tool-call.ts';
export type { MCPToolDefinition, RemoteTool } from './tools/tools.ts';
export type {
  AnyMCPError,
  MCPAccessDeniedErrorCode,
  MCPAuthorizationRequiredErrorCode,
  MCPConfigurationErrorCode,
  MCPConnectionAttempt,
  MCPConnectionErrorCode,
  MCPErrorCode,
  MCPRequestErrorCode,
  MCPServerErrorCode,
  MCPToolCallErrorCode,
  MCPUrlPolicyErrorCode,
} from '../shared/errors.ts';
export {
  isMCPError,
  MCPAuthorizationRequiredError,
  MCPConfigurationError,
  MCPConnectionError,
  MCPError,
  MCPRequestError,
  MCPToolCallError,
  MCPUrlPolicyError,
} from '../shared/errors.ts';
export { getMcpCallToolContent, getMcpCallToolMeta } from '../shared/tool-result.ts';
export type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
