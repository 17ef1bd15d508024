/**
 * The errors of this module: one family, one code per cause, one brand.
 *
 * Owns the codes, the subclasses and the brand check. Does not decide when an error is thrown and never reads the
 * text of another error: callers branch on `code`, `status` or `rpcCode`.
 */
import { ErrorCategory, ErrorDomain, MastraError } from '@mastra/core/error';

/** Codes of wrong options and arguments. */
export type MCPConfigurationErrorCode =
  'MCP_CLIENT_CONFIGURATION_INVALID' | 'MCP_SERVER_CONFIGURATION_INVALID';

/** Codes of a connection that could not be made, was lost or refused to carry a message. */
export type MCPConnectionErrorCode =
  | 'MCP_CLIENT_CONNECTION_LOST'
  | 'MCP_CLIENT_CONNECT_FAILED'
  | 'MCP_CLIENT_CONNECT_TIMEOUT'
  | 'MCP_CLIENT_PROTOCOL_VERSION_UNSUPPORTED'
  | 'MCP_CLIENT_BACKPRESSURE'
  | 'MCP_CLIENT_MESSAGE_TOO_LARGE';

/** Codes of a request that was sent and did not give a result. */
export type MCPRequestErrorCode =
  | 'MCP_CLIENT_REQUEST_FAILED'
  | 'MCP_CLIENT_REQUEST_TIMEOUT'
  | 'MCP_CLIENT_REQUEST_ABORTED'
  | 'MCP_CLIENT_RESPONSE_INVALID'
  | 'MCP_CLIENT_READ_RESOURCE_FAILED'
  | 'MCP_CLIENT_GET_PROMPT_FAILED'
  | 'MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED';

/** Codes of a call that needs the user to authorize first. */
export type MCPAuthorizationRequiredErrorCode = 'MCP_CLIENT_AUTHORIZATION_REQUIRED';

/** Codes of a login, or of a token that could not be renewed. */
export type MCPAuthorizationFailedErrorCode = 'MCP_CLIENT_AUTHORIZATION_FAILED';

/** Codes of a request that the host policy of the client refused to send. */
export type MCPUrlPolicyErrorCode = 'MCP_CLIENT_HOST_NOT_ALLOWED' | 'MCP_CLIENT_REDIRECT_REFUSED';

/** Codes of a tool that ran, or may have run, and failed. */
export type MCPToolCallErrorCode =
  | 'MCP_CLIENT_TOOL_EXECUTION_FAILED'
  | 'MCP_CLIENT_TOOL_EXCLUDED'
  | 'MCP_CLIENT_TOOL_CHANGED'
  | 'MCP_SERVER_TOOL_EXECUTE_FAILED'
  | 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED';

/** Codes of a caller that may not use a tool. */
export type MCPAccessDeniedErrorCode = 'MCP_SERVER_ACCESS_DENIED';

/** Codes of everything else that goes wrong on the server side. */
export type MCPServerErrorCode =
  | 'MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED'
  | 'MCP_SERVER_UNKNOWN_TOOL'
  | 'MCP_SERVER_RESOURCE_NOT_FOUND'
  | 'MCP_SERVER_PARAMS_INVALID'
  | 'MCP_SERVER_CLIENT_CAPABILITY_MISSING'
  | 'MCP_SERVER_CALLBACK_FAILED'
  | 'MCP_SERVER_URL_ELICITATION_REQUIRED'
  | 'MCP_SERVER_CLIENT_UNREACHABLE'
  | 'MCP_SERVER_NOT_CONNECTED'
  | 'MCP_SERVER_TOKEN_VALIDATION_FAILED'
  | 'MCP_SERVER_CLOSED';

/** Every code an error of this module can carry. */
export type MCPErrorCode =
  | MCPConfigurationErrorCode
  | MCPConnectionErrorCode
  | MCPRequestErrorCode
  | MCPAuthorizationRequiredErrorCode
  | MCPAuthorizationFailedErrorCode
  | MCPUrlPolicyErrorCode
  | MCPToolCallErrorCode
  | MCPAccessDeniedErrorCode
  | MCPServerErrorCode;

const BRAND = Symbol.for('@mastra/mcp.error');

/** What every error of this module is built from. */
export interface MCPErrorInit {
  readonly message: string;
  readonly category?: 'USER' | 'SYSTEM' | 'THIRD_PARTY' | undefined;
  /** HTTP status that a REST layer should answer with; kept in `details.status`, where core looks for it. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/**
 * Base of all errors of this module. `code` equals `id`; `details` holds nothing but `status`.
 *
 * Does not carry arguments, headers, tokens or results in its text or details.
 */
export abstract class MCPError<TCode extends MCPErrorCode = MCPErrorCode> extends MastraError {
  readonly code: TCode;

  constructor(code: TCode, init: MCPErrorInit) {
    super(
      {
        id: code,
        domain: ErrorDomain.MCP,
        category: init.category ?? ErrorCategory.SYSTEM,
        text: init.message,
        ...(init.status === undefined ? {} : { details: { status: init.status } }),
      },
      init.cause,
    );
    this.code = code;
    this.name = new.target.name;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** A wrong option or argument. Thrown synchronously by constructors. */
export class MCPConfigurationError extends MCPError<MCPConfigurationErrorCode> {
  /** Path of the option, e.g. `servers.weather.url`. */
  readonly option: string;

  constructor(side: 'client' | 'server', option: string, problem: string, cause?: unknown) {
    super(side === 'client' ? 'MCP_CLIENT_CONFIGURATION_INVALID' : 'MCP_SERVER_CONFIGURATION_INVALID', {
      message: `Option ${JSON.stringify(option)} ${problem}`,
      category: 'USER',
      cause,
    });
    this.option = option;
  }
}

/** One way in which a client tried to reach a server. */
export interface MCPConnectionAttempt {
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly cause: unknown;
  /** What the server wrote besides messages, e.g. the tail of its standard error. */
  readonly output?: string;
}

/** A connection that could not be made, was lost, or refused to carry a message. */
export class MCPConnectionError extends MCPError<MCPConnectionErrorCode> {
  readonly serverName: string;
  /** Every attempt to connect, in order; empty when the connection existed. */
  readonly attempts: readonly MCPConnectionAttempt[];
  /** Whether the request in flight may have run at the server. `false` is certain, `true` means unknown. */
  readonly mayHaveExecuted: boolean;
  /** Protocol revisions the server offered, where it refused ours. */
  readonly supportedVersions: readonly string[] | undefined;

  constructor(
    code: MCPConnectionErrorCode,
    init: MCPErrorInit & {
      readonly serverName: string;
      readonly attempts?: readonly MCPConnectionAttempt[] | undefined;
      readonly mayHaveExecuted: boolean;
      readonly supportedVersions?: readonly string[] | undefined;
    },
  ) {
    super(code, { category: 'THIRD_PARTY', ...init });
    this.serverName = init.serverName;
    this.attempts = init.attempts ?? [];
    this.mayHaveExecuted = init.mayHaveExecuted;
    this.supportedVersions = init.supportedVersions;
  }
}

/** The server wants the user to authorize first. No call opens a browser by itself. */
export class MCPAuthorizationRequiredError extends MCPError<MCPAuthorizationRequiredErrorCode> {
  readonly serverName: string;
  readonly httpStatus: number;
  /** Scopes the server asked for, when it named them. */
  readonly scopes: readonly string[];
  readonly mayHaveExecuted: boolean = false;

  constructor(
    init: MCPErrorInit & {
      readonly serverName: string;
      readonly httpStatus: number;
      readonly scopes?: readonly string[] | undefined;
    },
  ) {
    super('MCP_CLIENT_AUTHORIZATION_REQUIRED', { category: 'USER', ...init });
    this.serverName = init.serverName;
    this.httpStatus = init.httpStatus;
    this.scopes = init.scopes ?? [];
  }
}

/**
 * Why an authorization failed.
 *
 * - `cancelled`: `cancelAuthentication`, or the client was disconnected. - `timeout`: the browser did not come back in time.
 * - `denied`: the authorization server refused the user, the client or the scopes; `oauthError` is its code.
 * - `metadata`: discovery found nothing usable, or something that must not be trusted.
 * - `registration`: the authorization server does not know or accept this client.
 * - `issuer`: the answer came from another authorization server (RFC 9207).
 * - `callback`: no loopback port was free, or the address could not be handed to the user.
 * - `token`: the token endpoint refused or could not be reached.
 * - `storage`: the storage of the provider failed.
 */
export type AuthorizationFailureReason =
  | 'cancelled'
  | 'timeout'
  | 'denied'
  | 'metadata'
  | 'registration'
  | 'issuer'
  | 'callback'
  | 'token'
  | 'storage';

/** An authorization that was tried and did not succeed. Decide by `reason`. Holds no code, token or secret. */
export class MCPAuthorizationFailedError extends MCPError<MCPAuthorizationFailedErrorCode> {
  /** Absent where no server of a client is concerned, e.g. for `createOAuthCallbackServer`. */
  readonly serverName: string | undefined;
  readonly reason: AuthorizationFailureReason;
  /** Error code of the authorization server, e.g. `access_denied` or `invalid_grant`. */
  readonly oauthError: string | undefined;
  /** Status of the answer of the authorization server, where it was one. */
  readonly httpStatus: number | undefined;
  readonly mayHaveExecuted: boolean = false;

  constructor(
    reason: AuthorizationFailureReason,
    init: MCPErrorInit & {
      readonly serverName?: string | undefined;
      readonly oauthError?: string | undefined;
      readonly httpStatus?: number | undefined;
    },
  ) {
    super('MCP_CLIENT_AUTHORIZATION_FAILED', { category: 'USER', ...init });
    this.serverName = init.serverName;
    this.reason = reason;
    this.oauthError = init.oauthError;
    this.httpStatus = init.httpStatus;
  }
}

/** A host that the policy of the client does not allow. The request, or the redirect hop, was not sent. */
export class MCPUrlPolicyError extends MCPError<MCPUrlPolicyErrorCode> {
  readonly serverName: string;
  readonly host: string;
  readonly mayHaveExecuted: boolean;

  constructor(
    code: MCPUrlPolicyErrorCode,
    init: MCPErrorInit & {
      readonly serverName: string;
      readonly host: string;
      readonly mayHaveExecuted?: boolean | undefined;
    },
  ) {
    super(code, { category: 'USER', ...init });
    this.serverName = init.serverName;
    this.host = init.host;
    this.mayHaveExecuted = init.mayHaveExecuted ?? false;
  }
}

/** A request that gave an error instead of a result, ran out of time or was aborted. */
export class MCPRequestError extends MCPError<MCPRequestErrorCode> {
  readonly serverName: string;
  readonly method: string;
  readonly rpcCode: number | undefined;
  readonly rpcData: unknown;
  readonly httpStatus: number | undefined;
  readonly mayHaveExecuted: boolean;

  constructor(
    code: MCPRequestErrorCode,
    init: MCPErrorInit & {
      readonly serverName: string;
      readonly method: string;
      readonly rpcCode?: number | undefined;
      readonly rpcData?: unknown;
      readonly httpStatus?: number | undefined;
      readonly mayHaveExecuted: boolean;
    },
  ) {
    super(code, { category: 'THIRD_PARTY', ...init });
    this.serverName = init.serverName;
    this.method = init.method;
    this.rpcCode = init.rpcCode;
    this.rpcData = init.rpcData;
    this.httpStatus = init.httpStatus;
    this.mayHaveExecuted = init.mayHaveExecuted;
  }
}

/** A tool that failed. `content` is what the tool said, for the model. */
export class MCPToolCallError extends MCPError<MCPToolCallErrorCode> {
  readonly toolName: string;
  readonly serverName: string;
  /** Content blocks of the failed result; empty when there was none. */
  readonly content: readonly unknown[];
  readonly mayHaveExecuted: boolean;

  constructor(
    code: MCPToolCallErrorCode,
    init: MCPErrorInit & {
      readonly toolName: string;
      readonly serverName: string;
      readonly content?: readonly unknown[] | undefined;
      readonly mayHaveExecuted?: boolean | undefined;
    },
  ) {
    super(code, { category: 'THIRD_PARTY', ...init });
    this.toolName = init.toolName;
    this.serverName = init.serverName;
    this.content = init.content ?? [];
    this.mayHaveExecuted = init.mayHaveExecuted ?? true;
  }
}

/** A caller that may not use a tool. What a remote client sees does not differ from an unknown tool. */
export class MCPAccessDeniedError extends MCPError<MCPAccessDeniedErrorCode> {
  readonly toolName: string;

  constructor(init: MCPErrorInit & { readonly toolName: string }) {
    super('MCP_SERVER_ACCESS_DENIED', { category: 'USER', status: 403, ...init });
    this.toolName = init.toolName;
  }
}

/** Everything else that goes wrong on the server side. */
export class MCPServerError extends MCPError<MCPServerErrorCode> {
  /** The transport on which it happened, where there is one. */
  readonly transport: string | undefined;
  /** Machine-readable facts for the peer, e.g. the URL elicitations that are required. */
  readonly data: unknown;

  constructor(
    code: MCPServerErrorCode,
    init: MCPErrorInit & { readonly transport?: string | undefined; readonly data?: unknown },
  ) {
    super(code, init);
    this.transport = init.transport;
    this.data = init.data;
  }
}

/** All errors of this module, discriminated by `code`. */
export type AnyMCPError =
  | MCPConfigurationError
  | MCPConnectionError
  | MCPAuthorizationRequiredError
  | MCPAuthorizationFailedError
  | MCPUrlPolicyError
  | MCPRequestError
  | MCPToolCallError
  | MCPAccessDeniedError
  | MCPServerError;

/**
 * Narrows an unknown value to an error of this module, also across two loaded copies of it.
 *
 * Does not look into `cause`.
 */
export function isMCPError(value: unknown): value is AnyMCPError {
  return typeof value === 'object' && value !== null && Reflect.get(value, BRAND) === true;
}
