/** The server half: explicit named re-exports. */
export { MCPServer } from './mcp-server.ts';
export type {
  MCPServerConfig,
  MCPServerFetchOptions,
  MCPServerListenOptions,
  MCPServerStartHTTPOptions,
  ToolActions,
} from './options.ts';
export type { AgentOutput } from './calls/agents-as-tools.ts';
export type { ToolExecutionOptions, ToolInfo } from './calls/execute-tool.ts';
export type { LoggingLevel } from './capabilities/logging.ts';
export type {
  CORSOptions,
  HTTPLimits,
  MCPServerHTTPSecurityOptions,
  StreamableHTTPServerTransportOptions,
} from './http/http-options.ts';
export type { HTTPListener, ListenOptions } from './http/listen.ts';
export { InMemoryEventStore } from './sessions/event-store.ts';
export type { EventStore, InMemoryEventStoreOptions } from './sessions/event-store.ts';
export type { AnyMCPError, MCPErrorCode } from '../shared/errors.ts';
export {
  isMCPError,
  MCPAccessDeniedError,
  MCPConfigurationError,
  MCPError,
  MCPServerError,
  MCPToolCallError,
} from '../shared/errors.ts';
