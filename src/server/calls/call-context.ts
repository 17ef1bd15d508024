/**
 * What one call is to us: who calls, with what, and how to answer, tell or ask the caller.
 *
 * Owns CallContext and, derived from it in this place alone, what users see as `context.mcp`, `context.mcp.extra` and
 * the call's RequestContext. Knows no transport, no session and no SDK: bindings fill `CallSource`.
 */
import type { IncomingMessage } from 'node:http';
import { RequestContext } from '@mastra/core/request-context';
import type { MCPToolExecutionContext } from '@mastra/core/tools';
import { MCPServerError } from '../../shared/errors.ts';
import { readProgressToken } from '../../shared/meta.ts';
import { isLevelWanted } from '../capabilities/logging.ts';
import type { LoggingLevel } from '../capabilities/logging.ts';
import { askCaller, requestFromCaller } from './ask.ts';
import type { Answer, Askable, AskKind, AskOptions, AskTarget, ElicitParams, Question } from './ask.ts';

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
  readonly mcp: MCPToolExecutionContext;
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
  #mcp: MCPToolExecutionContext | undefined;
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

  get mcp(): MCPToolExecutionContext {
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

/**
 * `authInfo` for the RequestContext: everything can be read, but the token is not enumerable, so that no span, snapshot or
 * log of the context carries it.
 */
class AuthInfoView {
  readonly [key: string]: unknown;

  constructor(authInfo: object) {
    Object.assign(this, authInfo);
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
    const { wire, method, requestId: id, meta, signal, authInfo } = source;
    const notify = (notification: WireNotification): Promise<void> =>
      source.streams && !signal.aborted
        ? wire.notify(notification.method, notification.params)
        : Promise.resolve();
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
    message: `The client's answer to ${method} does not fit the given result schema`,
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

function toRequestContext(source: CallSource, extra: CallExtra): RequestContext {
  const given = source.requestContext;
  if (source.askable === 'host' && given !== undefined) {
    // A tool that calls `executeTool` with its own context keeps the caller it has.
    if (!given.has('mcp.extra')) given.set('mcp.extra', extra);
    return given;
  }
  const context = new RequestContext();
  if (given !== undefined) for (const [key, value] of given.entries()) context.set(key, value);
  if (typeof source.authInfo === 'object' && source.authInfo !== null) {
    context.set('authInfo', new AuthInfoView(source.authInfo));
  }
  context.set('mcp.extra', extra);
  return context;
}

function toMcpContext(call: CallContext, extra: CallExtra, serverName: string): MCPToolExecutionContext {
  let asked = 0;
  return {
    // Core types this in the shape of SDK v2, with generics that only its own SDK can fill.
    extra: extra as unknown as MCPToolExecutionContext['extra'],
    elicitation: {
      sendRequest: ((params: ElicitParams) => {
        asked += 1;
        return call.ask('elicitation', params, { key: `elicitation:${asked}` });
      }) as unknown as MCPToolExecutionContext['elicitation']['sendRequest'],
    },
    log: (level, message, data) =>
      call.emit({ kind: 'log', level, data: { message, ...data }, logger: serverName }),
    progress: params => call.emit({ kind: 'progress', ...params }),
  };
}
