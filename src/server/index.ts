/** The server half: explicit named re-exports. */
export { MCPServer } from './mcp-server.ts';
export type {
  MCPServerConfig,
  MCPServerFetchOptions,
  MCPServerListenOptions,
  MCPServerStartHonoSSEOptions,
  MCPServerStartHTTPOptions,
  MCPServerStartSSEOptions,
  ToolActions,
} from './options.ts';
export type { AgentOutput } from './calls/agents-as-tools.ts';
export type { MCPToolContext } from './calls/call-context.ts';
export { urlElicitationRequired } from './calls/elicitation.ts';
export type {
  ElicitFormParams,
  ElicitParams,
  ElicitUrlParams,
  RequiredUrl,
  ServerElicitation,
} from './calls/elicitation.ts';
export type { ToolExecutionOptions, ToolInfo } from './calls/execute-tool.ts';
export type { AppResource, AppResources, McpUiResourceMeta } from './capabilities/app-resources.ts';
export type {
  CompletionReference,
  CompletionRequest,
  CompletionValues,
  MCPServerCompletions,
} from './capabilities/completions.ts';
export type { LoggingLevel } from './capabilities/logging.ts';
export type { MCPServerPrompts, Prompt, PromptActions, PromptRequest } from './capabilities/prompts.ts';
export type {
  MCPServerResourceContent,
  MCPServerResources,
  ResourceActions,
} from './capabilities/resources.ts';
export type { RequestFacts } from './capabilities/user-callback.ts';
export type { PromptMessage, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
export type {
  CORSOptions,
  HTTPLimits,
  MCPServerHTTPSecurityOptions,
  StreamableHTTPServerTransportOptions,
} from './http/http-options.ts';
export type { HTTPListener, ListenOptions } from './http/listen.ts';
export { extractBearerToken } from './oauth/bearer-token.ts';
export { generateWWWAuthenticateHeader } from './oauth/challenge.ts';
export type { ChallengeOptions } from './oauth/challenge.ts';
export { createIntrospectionValidator } from './oauth/introspection-validator.ts';
export type { IntrospectionOptions } from './oauth/introspection-validator.ts';
export { createJwtValidator } from './oauth/jwt-validator.ts';
export type { JwtOptions } from './oauth/jwt-validator.ts';
export { createOAuthFetchMiddleware, createOAuthMiddleware } from './oauth/middleware.ts';
export type {
  OAuthFetchMiddleware,
  OAuthFetchResult,
  OAuthMiddleware,
  OAuthMiddlewareResult,
} from './oauth/middleware.ts';
export type {
  MCPServerListenOAuthOptions,
  MCPServerOAuthOptions,
  OAuthLogger,
  OAuthMiddlewareOptions,
} from './oauth/oauth-options.ts';
export { generateProtectedResourceMetadata } from './oauth/protected-resource.ts';
export type { ProtectedResourceMetadata, ProtectedResourceOptions } from './oauth/protected-resource.ts';
export { createStaticTokenValidator } from './oauth/static-token-validator.ts';
export type { StaticToken } from './oauth/static-token-validator.ts';
export type {
  ClaimOptions,
  TokenValidationFacts,
  TokenValidationResult,
  TokenValidator,
} from './oauth/token-validation.ts';
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
