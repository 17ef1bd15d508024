/**
 * What one call is to us: who calls, with what, and how to answer, tell or ask the caller.
 *
 * Owns CallContext and, derived from it in this place alone, what users see as `context.mcp`, `context.mcp.extra` and
 * the call's RequestContext. Knows no transport, no session and no SDK: bindings fill `CallSource`.
 */
import type { IncomingMessage } from 'node:http';
import type { AgentExecutionOptionsBase } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import type { MCPToolExecutionContext } from '@mastra/core/tools';
import type {
  CreateMessageRequestParamsBase,
  CreateMessageRequestParamsWithTools,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ListRootsResult,
} from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import { readProgressToken } from '../../shared/meta.ts';
import { isLevelWanted } from '../capabilities/logging.ts';
import type { LoggingLevel } from '../capabilities/logging.ts';
import { askCaller, describeRequest, requestFromCaller } from './ask.ts';
import type { Answer, Askable, AskKind, AskOptions, AskTarget, Question } from './ask.ts';
import type { ElicitParams, ElicitResult } from './elicitation.ts';

/** A RequestContext, whatever its values are typed as: core's own type of it where one is handed over. */
export type AnyRequestContext = NonNullable<AgentExecutionOptionsBase<unknown>['requestContext']>;

/** Id of a JSON-RPC request. */
export type RequestId = string | number;

/** The program at the other end, as it introduced itself. Unknown where there was no `initialize`. */
export interface CallClient {
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
}

/** Something a running call tells its caller. */
export type CallEvent =
  | {
      readonly kind: 'progress';
      readonly progress: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly kind: 'log';
      readonly level: LoggingLevel;
      readonly data: unknown;
      readonly logger?: string | undefined;
    };

/** How a binding reaches the caller of this very call. Read by this file and by `ask.ts` only. */
export interface CallWire {
  readonly sessionId: string | undefined;
  readonly request: AskTarget['wire']['request'];
  notify(method: string, params: Record<string, unknown> | undefined): Promise<void>;
  /** The HTTP request that carried the call, as the host handed it over. */
  readonly req: IncomingMessage | Request | undefined;
  /** Ends the call's event stream so that the client comes back for the rest. Only with an event store. */
  readonly closeStream: (() => void) | undefined;
  readonly closeStandaloneStream: (() => void) | undefined;
}

/**
 * What tools of this server find as `context.mcp`. Core's type has no place for the model and the roots of a client, so a
 * tool that asks for them reads `context.mcp as MCPToolContext | undefined`.
 *
 * Each of these rejects with an `MCPServerError`: `MCP_SERVER_CLIENT_CAPABILITY_MISSING` when the caller cannot be asked,
 * `MCP_SERVER_PARAMS_INVALID` when the question or its answer does not hold, `MCP_SERVER_CLIENT_UNREACHABLE` when no answer came.
 */
export interface MCPToolContext extends MCPToolExecutionContext {
  /** Asks the user of the client, by a form or by a URL. */
  readonly elicitation: MCPToolExecutionContext['elicitation'] & {
    readonly sendRequest: (params: ElicitParams) => Promise<ElicitResult>;
  };
  /** Asks the model of the client. Runs no tools: what the model wants to use is in its answer. */
  readonly sampling: {
    sendRequest(params: CreateMessageRequestParamsBase): Promise<CreateMessageResult>;
    sendRequest(params: CreateMessageRequestParamsWithTools): Promise<CreateMessageResultWithTools>;
  };
  /** Lists the folders that the client works in. They are no permission. */
  readonly roots: { list(): Promise<ListRootsResult> };
}

/** What a binding knows about a call. */
export interface CallSource {
  readonly method: string;
  readonly revision: string;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
  /** `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly principal: string;
  readonly authInfo: unknown;
  /** What the host prepared for this request. A call from the wire works on a copy, the host's own call on the very object. */
  readonly requestContext: RequestContext | undefined;
  readonly client: CallClient;
  readonly askable: Askable;
  readonly askTimeoutMs: number;
  /** Name under which log messages of the call are sent. */
  readonly serverName: string;
  /** Whether the caller receives notifications before the result at all. */
  readonly streams: boolean;
  logLevel(): LoggingLevel | undefined;
  readonly wire: CallWire;
}

/** One call. Members are getters and cost nothing until they are read. */
export interface CallContext {
  readonly method: string;
  readonly revision: string;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly principal: string;
  readonly authInfo: unknown;
  readonly requestContext: RequestContext;
  readonly client: CallClient;
  readonly askable: Askable;
  readonly askTimeoutMs: number;
  /** What tools see as `context.mcp`. */
  readonly mcp: MCPToolContext;
  /** Tells the caller something. Never rejects; does nothing when the caller does not listen or the call is over. */
  emit(event: CallEvent): Promise<void>;
  /** Asks the caller, see `ask.ts`. Only in tools/call, prompts/get and resources/read. */
  ask<K extends AskKind>(kind: K, params: Question<K>, options: AskOptions): Promise<Answer<K>>;
  readonly wire: CallWire;
}

/** A call as its binding holds it. */
export interface OpenCall extends CallContext {
  /** After this nothing is emitted any more. */
  end(): void;
}

/** One method of the protocol, over plain objects. */
export type CallHandler = (params: unknown, call: CallContext) => Promise<object>;

/** Methods by name. Built once per server; sessions point to it. */
export type HandlerTable = ReadonlyMap<string, CallHandler>;

/** Makes the context of one call. */
export function createCallContext(source: CallSource): OpenCall {
  return new SourcedCall(source);
}

class SourcedCall implements OpenCall {
  readonly #source: CallSource;
  #requestContext: RequestContext | undefined;
  #extra: CallExtra | undefined;
  #mcp: MCPToolContext | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #ended = false;

  constructor(source: CallSource) {
    this.#source = source;
  }

  get method(): string {
    return this.#source.method;
  }
  get revision(): string {
    return this.#source.revision;
  }
  get requestId(): RequestId {
    return this.#source.requestId;
  }
  get signal(): AbortSignal {
    return this.#source.signal;
  }
  get meta(): Readonly<Record<string, unknown>> | undefined {
    return this.#source.meta;
  }
  get principal(): string {
    return this.#source.principal;
  }
  get authInfo(): unknown {
    return this.#source.authInfo;
  }
  get client(): CallClient {
    return this.#source.client;
  }
  get askable(): Askable {
    return this.#source.askable;
  }
  get askTimeoutMs(): number {
    return this.#source.askTimeoutMs;
  }
  get wire(): CallWire {
    return this.#source.wire;
  }

  get requestContext(): RequestContext {
    this.#requestContext ??= toRequestContext(this.#source, this.#extraOf());
    return this.#requestContext;
  }

  get mcp(): MCPToolContext {
    this.#mcp ??= toMcpContext(this, this.#extraOf(), this.#source.serverName);
    return this.#mcp;
  }

  end(): void {
    this.#ended = true;
  }

  async emit(event: CallEvent): Promise<void> {
    const { streams, wire, signal } = this.#source;
    if (!streams || this.#ended || signal.aborted) return;
    try {
      if (event.kind === 'log') await this.#emitLog(event, wire);
      else await this.#emitProgress(event, wire);
    } catch {
      // A caller that cannot be told any more is no fault of the tool; the signal says so where it matters.
    }
  }

  ask<K extends AskKind>(kind: K, params: Question<K>, options: AskOptions): Promise<Answer<K>> {
    return askCaller(this, kind, params, options);
  }

  async #emitLog(event: CallEvent & { kind: 'log' }, wire: CallWire): Promise<void> {
    if (!isLevelWanted(event.level, this.#source.logLevel())) return;
    await wire.notify('notifications/message', {
      level: event.level,
      logger: event.logger ?? this.#source.serverName,
      data: event.data,
    });
  }

  async #emitProgress(event: CallEvent & { kind: 'progress' }, wire: CallWire): Promise<void> {
    const progressToken = readProgressToken(this.#source.meta);
    // The specification wants progress to increase with each notification; a step back is dropped, not sent.
    if (progressToken === undefined || !(event.progress > this.#progress)) return;
    this.#progress = event.progress;
    await wire.notify('notifications/progress', {
      progressToken,
      progress: event.progress,
      ...(event.total === undefined ? {} : { total: event.total }),
      ...(event.message === undefined ? {} : { message: event.message }),
    });
  }

  #extraOf(): CallExtra {
    this.#extra ??= new CallExtra(this.#source);
    return this.#extra;
  }
}

/** For whom this module made a value, also across two loaded copies of it. JSON cannot carry it. */
const ORIGIN = Symbol.for('@mastra/mcp.callOrigin');

function markOrigin(value: object, origin: 'client' | 'host'): void {
  Object.defineProperty(value, ORIGIN, { value: origin });
}

function originOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, ORIGIN) : undefined;
}

/**
 * `authInfo` for the RequestContext: everything can be read, but the token is not enumerable, so that no span, snapshot or
 * log of the context carries it.
 */
class AuthInfoView {
  readonly [key: string]: unknown;

  constructor(authInfo: object) {
    Object.assign(this, authInfo);
    markOrigin(this, 'client');
    if ('token' in authInfo)
      Object.defineProperty(this, 'token', { value: authInfo.token, enumerable: false });
  }
}

/**
 * `context.mcp.extra`: the context of newer SDKs (`mcpReq`, `http`, `sessionId`) beside the flat names of 1.x.
 *
 * A class, so that spans print it as an object and no more; as JSON it names the call and nothing secret.
 */
class CallExtra {
  readonly sessionId: string | undefined;
  readonly mcpReq: Readonly<Record<string, unknown>>;
  readonly http: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
  readonly authInfo: unknown;
  readonly sendNotification: (notification: WireNotification) => Promise<void>;
  readonly sendRequest: SendRequest;
  readonly _meta: CallSource['meta'];
  readonly closeSSEStream: (() => void) | undefined;
  readonly closeStandaloneSSEStream: (() => void) | undefined;

  constructor(source: CallSource) {
    markOrigin(this, source.askable === 'host' ? 'host' : 'client');
    const { wire, method, requestId: id, meta, signal, authInfo } = source;
    const notify = (notification: WireNotification): Promise<void> => {
      if (!source.streams || signal.aborted) return Promise.resolve();
      const sent = wire.notify(notification.method, notification.params);
      // A tool that does not wait for it must not end the process because the client has just left.
      sent.catch(() => undefined);
      return sent;
    };
    const send: SendRequest = (request, ...rest) => sendRequest(source, request, rest);
    this.sessionId = wire.sessionId;
    this.mcpReq = { id, method, _meta: meta, signal, send, notify, requestState: () => undefined };
    this.http = toHttp(authInfo, wire);
    this.signal = signal;
    this.requestId = id;
    this.authInfo = authInfo;
    this.sendNotification = notify;
    this.sendRequest = send;
    this._meta = meta;
    this.closeSSEStream = wire.closeStream;
    this.closeStandaloneSSEStream = wire.closeStandaloneStream;
  }

  toJSON(): Record<string, unknown> {
    return { sessionId: this.sessionId, requestId: this.requestId };
  }
}

interface WireNotification {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

interface WireRequest {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

type SendRequest = (request: WireRequest, ...rest: readonly unknown[]) => Promise<unknown>;

interface SendOptions {
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** `send(request, options?)` of newer SDKs and `sendRequest(request, resultSchema, options?)` of 1.x in one. */
async function sendRequest(
  source: CallSource,
  request: WireRequest,
  rest: readonly unknown[],
): Promise<unknown> {
  const schema = isResultSchema(rest[0]) ? rest[0] : undefined;
  const options = (schema === undefined ? rest[0] : rest[1]) as SendOptions | undefined;
  const result = await requestFromCaller(source, request.method, request.params, {
    timeoutMs: options?.timeout,
    signal: options?.signal,
  });
  return schema === undefined ? result : checkResult(schema, result, request.method);
}

interface ResultSchema {
  readonly '~standard': {
    validate(value: unknown): StandardResult | Promise<StandardResult>;
  };
}

interface StandardResult {
  readonly value?: unknown;
  readonly issues?: readonly unknown[];
}

function isResultSchema(value: unknown): value is ResultSchema {
  return typeof value === 'object' && value !== null && '~standard' in value;
}

async function checkResult(schema: ResultSchema, result: unknown, method: string): Promise<unknown> {
  const checked = await schema['~standard'].validate(result);
  if (checked.issues === undefined) return checked.value;
  throw new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
    message: `The client's answer to ${describeRequest(method)} does not fit the given result schema`,
    category: 'THIRD_PARTY',
  });
}

function toHttp(authInfo: unknown, wire: CallWire): Readonly<Record<string, unknown>> | undefined {
  const { req, closeStream, closeStandaloneStream } = wire;
  if (req === undefined && authInfo === undefined) return undefined;
  return {
    ...(authInfo === undefined ? {} : { authInfo }),
    ...(req === undefined ? {} : { req }),
    ...(closeStream === undefined ? {} : { closeSSE: closeStream }),
    ...(closeStandaloneStream === undefined ? {} : { closeStandaloneSSE: closeStandaloneStream }),
  };
}

/** Who made the client's call that a RequestContext belongs to. */
export interface CallerInContext {
  readonly authInfo: unknown;
  readonly signal: AbortSignal;
}

/** The caller that a tool hands on when it calls `executeTool` with the RequestContext of its own call. */
export function callerIn(context: RequestContext | undefined): CallerInContext | undefined {
  const extra: unknown = context?.get('mcp.extra');
  return originOf(extra) === 'client' ? (extra as CallExtra) : undefined;
}

function toRequestContext(source: CallSource, extra: CallExtra): RequestContext {
  const given = source.requestContext;
  const isHost = source.askable === 'host';
  // Who calls is said by this file alone: the REST routes merge into a context whatever their callers send.
  const isClaimed = given?.has('authInfo') === true && originOf(given.get('authInfo')) === undefined;
  const context = isHost && given !== undefined && !isClaimed ? given : copyOf(given);
  if (!isHost && typeof source.authInfo === 'object' && source.authInfo !== null) {
    context.set('authInfo', new AuthInfoView(source.authInfo));
  }
  if (!isHost || callerIn(context) === undefined) context.set('mcp.extra', extra);
  return context;
}

function copyOf(given: RequestContext | undefined): RequestContext {
  const context = new RequestContext();
  for (const [key, value] of given?.entries() ?? []) {
    if (key !== 'authInfo') context.set(key, value);
  }
  return context;
}

function toMcpContext(call: CallContext, extra: CallExtra, serverName: string): MCPToolContext {
  let asked = 0;
  const ask = <K extends AskKind>(kind: K, question: Question<K>): Promise<Answer<K>> => {
    asked += 1;
    return call.ask(kind, question, { key: `${kind}:${asked}` });
  };
  return {
    // Core types this in the shape of SDK v2, with generics that only its own SDK can fill.
    extra: extra as unknown as MCPToolContext['extra'],
    elicitation: {
      sendRequest: (params: ElicitParams) => ask('elicitation', params),
    } as unknown as MCPToolContext['elicitation'],
    sampling: {
      sendRequest: params => ask('sampling', params),
    } as MCPToolContext['sampling'],
    roots: { list: () => ask('roots', undefined) },
    log: (level, message, data) =>
      call.emit({ kind: 'log', level, data: { message, ...data }, logger: serverName }),
    progress: params => call.emit({ kind: 'progress', ...params }),
  };
}
