/**
 * Session: one connected client, bound to the handler table through one Server of the SDK (revisions up to 2025-11-25).
 *
 * Owns that client's log level and negotiated revision, the making of JSON-RPC errors, and the answer to
 * logging/setLevel. The only server file that knows the SDK's Server and its schemas. Does not know HTTP.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  EmptyResultSchema,
  ErrorCode,
  LATEST_PROTOCOL_VERSION,
  ListRootsResultSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type {
  Implementation,
  JSONRPCMessage,
  JSONRPCRequest,
  ServerCapabilities,
  ServerNotification,
  ServerRequest,
  ServerResult,
} from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPServerError } from '../../shared/errors.ts';
import { jsonSchemaValidator } from '../../shared/schema.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import { askCaller } from '../calls/ask.ts';
import type { Answer, AskKind, AskOptions, AskTarget, Question, WireRequestOptions } from '../calls/ask.ts';
import { createCallContext } from '../calls/call-context.ts';
import type { CallSource, CallWire, HandlerTable } from '../calls/call-context.ts';
import type { CallGate } from '../calls/call-gate.ts';
import { isLevelWanted, isLoggingLevel } from '../capabilities/logging.ts';
import type { LoggingLevel } from '../capabilities/logging.ts';
import type { ServerEvent, ServerEventTarget } from './notifications.ts';
import { ASSUMED_REVISION, SERVED_REVISIONS } from './revision.ts';
import type { WireRequestInfo } from './wire-request.ts';

/** How long a session lives: with an id over many requests, for one request, or as long as a process. */
export type SessionMode = 'session' | 'stateless' | 'stateless-streaming' | 'stdio';

/** What distinguishes one session from another. */
export interface SessionInit {
  readonly id?: string | undefined;
  /** Who opened it, by `principalOf`. */
  readonly principal: string;
  readonly mode: SessionMode;
}

/** What all sessions of a server share; made once per server. */
export interface SessionBinding {
  readonly serverInfo: Implementation;
  readonly instructions: string | undefined;
  readonly handlers: HandlerTable;
  readonly capabilities: Readonly<Record<SessionMode, ServerCapabilities>>;
  readonly askTimeoutMs: number;
  readonly gate: CallGate;
  /**
   * Told about errors nobody else hears of: those of this server, of which a client learns no more than that there was one,
   * and, as `debug`, those that a client can cause at will.
   */
  onError(message: string, error: unknown, severity: 'error' | 'debug'): void;
}

/** The protocol engine of a session. */
export type SdkServer = Server;

/** What a session is connected to. */
export type ConnectedTransport = Transport;

/** Unanswered requests one client may have from us before further ones are refused. */
const MAX_QUESTIONS = 64;

/** How the answer to a request of ours is read; anything else stays as it came. */
const resultSchemas: Readonly<Record<string, typeof ResultSchema>> = {
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
  ping: EmptyResultSchema,
};

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Makes an engine that is bound to nothing yet. */
function createSdkServer(
  binding: Pick<SessionBinding, 'serverInfo' | 'instructions' | 'capabilities'>,
  mode: SessionMode,
): SdkServer {
  const server = new Server(binding.serverInfo, {
    capabilities: binding.capabilities[mode],
    ...(binding.instructions === undefined ? {} : { instructions: binding.instructions }),
    jsonSchemaValidator,
  });
  // The SDK installs its own handler, which answers a wrong level with an internal error.
  server.removeRequestHandler('logging/setLevel');
  return server;
}

/** One connected client. */
export class Session implements ServerEventTarget {
  readonly id: string | undefined;
  readonly principal: string;
  readonly mode: SessionMode;
  readonly #binding: SessionBinding;
  readonly #server: SdkServer;
  #transport: Transport | undefined;
  #logLevel: LoggingLevel | undefined;
  #revision: string | undefined;
  #ready = false;
  #closed = false;
  #questions = 0;

  constructor(init: SessionInit, binding: SessionBinding) {
    this.id = init.id;
    this.principal = init.principal;
    this.mode = init.mode;
    this.#binding = binding;
    this.#server = createSdkServer(binding, init.mode);
    this.#server.fallbackRequestHandler = (request, extra) => this.#answer(request, extra);
    this.#server.oninitialized = () => {
      this.#ready = true;
    };
    this.#server.onclose = () => {
      this.#closed = true;
    };
    this.#server.onerror = error => binding.onError('Trouble with a client', error, 'debug');
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether a client is there: it has finished its introduction, or asked for something. */
  get ready(): boolean {
    return this.#ready;
  }

  /** The revision both sides agreed on; `undefined` before `initialize` and where there is none. */
  get revision(): string | undefined {
    return this.#revision;
  }

  /** The transport the session is connected to. */
  get transport(): Transport | undefined {
    return this.#transport;
  }

  /** The protocol engine, for hosts that register handlers of their own. */
  get sdkServer(): SdkServer {
    return this.#server;
  }

  /** Binds the session to its transport and starts it. */
  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    const before = transport.onmessage;
    // Runs before the engine sees a message; the engine keeps the negotiated revision to itself.
    transport.onmessage = (message, extra) => {
      before?.(message, extra);
      this.#observe(message);
    };
    await this.#server.connect(transport);
  }

  /** Turns an event into a notification if this client wants it. Rejects when it cannot be sent. */
  async deliver(event: ServerEvent): Promise<'sent' | 'not-wanted'> {
    if (!this.#ready || this.#closed || this.#isStateless()) return 'not-wanted';
    switch (event.kind) {
      case 'tools_list_changed':
        await this.#server.notification({ method: 'notifications/tools/list_changed' });
        return 'sent';
      case 'log':
        return this.#deliverLog(event);
      case 'prompts_list_changed':
      case 'resources_list_changed':
      case 'resource_updated':
        return 'not-wanted';
    }
  }

  /** Asks this client outside of any call. */
  ask<K extends AskKind>(kind: K, question: Question<K>, options: AskOptions): Promise<Answer<K>> {
    const target: AskTarget = {
      askable: this.#isStateless() ? 'stateless' : 'client',
      askTimeoutMs: this.#binding.askTimeoutMs,
      signal: undefined,
      client: { capabilities: this.#server.getClientCapabilities() },
      wire: { request: (method, params, limits) => this.request(method, params, limits) },
    };
    return askCaller(target, kind, question, options);
  }

  /** Sends a request to this client; `related` is the request of theirs it belongs to. */
  async request(
    method: string,
    params: Record<string, unknown> | undefined,
    limits: WireRequestOptions,
    related?: Extra,
  ): Promise<unknown> {
    if (this.#questions >= MAX_QUESTIONS) throw new Error('Too many unanswered requests to this client');
    const options = {
      timeout: limits.timeoutMs,
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      ...(related === undefined ? {} : { relatedRequestId: related.requestId }),
    };
    // The engine types requests by method; what was checked in `ask.ts` goes out as it is.
    const request = { method, ...(params === undefined ? {} : { params }) } as ServerRequest;
    this.#questions += 1;
    try {
      return await this.#server.request(request, resultSchemas[method] ?? ResultSchema, options);
    } finally {
      this.#questions -= 1;
    }
  }

  /** Ends the session: running calls are aborted, the transport is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#server.close();
  }

  async #answer(request: JSONRPCRequest, extra: Extra): Promise<ServerResult> {
    this.#ready = true;
    const { method, params } = request;
    if (method === 'logging/setLevel') return this.#setLevel(params);
    const handler = this.#binding.handlers.get(method);
    if (handler === undefined) throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    const { gate } = this.#binding;
    try {
      gate.enter();
    } catch (error) {
      throw this.#toRpcError(error, method);
    }
    const call = createCallContext(this.#sourceOf(request, extra));
    try {
      return await handler(params, call);
    } catch (error) {
      throw this.#toRpcError(error, method);
    } finally {
      call.end();
      gate.leave();
    }
  }

  #setLevel(params: unknown): ServerResult {
    if (this.#binding.capabilities[this.mode].logging === undefined) {
      throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    }
    const level: unknown = Reflect.get(Object(params), 'level');
    if (!isLoggingLevel(level)) throw new RpcError(ErrorCode.InvalidParams, 'Unknown log level');
    this.#logLevel = level;
    return {};
  }

  #sourceOf(request: JSONRPCRequest, extra: Extra): CallSource {
    const info: WireRequestInfo | undefined = extra.requestInfo;
    return {
      method: request.method,
      revision: this.#revision ?? headerRevision(info),
      requestId: extra.requestId,
      signal: extra.signal,
      meta: extra._meta,
      principal: this.principal,
      authInfo: extra.authInfo,
      requestContext: info?.requestContext,
      client: {
        info: this.#server.getClientVersion(),
        capabilities: this.#server.getClientCapabilities(),
      },
      askable: this.#isStateless() ? 'stateless' : 'client',
      askTimeoutMs: this.#binding.askTimeoutMs,
      serverName: this.#binding.serverInfo.name,
      streams: this.mode !== 'stateless',
      logLevel: () => this.#logLevel,
      wire: this.#wireOf(extra, info),
    };
  }

  #wireOf(extra: Extra, info: WireRequestInfo | undefined): CallWire {
    return {
      sessionId: this.id ?? extra.sessionId,
      request: (method, params, limits) => this.request(method, params, limits, extra),
      notify: (method, params) =>
        extra.sendNotification({
          method,
          ...(params === undefined ? {} : { params }),
        } as ServerNotification),
      req: info?.req,
      closeStream: extra.closeSSEStream,
      closeStandaloneStream: extra.closeStandaloneSSEStream,
    };
  }

  #observe(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'initialize') return;
    const offered: unknown = message.params?.['protocolVersion'];
    if (typeof offered !== 'string') return;
    this.#revision = SERVED_REVISIONS.includes(offered) ? offered : LATEST_PROTOCOL_VERSION;
  }

  async #deliverLog(event: ServerEvent & { kind: 'log' }): Promise<'sent' | 'not-wanted'> {
    if (!isLevelWanted(event.level, this.#logLevel)) return 'not-wanted';
    const { level, data, logger } = event;
    await this.#server.notification({
      method: 'notifications/message',
      params: { level, data, ...(logger === undefined ? {} : { logger }) },
    });
    return 'sent';
  }

  #isStateless(): boolean {
    return this.mode === 'stateless' || this.mode === 'stateless-streaming';
  }

  /** The one place where an error becomes a JSON-RPC code. */
  #toRpcError(error: unknown, method: string): RpcError {
    if (isMCPError(error)) {
      switch (error.code) {
        case 'MCP_SERVER_UNKNOWN_TOOL':
        case 'MCP_SERVER_PARAMS_INVALID':
          return new RpcError(ErrorCode.InvalidParams, error.message);
        case 'MCP_SERVER_ACCESS_DENIED':
          // Denied and unknown are alike on the wire.
          return new RpcError(ErrorCode.InvalidParams, `Unknown tool: ${error.toolName}`);
        case 'MCP_SERVER_CLIENT_CAPABILITY_MISSING':
          return new RpcError(ErrorCode.InvalidParams, error.message, error.data);
        case 'MCP_SERVER_RESOURCE_NOT_FOUND':
          return new RpcError(RESOURCE_NOT_FOUND, error.message, error.data);
        case 'MCP_SERVER_URL_ELICITATION_REQUIRED':
          return new RpcError(ErrorCode.UrlElicitationRequired, error.message, error.data);
        case 'MCP_SERVER_CLOSED':
          return new RpcError(ErrorCode.ConnectionClosed, error.message);
        default:
          this.#binding.onError(`${method} failed`, error, 'error');
          return new RpcError(ErrorCode.InternalError, toErrorText(error));
      }
    }
    this.#binding.onError(`${method} failed`, error, 'error');
    return new RpcError(ErrorCode.InternalError, 'Internal error');
  }
}

/**
 * Asks outside of any call, which is clear only when exactly one client is connected.
 *
 * @throws MCPServerError `MCP_SERVER_NOT_CONNECTED` when none or several are.
 */
export async function askOnlyClient(
  sessions: Iterable<Session>,
  params: Question<'elicitation'>,
): Promise<Answer<'elicitation'>> {
  const [only, second] = sessions;
  if (only !== undefined && second === undefined) {
    return only.ask('elicitation', params, { key: 'elicitation' });
  }
  throw new MCPServerError('MCP_SERVER_NOT_CONNECTED', {
    message: `Outside of a call exactly one client must be connected; there ${only === undefined ? 'is none' : 'are several'}`,
    category: 'USER',
  });
}

/** JSON-RPC code of a resource that does not exist, up to revision 2025-11-25. */
const RESOURCE_NOT_FOUND = -32002;

/** What the engine sends as a JSON-RPC error. The SDK's own error repeats the code in its text. */
class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

function headerRevision(info: WireRequestInfo | undefined): string {
  const header = info?.headers['mcp-protocol-version'];
  if (typeof header === 'string') return header;
  return info === undefined ? LATEST_PROTOCOL_VERSION : ASSUMED_REVISION;
}
