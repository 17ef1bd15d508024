/**
 * What a user can configure on the client side, and what the rooms get after resolution.
 *
 * Owns the option types only; `resolve-options.ts` checks the values and fills the defaults.
 */
import type { RequestContext } from '@mastra/core/request-context';
import type { ToolAnnotations } from '@mastra/core/tools';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { SSEClientTransportOptions } from '@modelcontextprotocol/sdk/client/sse.js';
import type { StreamableHTTPReconnectionOptions } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ClientCapabilities, LoggingLevel, Root } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator as JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';

/** A log message of a server, or of the client about it. */
export interface LogMessage {
  readonly level: LoggingLevel;
  readonly message: string;
  readonly timestamp: Date;
  readonly serverName: string;
  readonly details?: Record<string, unknown> | undefined;
  readonly requestContext?: RequestContext | null | undefined;
}

/** Receives the log messages of one server. A handler that throws is ignored. */
export type LogHandler = (message: LogMessage) => void;

/**
 * `fetch` with the request context of the call as third argument.
 *
 * `requestContext` is `null` for everything that belongs to no call: handshake, listings, the standalone event stream.
 */
export type MastraFetchLike = (
  url: string | URL,
  init?: RequestInit,
  requestContext?: RequestContext | null,
) => Promise<Response>;

/** What `requireToolApproval` decides about. */
export interface RequireToolApprovalContext {
  /** Name of the tool at its server, without prefix. */
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  /** Plain view of the request context of the run; `get(key)` works on it as well. */
  readonly requestContext?: Record<string, unknown> | undefined;
  /** Hints of the server about its own tool. Untrusted: never a security boundary. */
  readonly annotations?: ToolAnnotations | undefined;
}

/** Whether a call needs approval; a function that throws or rejects means yes. */
export type RequireToolApproval =
  boolean | ((context: RequireToolApprovalContext) => boolean | Promise<boolean>);

/** Which tools of a server exist for this client. Un-prefixed names; `*` in a string matches any characters. */
export interface ToolFilter {
  readonly include?: readonly (string | RegExp)[] | undefined;
  readonly exclude?: readonly (string | RegExp)[] | undefined;
}

/** Options that every server definition takes. */
export interface BaseServerDefinition {
  /** `false` leaves the server out of everything. @defaultValue true */
  readonly enabled?: boolean | undefined;
  /** Extra handler for the log messages of this server. */
  readonly logger?: LogHandler | undefined;
  /** @deprecated Use `logger`. */
  readonly log?: LogHandler | undefined;
  /** Idle limit of one request in milliseconds; matching progress restarts it. @defaultValue `timeout` of the client */
  readonly timeout?: number | undefined;
  /** Absolute limit of one request in milliseconds, progress or not. @defaultValue none */
  readonly maxTotalTimeout?: number | undefined;
  /** Limit in milliseconds for the whole connect: transports, fallback, handshake. @defaultValue 10000 */
  readonly connectTimeout?: number | undefined;
  /** Whether progress restarts the idle limit. @defaultValue true */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Whether calls ask for progress. @defaultValue true */
  readonly enableProgressTracking?: boolean | undefined;
  /** Whether a call of a tool annotated read-only or idempotent is repeated once after a lost connection. @defaultValue true */
  readonly retryAnnotatedTools?: boolean | undefined;
  /**
   * Capabilities declared to the server. Forms are always declared, pages with a handler; `sampling` and `roots` say more about
   * what is declared only with a handler (or the option `roots`).
   */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Roots answered to `roots/list`; giving them declares the capability. Only `file://` URIs. */
  readonly roots?: readonly Root[] | undefined;
  /** Whether log notifications of the server are handled. @defaultValue true */
  readonly enableServerLogs?: boolean | undefined;
  /**
   * Whether the instructions of the server are appended to the system prompt of agents that use its tools.
   * Security: the text of the server enters the prompt verbatim, only cut. @defaultValue false
   */
  readonly forwardInstructions?: boolean | undefined;
  /** Most characters of instructions forwarded. @defaultValue 512 */
  readonly instructionsMaxLength?: number | undefined;
  /** Whether calls of tools of this server need approval. @defaultValue false */
  readonly requireToolApproval?: RequireToolApproval | undefined;
  /** What a result with `isError` becomes: a thrown error or the result itself. @defaultValue 'throw' */
  readonly onToolError?: 'throw' | 'return' | undefined;
  readonly tools?: ToolFilter | undefined;
  /**
   * What a call does when the definition of its tool is not what the server first told this client: `'allow'` sends it,
   * `'block'` refuses it. @defaultValue 'allow'
   */
  readonly onToolChanged?: 'allow' | 'block' | undefined;
  /** Digests (`mcpMetadata.digest`) by tool name; a tool with another one is not called. @defaultValue none */
  readonly pinnedTools?: Readonly<Record<string, string>> | undefined;
  /** Most pages read of one listing. @defaultValue 1000 */
  readonly maxPages?: number | undefined;
  /** Largest message accepted from the server, in bytes. @defaultValue 67108864 (64 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** Validator handed to the protocol engine. @defaultValue an interpreting JSON Schema 2020-12 validator */
  readonly jsonSchemaValidator?: JsonSchemaValidator | undefined;
  /** Which protocol revisions to negotiate; both values mean 2024-10-07 to 2025-11-25 today. @defaultValue 'auto' */
  readonly protocolVersion?: 'auto' | 'legacy' | undefined;
}

/** A server that runs as a child process and speaks over its standard input and output. */
export interface StdioServerDefinition extends BaseServerDefinition {
  /** Executable to run. Never passed through a shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /**
   * Variables of the child, merged over the base environment and forwarded verbatim.
   * Security: a definition from an untrusted source is untrusted code.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Whether the child gets the default variables (HOME, PATH, …) of the parent. @defaultValue true */
  readonly inheritDefaultEnv?: boolean | undefined;
  /** Working directory of the child. @defaultValue that of this process */
  readonly cwd?: string | undefined;
  /** `inherit` copies standard error to ours, `ignore` keeps only its tail, `pipe` also gives the stream. @defaultValue 'inherit' */
  readonly stderr?: 'inherit' | 'ignore' | 'pipe' | undefined;
  readonly url?: never;
}

/** A server reached over Streamable HTTP, or over HTTP+SSE when it speaks only that. */
export interface HttpServerDefinition extends BaseServerDefinition {
  readonly url: URL | string;
  readonly requestInit?: RequestInit | undefined;
  /** Settings of the legacy event stream. Headers of `requestInit` reach it without this. */
  readonly eventSourceInit?: SSEClientTransportOptions['eventSourceInit'] | undefined;
  /** Used for every request of this server instead of the global `fetch`. */
  readonly fetch?: MastraFetchLike | undefined;
  /** Hosts (`URL.host`, exact) that may be contacted for this server; an empty list denies all. @defaultValue no restriction */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly authProvider?: OAuthClientProvider | undefined;
  /** `auto` is Streamable HTTP with fallback to SSE on 400, 404 or 405. @defaultValue 'auto' */
  readonly transport?: 'auto' | 'http' | 'sse' | undefined;
  /** Whether the standalone GET stream is opened. @defaultValue true */
  readonly openEventStream?: boolean | undefined;
  readonly reconnectionOptions?: StreamableHTTPReconnectionOptions | undefined;
  /** Session to join without `initialize`; when the server does not know it, a new one is opened. */
  readonly sessionId?: string | undefined;
  readonly command?: never;
}

/** One MCP server: `command` starts it as a child process, `url` reaches it over HTTP. */
export type MastraMCPServerDefinition = StdioServerDefinition | HttpServerDefinition;

/** Options of `MCPClient`. */
export interface MCPClientOptions {
  /** Lets several clients with the same configuration coexist. */
  readonly id?: string | undefined;
  /** Servers by name. The name is the namespace of their tools. */
  readonly servers: Readonly<Record<string, MastraMCPServerDefinition>>;
  /** Idle limit of one request in milliseconds, for all servers. @defaultValue 60000 */
  readonly timeout?: number | undefined;
  /** Absolute limit of one request in milliseconds, for all servers. @defaultValue none */
  readonly maxTotalTimeout?: number | undefined;
}

/** What every resolved server has. */
export interface ResolvedServerBase {
  readonly serverName: string;
  readonly logHandler: LogHandler | undefined;
  readonly timeout: number;
  readonly maxTotalTimeout: number | undefined;
  readonly connectTimeout: number;
  readonly resetTimeoutOnProgress: boolean;
  readonly enableProgressTracking: boolean;
  readonly retryAnnotatedTools: boolean;
  readonly capabilities: ClientCapabilities;
  readonly roots: readonly Root[] | undefined;
  readonly enableServerLogs: boolean;
  readonly forwardInstructions: boolean;
  readonly instructionsMaxLength: number;
  readonly requireToolApproval: RequireToolApproval;
  readonly onToolError: 'throw' | 'return';
  readonly onToolChanged: 'allow' | 'block';
  readonly pinnedTools: Readonly<Record<string, string>>;
  /** Whether a tool of this name exists for the client. */
  readonly allowsTool: (toolName: string) => boolean;
  readonly maxPages: number;
  readonly maxMessageBytes: number;
  readonly jsonSchemaValidator: JsonSchemaValidator;
}

export interface ResolvedStdioServer extends ResolvedServerBase {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inheritDefaultEnv: boolean;
  readonly cwd: string | undefined;
  readonly stderr: 'inherit' | 'ignore' | 'pipe';
}

export interface ResolvedHttpServer extends ResolvedServerBase {
  readonly kind: 'http';
  readonly url: URL;
  readonly requestInit: RequestInit;
  readonly eventSourceInit: SSEClientTransportOptions['eventSourceInit'] | undefined;
  readonly fetch: MastraFetchLike | undefined;
  readonly allowedHosts: readonly string[] | undefined;
  readonly authProvider: OAuthClientProvider | undefined;
  readonly transport: 'auto' | 'http' | 'sse';
  readonly openEventStream: boolean;
  readonly reconnectionOptions: StreamableHTTPReconnectionOptions | undefined;
  readonly sessionId: string | undefined;
}

/** A server definition with every default filled in. */
export type ResolvedServerDefinition = ResolvedStdioServer | ResolvedHttpServer;

/** Client options with every default filled in; servers that are not enabled are gone. */
export interface ResolvedClientOptions {
  readonly id: string | undefined;
  readonly servers: readonly ResolvedServerDefinition[];
}
