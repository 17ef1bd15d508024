/**
 * Session: one connected client, bound to the handler table through one Server of the SDK (revisions up to 2025-11-25).
 *
 * Owns that client's log level, subscriptions, negotiated revision and open pages, the making of JSON-RPC errors, and the answers to
 * logging/setLevel and resources/(un)subscribe. The only server file that knows the SDK's Server. Does not know HTTP.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, LATEST_PROTOCOL_VERSION, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type {
  Implementation,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
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
import { readResourceUri } from './resource-uri.ts';
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
/** What one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 1000;

/** Pages a client was asked to open, of which it can still be told that the user is done there. */
const MAX_ELICITATIONS = 100;

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
  /** Running requests whose id the engine takes for none: it would not cancel them. */
  readonly #falsyIds = new Map<RequestId, AbortController>();
  readonly #subscriptions = new Set<string>();
  #logLevel: LoggingLevel | undefined;
  #revision: string | undefined;
  #ready = false;
  #closed = false;
  #questions = 0;
  /** Ids of the pages this client was asked to open, oldest first. */
  readonly #elicitations = new Set<string>();

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
    if (event.kind === 'log') return this.#deliverLog(event);
    const { tools, prompts, resources } = this.#binding.capabilities[this.mode];
    switch (event.kind) {
      case 'tools_list_changed':
        return this.#notifyIf(tools?.listChanged, 'notifications/tools/list_changed');
      case 'prompts_list_changed':
        return this.#notifyIf(prompts?.listChanged, 'notifications/prompts/list_changed');
      case 'resources_list_changed':
        return this.#notifyIf(resources?.listChanged, 'notifications/resources/list_changed');
      case 'resource_updated': {
        const { uri } = event;
        return this.#notifyIf(this.#subscriptions.has(uri), 'notifications/resources/updated', { uri });
      }
      case 'elicitation_complete': {
        // Only the client that was asked, and once: to any other the id means nothing.
        const { elicitationId } = event;
        const wasAsked = this.#elicitations.delete(elicitationId);
        return this.#notifyIf(wasAsked, 'notifications/elicitation/complete', { elicitationId });
      }
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
    if (this.#questions >= MAX_QUESTIONS) {
      throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
        message: `The client has left ${MAX_QUESTIONS} requests unanswered, so it gets no further ones`,
        category: 'THIRD_PARTY',
      });
    }
    this.#noteElicitations([params]);
    const options = {
      timeout: limits.timeoutMs,
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      ...(related === undefined ? {} : { relatedRequestId: related.requestId }),
    };
    // The engine types requests by method; what was checked in `ask.ts` goes out as it is.
    const request = { method, ...(params === undefined ? {} : { params }) } as ServerRequest;
    this.#questions += 1;
    try {
      return await this.#server.request(request, ResultSchema, options);
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
    if (method === 'resources/subscribe') return this.#subscribe(params);
    if (method === 'resources/unsubscribe') return this.#unsubscribe(params);
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
      this.#falsyIds.delete(extra.requestId);
      gate.leave();
    }
  }

  #signalOf({ requestId, signal }: Extra): AbortSignal {
    const own = this.#falsyIds.get(requestId);
    return own === undefined ? signal : AbortSignal.any([signal, own.signal]);
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

  #subscribe(params: unknown): ServerResult {
    const uri = this.#subscribableUri(params);
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS && !this.#subscriptions.has(uri)) {
      throw new RpcError(
        ErrorCode.InvalidParams,
        `A client may have at most ${MAX_SUBSCRIPTIONS} subscriptions`,
      );
    }
    this.#subscriptions.add(uri);
    return {};
  }

  #unsubscribe(params: unknown): ServerResult {
    this.#subscriptions.delete(this.#subscribableUri(params));
    return {};
  }

  #subscribableUri(params: unknown): string {
    const { resources } = this.#binding.capabilities[this.mode];
    // Where each request streams by itself a subscription is taken and ends with its request: it tells nothing, and is not
    // declared.
    const endsAtOnce = resources !== undefined && this.mode === 'stateless-streaming';
    if (resources?.subscribe !== true && !endsAtOnce)
      throw new RpcError(ErrorCode.MethodNotFound, 'Method not found');
    try {
      return readResourceUri(params);
    } catch (error) {
      throw this.#toRpcError(error, 'resources/subscribe');
    }
  }

  #sourceOf(request: JSONRPCRequest, extra: Extra): CallSource {
    const info: WireRequestInfo | undefined = extra.requestInfo;
    return {
      method: request.method,
      revision: this.#revision ?? headerRevision(info),
      requestId: extra.requestId,
      signal: this.#signalOf(extra),
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
    if (!('method' in message)) return;
    if ('id' in message && (message.id === 0 || message.id === ''))
      this.#falsyIds.set(message.id, new AbortController());
    if (message.method === 'notifications/cancelled')
      this.#falsyIds.get(message.params?.['requestId'] as RequestId)?.abort();
    if (message.method !== 'initialize') return;
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

  async #notifyIf(
    isWanted: boolean | undefined,
    method: ServerNotification['method'],
    params?: Record<string, unknown>,
  ): Promise<'sent' | 'not-wanted'> {
    if (isWanted !== true) return 'not-wanted';
    await this.#server.notification({ method, ...(params === undefined ? {} : { params }) });
    return 'sent';
  }

  /** Remembers the pages that this client is about to be asked to open, the newest ones only. */
  #noteElicitations(questions: unknown): void {
    if (!Array.isArray(questions)) return;
    for (const question of questions) {
      const id: unknown = Reflect.get(Object(question), 'elicitationId');
      if (typeof id !== 'string') continue;
      this.#elicitations.delete(id);
      this.#elicitations.add(id);
    }
    for (const oldest of this.#elicitations) {
      if (this.#elicitations.size <= MAX_ELICITATIONS) break;
      this.#elicitations.delete(oldest);
    }
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
          this.#noteElicitations(Reflect.get(Object(error.data), 'elicitations'));
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
