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
export type {
  CompleteOptions,
  GetPromptOptions,
  PromptResult,
  RemotePrompt,
} from './capabilities/prompts.ts';
export type {
  ElicitationHandler,
  ElicitationRequest,
  RootsHandler,
  SamplingHandler,
  ServerRequest,
} from './connection/answers.ts';
export type { CallerOptions, ConnectionState } from './connection/connection.ts';
export { createOAuthCallbackServer } from './oauth/callback-server.ts';
export type { OAuthCallbackServer, OAuthCallbackServerOptions } from './oauth/callback-server.ts';
export { createClientCredentialsProvider } from './oauth/client-credentials.ts';
export type { ClientCredentialsOptions } from './oauth/client-credentials.ts';
export type { AuthenticateOptions, ServerAuthState } from './oauth/authorization.ts';
export { FileOAuthStorage } from './oauth/file-storage.ts';
export type { FileOAuthStorageOptions } from './oauth/file-storage.ts';
export { getCallbackUrlCandidates } from './oauth/loopback.ts';
export { MCPOAuthClientProvider } from './oauth/provider.ts';
export type { MCPOAuthClientMetadata, MCPOAuthClientProviderOptions } from './oauth/provider.ts';
export { createSimpleTokenProvider } from './oauth/simple-token-provider.ts';
export type { SimpleTokenProviderOptions } from './oauth/simple-token-provider.ts';
export { InMemoryOAuthStorage } from './oauth/storage.ts';
export type { OAuthStorage } from './oauth/storage.ts';
export { MCPClientServerProxy } from './server-proxy.ts';
export type { ProxiedToolInfo } from './server-proxy.ts';
export type { ToolDefinitionChange } from './tools/tool-digest.ts';
export type { ListErrors, ListWithErrorsOptions, ServerErrorDetails, ToolProblem } from './discovery.ts';
export type { RemoteToolMetadata } from './tools/instructions.ts';
export type { RemoteCallContext } from './tools/tool-call.ts';
export type { MCPToolDefinition, RemoteTool } from './tools/tools.ts';
export type {
  AnyMCPError,
  AuthorizationFailureReason,
  MCPAccessDeniedErrorCode,
  MCPAuthorizationFailedErrorCode,
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
  MCPAuthorizationFailedError,
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
export {
  auth,
  buildDiscoveryUrls,
  discoverAuthorizationServerMetadata,
  discoverOAuthMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractResourceMetadataUrl,
  extractWWWAuthenticateParams,
  parseErrorResponse,
  refreshAuthorization,
  registerClient,
  selectResourceURL,
  startAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
export type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
