/**
 * What users may set about HTTP, and the settings one request is handled with.
 *
 * Owns the public option types of the constructor and of one `startHTTP` or `fetch` call, their checks and defaults.
 */
import { MCPConfigurationError } from '../../shared/errors.ts';
import type { EventStore } from '../sessions/event-store.ts';

/** Limits of what one client may cost. `Infinity` turns a limit off. */
export interface HTTPLimits {
  /** Bytes of a request body. @defaultValue 4 MiB */
  readonly maxBodyBytes?: number | undefined;
  /** Milliseconds a body may take to arrive. @defaultValue 30000 */
  readonly bodyTimeoutMs?: number | undefined;
  /** Nesting of arrays and objects in a body. @defaultValue 100 */
  readonly maxJsonDepth?: number | undefined;
  /** Messages in one batch, where the revision has batches. @defaultValue 100 */
  readonly maxBatch?: number | undefined;
  /** Open sessions; above it the longest idle one makes room, else 503. @defaultValue 10000 */
  readonly maxSessions?: number | undefined;
  /** Open sessions of one identity; anonymous callers have none. @defaultValue no limit */
  readonly maxSessionsPerUser?: number | undefined;
  /** Milliseconds after which a session without a running request or open stream is ended. @defaultValue 30 minutes */
  readonly sessionIdleMs?: number | undefined;
  /** What may wait for a reader that does not read; above it the stream is closed. @defaultValue 1000 messages, 1 MiB */
  readonly maxStreamBacklog?:
    { readonly messages?: number | undefined; readonly bytes?: number | undefined } | undefined;
}

/** Which pages of other origins may talk to the server from a browser. */
export interface CORSOptions {
  /** Exact origins, e.g. `https://app.example`; `'*'` lets every page in. */
  readonly origins: readonly string[] | '*';
  /** Request headers allowed beside those of the protocol. */
  readonly headers?: readonly string[] | undefined;
  /** Answer headers that scripts may read beside those of the protocol. */
  readonly exposedHeaders?: readonly string[] | undefined;
  /** Lets the browser send cookies. Not with `'*'`. @defaultValue false */
  readonly credentials?: boolean | undefined;
  /** Seconds a browser may remember the answer to a preflight. @defaultValue 600 */
  readonly maxAgeSeconds?: number | undefined;
}

/** HTTP options of the MCPServer constructor; those of one call override them for that call. */
export interface MCPServerHTTPSecurityOptions {
  /**
   * Values of the `Host` header that are served, with or without port. Set, it is checked on every request; unset,
   * requests over loopback must name a loopback host. A reverse proxy on the same machine needs it.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Values of the `Origin` header that are served, beside loopback ones. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Off unless given: browsers keep pages of other origins out. */
  readonly cors?: CORSOptions | undefined;
  readonly limits?: HTTPLimits | undefined;
  /** Milliseconds between comments on open event streams; 0 sends none. @defaultValue 15000 */
  readonly keepAliveMs?: number | undefined;
}

/** Options of one `startHTTP` or `fetch` call. Unknown keys are ignored. */
export interface StreamableHTTPServerTransportOptions extends MCPServerHTTPSecurityOptions {
  /**
   * Makes session ids: unique, unguessable, visible ASCII. Absent means `randomUUID`; the key with the value
   * `undefined` means no sessions: each POST stands alone, GET and DELETE are 405.
   */
  readonly sessionIdGenerator?: (() => string) | undefined;
  /** Each POST stands alone and gets one JSON answer. Wins over session options. @defaultValue false */
  readonly serverless?: boolean | undefined;
  /** With `serverless`: an event stream where something is sent before the result. @defaultValue false */
  readonly serverlessStreaming?: boolean | undefined;
  readonly onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Runs whenever a session ends: by DELETE, by idling, by making room or with the server. */
  readonly onsessionclosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Always one JSON answer, never an event stream, to a POST. @defaultValue false */
  readonly enableJsonResponse?: boolean | undefined;
  /** Lets clients come back for what they missed. A dropped connection then does not abort the call. */
  readonly eventStore?: EventStore | undefined;
  /** Milliseconds a client should wait before it comes back, told at the start of a stream. Only with `eventStore`. */
  readonly retryInterval?: number | undefined;
}

/** CORSOptions with defaults. */
export interface CORSSettings {
  readonly origins: readonly string[] | '*';
  readonly headers: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly credentials: boolean;
  readonly maxAgeSeconds: number;
}

/** How a POST is answered. */
export type AnswerForm = 'json' | 'json-or-stream';

/** Everything one HTTP request is handled with. No member is optional. */
export interface HTTPSettings {
  readonly allowedHosts: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[];
  readonly cors: CORSSettings | undefined;
  readonly limits: Readonly<Record<Exclude<keyof HTTPLimits, 'maxStreamBacklog'>, number>>;
  readonly stream: StreamSettings;
  readonly mode: 'session' | 'stateless' | 'stateless-streaming';
  readonly form: AnswerForm;
  readonly generateSessionId: () => string;
  readonly onSessionInitialized: ((sessionId: string) => void | Promise<void>) | undefined;
  readonly onSessionClosed: ((sessionId: string) => void | Promise<void>) | undefined;
  readonly eventStore: EventStore | undefined;
  readonly retryMs: number | undefined;
  /** Session options were given beside `serverless`, and do nothing. */
  readonly ignoresSessionOptions: boolean;
}

/** How an open event stream behaves. */
export interface StreamSettings {
  readonly keepAliveMs: number;
  readonly maxMessages: number;
  readonly maxBytes: number;
  /** Milliseconds without a result after which the answer to a POST becomes a stream. */
  readonly openAfterMs: number;
}

const MIB = 1024 * 1024;

/** What holds when nothing is set. */
export const DEFAULT_HTTP_SETTINGS: HTTPSettings = {
  allowedHosts: undefined,
  allowedOrigins: [],
  cors: undefined,
  limits: {
    maxBodyBytes: 4 * MIB,
    bodyTimeoutMs: 30_000,
    maxJsonDepth: 100,
    maxBatch: 100,
    maxSessions: 10_000,
    maxSessionsPerUser: Infinity,
    sessionIdleMs: 30 * 60_000,
  },
  stream: { keepAliveMs: 15_000, maxMessages: 1000, maxBytes: MIB, openAfterMs: 5000 },
  mode: 'session',
  form: 'json-or-stream',
  generateSessionId: () => crypto.randomUUID(),
  onSessionInitialized: undefined,
  onSessionClosed: undefined,
  eventStore: undefined,
  retryMs: undefined,
  ignoresSessionOptions: false,
};

function invalid(option: string, problem: string): never {
  throw new MCPConfigurationError('server', option, problem);
}

function count(option: string, value: number | undefined, fallback: number, least = 1): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !(value >= least))
    invalid(option, `must be a number of at least ${least}`);
  return value;
}

function strings(option: string, value: readonly string[] | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every(entry => typeof entry === 'string' && entry !== ''))
    invalid(option, 'must be an array of non-empty strings');
  return value.map(entry => entry.toLowerCase());
}

function object(option: string, value: unknown): void {
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) return;
  invalid(option, 'must be an object');
}

function callback<T>(option: string, value: T | undefined): T | undefined {
  if (value !== undefined && typeof value !== 'function') invalid(option, 'must be a function');
  return value;
}

function toCors(cors: CORSOptions): CORSSettings {
  const origins = cors.origins === '*' ? '*' : strings('cors.origins', cors.origins);
  if (origins === undefined) invalid('cors.origins', "must be an array of origins or '*'");
  if (origins === '*' && cors.credentials === true)
    invalid('cors.credentials', "cannot be used with origins '*': every page could act as the user");
  return {
    origins,
    headers: strings('cors.headers', cors.headers) ?? [],
    exposedHeaders: strings('cors.exposedHeaders', cors.exposedHeaders) ?? [],
    credentials: cors.credentials === true,
    maxAgeSeconds: count('cors.maxAgeSeconds', cors.maxAgeSeconds, 600, 0),
  };
}

function toLimits(limits: HTTPLimits | undefined, base: HTTPSettings['limits']): HTTPSettings['limits'] {
  if (limits === undefined) return base;
  const resolved = { ...base };
  for (const name of Object.keys(base) as (keyof typeof base)[])
    resolved[name] = count(`limits.${name}`, limits[name], base[name]);
  return resolved;
}

function toStream(options: MCPServerHTTPSecurityOptions, base: StreamSettings): StreamSettings {
  const backlog = options.limits?.maxStreamBacklog;
  if (backlog === undefined && options.keepAliveMs === undefined) return base;
  return {
    ...base,
    keepAliveMs: count('keepAliveMs', options.keepAliveMs, base.keepAliveMs, 0),
    maxMessages: count('limits.maxStreamBacklog.messages', backlog?.messages, base.maxMessages),
    maxBytes: count('limits.maxStreamBacklog.bytes', backlog?.bytes, base.maxBytes),
  };
}

/**
 * Fills in the HTTP options of the constructor.
 *
 * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID
 */
export function resolveHTTPSecurity(
  options: MCPServerHTTPSecurityOptions,
  base: HTTPSettings = DEFAULT_HTTP_SETTINGS,
): HTTPSettings {
  object('cors', options.cors);
  object('limits', options.limits);
  object('limits.maxStreamBacklog', options.limits?.maxStreamBacklog);
  return {
    ...base,
    allowedHosts: strings('allowedHosts', options.allowedHosts) ?? base.allowedHosts,
    allowedOrigins: strings('allowedOrigins', options.allowedOrigins) ?? base.allowedOrigins,
    cors: options.cors === undefined ? base.cors : toCors(options.cors),
    limits: toLimits(options.limits, base.limits),
    stream: toStream(options, base.stream),
  };
}

/**
 * Fills in the options of one `startHTTP` or `fetch` call from those of the server.
 *
 * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID
 */
export function resolveHTTPOptions(
  options: StreamableHTTPServerTransportOptions | undefined,
  base: HTTPSettings,
): HTTPSettings {
  if (options === undefined) return base;
  object('options', options);
  object('eventStore', options.eventStore);
  const serverless = options.serverless === true;
  const generate = callback('sessionIdGenerator', options.sessionIdGenerator);
  const sessionless = 'sessionIdGenerator' in options && generate === undefined;
  const json = serverless && options.serverlessStreaming !== true;
  const mode = json ? 'stateless' : serverless || sessionless ? 'stateless-streaming' : 'session';
  return {
    ...resolveHTTPSecurity(options, base),
    mode,
    form: json || options.enableJsonResponse === true ? 'json' : 'json-or-stream',
    generateSessionId: generate ?? base.generateSessionId,
    onSessionInitialized: callback('onsessioninitialized', options.onsessioninitialized),
    onSessionClosed: callback('onsessionclosed', options.onsessionclosed),
    eventStore: options.eventStore,
    retryMs:
      options.retryInterval === undefined ? undefined : count('retryInterval', options.retryInterval, 0, 0),
    ignoresSessionOptions:
      serverless &&
      [generate, options.eventStore, options.onsessioninitialized].some(value => value !== undefined),
  };
}
