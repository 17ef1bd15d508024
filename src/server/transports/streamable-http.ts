/**
 * Routes Exchanges by the rules of Streamable HTTP: paths, methods, revisions, sessions.
 *
 * Owns the order of the checks, the making of sessions and the closing of the HTTP side. What a body or a Host may look
 * like is in http/guards.ts; what an answer looks like is in reply.ts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { RPC, refusal, refuse } from '../http/exchange.ts';
import type { Exchange, Headers, Refusal } from '../http/exchange.ts';
import {
  corsHeaders,
  parseBody,
  preflightHeaders,
  refuseMedia,
  refuseOrigin,
  refuseStream,
} from '../http/guards.ts';
import type { Body } from '../http/guards.ts';
import { resolveHTTPOptions } from '../http/http-options.ts';
import type { HTTPSettings, StreamableHTTPServerTransportOptions } from '../http/http-options.ts';
import { startTimer } from '../http/timer.ts';
import { ASSUMED_REVISION, DISCOVER_METHOD, refuseRevision } from '../sessions/revision.ts';
import type { Session, SessionInit } from '../sessions/session-binding.ts';
import { Sessions, toShortId } from '../sessions/sessions.ts';
import type { OpenSession } from '../sessions/sessions.ts';
import { requestsOf } from '../sessions/wire-message.ts';
import type { Reply } from './reply.ts';
import { SessionTransport } from './session-transport.ts';
import type { RequestFrame, TransportHooks } from './session-transport.ts';
import { answerStateless } from './stateless.ts';

/** What the HTTP side needs from the rest of the server. */
export interface StreamableHTTPDeps {
  createSession(init: SessionInit): Session;
  /** Identity of a caller; equal text means the same caller. */
  principalOf(authInfo: unknown): string;
  /** HTTP options of the constructor, resolved. */
  readonly settings: HTTPSettings;
  /** The logger of the moment; it may change after construction. */
  readonly logger: () => {
    debug(message: string): void;
    warn(message: string): void;
    error(message: string, ...args: unknown[]): void;
  };
}

const RETRY_AFTER: Headers = { 'retry-after': '5' };
/** Visible ASCII. @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management */
const SESSION_ID = /^[\x21-\x7e]{1,512}$/;

export class StreamableHTTP {
  readonly sessions: Sessions<SessionTransport>;
  readonly #deps: StreamableHTTPDeps;
  readonly #hooks: TransportHooks;
  readonly #anonymous: string;
  /** Running replies. An array: a Set's old tables would keep answered ones, and all they hold, alive for long. */
  readonly #replies: Reply[] = [];
  readonly #warned = new Set<string>();
  #onIdle: (() => void) | undefined;
  #state: 'open' | 'draining' | 'closed' = 'open';

  constructor(deps: StreamableHTTPDeps) {
    this.#deps = deps;
    this.#anonymous = deps.principalOf(undefined);
    const onError = (error: unknown): void => deps.logger().error('Error in the HTTP transport', error);
    this.sessions = new Sessions(onError);
    this.#hooks = {
      onError,
      onReplyStart: reply => void this.#replies.push(reply),
      onReplyEnd: reply => {
        this.#forget(reply);
        if (this.#replies.length === 0) this.#onIdle?.();
      },
    };
  }

  /**
   * Answers one request. Resolves when a JSON answer has ended, when the headers of a stream are sent, or when the
   * client has left; does not reject for what a client does.
   *
   * @param path - the only path that is served; without it every path is.
   * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID when an option of this call is wrong.
   */
  async handle(
    exchange: Exchange,
    path: string | undefined,
    options: StreamableHTTPServerTransportOptions | undefined,
  ): Promise<void> {
    const settings = resolveHTTPOptions(options, this.#deps.settings);
    if (path !== undefined && !exchange.paths.includes(path)) {
      exchange.answer(404, {});
      return;
    }
    this.#warnAbout(exchange, settings);
    const headers = corsHeaders(exchange, settings);
    try {
      const refused =
        refuseOrigin(exchange, settings) ?? (await this.#route({ exchange, settings, headers }));
      if (refused !== undefined) refuse(exchange, refused, headers);
    } catch (error) {
      this.#hooks.onError(error);
      refuse(exchange, refusal(500, RPC.internal, 'Internal error'), headers);
    }
    await exchange.answered;
  }

  /** The transport of one session, or of the one opened last. */
  transport(sessionId?: string): SessionTransport | undefined {
    let found: SessionTransport | undefined;
    for (const { id, transport } of this.sessions.each())
      if (sessionId === undefined || id === sessionId) found = transport;
    return found;
  }

  /** Refuses new requests with 503, lets running ones finish for at most `drainMs`, then ends every session. */
  async close({ drainMs = 0 }: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    if (this.#state === 'open') this.#state = 'draining';
    if (drainMs > 0 && this.#replies.length > 0) {
      await new Promise<void>(resolve => {
        const stopTimer = startTimer(drainMs, resolve);
        this.#onIdle = () => {
          stopTimer();
          resolve();
        };
      });
    }
    this.#state = 'closed';
    for (const reply of [...this.#replies]) reply.abandon();
    await this.sessions.closeAll();
  }

  #forget(reply: Reply): void {
    const at = this.#replies.indexOf(reply);
    const last = this.#replies.pop();
    if (last !== undefined && last !== reply && at !== -1) this.#replies[at] = last;
  }

  async #route(frame: RequestFrame): Promise<Refusal | undefined> {
    const { exchange, settings } = frame;
    switch (exchange.method) {
      case 'POST':
        return this.#post(frame);
      case 'GET':
        return settings.mode === 'session' ? this.#get(frame) : refuseMethod(settings);
      case 'DELETE':
        return settings.mode === 'session' ? this.#delete(frame) : refuseMethod(settings);
      case 'OPTIONS':
        if (settings.cors === undefined) return refuseMethod(settings);
        exchange.answer(204, {
          ...frame.headers,
          ...preflightHeaders(settings.cors, allowedMethods(settings)),
        });
        return undefined;
      default:
        return refuseMethod(settings);
    }
  }

  async #post(frame: RequestFrame): Promise<Refusal | undefined> {
    const { exchange, settings } = frame;
    const refused = refuseMedia(exchange, settings);
    if (refused !== undefined) return refused;
    const read = await exchange.readBody(settings.limits);
    if (read.kind === 'gone') return undefined;
    const body = parseBody(read, settings.limits);
    if ('status' in body) return body;
    const { messages } = body;
    const requests = requestsOf(messages);
    const id = requests.length === 1 ? (requests[0]?.id ?? null) : null;
    const header = exchange.header('mcp-protocol-version');
    for (const { message } of messages) {
      const error = refuseRevision(message, header, id);
      if (error !== undefined) return { status: 400, error };
    }
    if (new Set(requests.map(request => request.id)).size < requests.length)
      return refusal(400, RPC.invalid, 'Two requests of a batch have the same id');
    if (this.#state !== 'open' && (requests.length > 0 || this.#state === 'closed'))
      return refusal(503, RPC.refused, 'The server is closing', { id, headers: RETRY_AFTER });
    if (settings.mode === 'session') return this.#postToSession(frame, body, requests);
    if (body.isBatch && (header ?? ASSUMED_REVISION) !== ASSUMED_REVISION) return refuseBatch();
    const { mode } = settings;
    const principal = this.#deps.principalOf(exchange.authInfo);
    const createSession = (): Session => this.#deps.createSession({ principal, mode });
    await answerStateless(frame, body, createSession, this.#hooks);
    return undefined;
  }

  async #postToSession(
    frame: RequestFrame,
    body: Body,
    requests: readonly JSONRPCRequest[],
  ): Promise<Refusal | undefined> {
    const [first] = requests;
    const id = requests.length === 1 ? first?.id : undefined;
    const isInitialize = requests.some(({ method }) => method === 'initialize');
    if (isInitialize && body.isBatch)
      return refusal(400, RPC.invalid, 'initialize must not be part of a batch');
    if (isInitialize && frame.exchange.header('mcp-session-id') === undefined)
      return this.#open(frame, body, id);
    if (first?.method === DISCOVER_METHOD && frame.exchange.header('mcp-session-id') === undefined)
      return refusal(200, RPC.notFound, 'Method not found', { id: first.id });
    const found = this.#find(frame, id);
    if ('status' in found) return found;
    if (isInitialize)
      return refusal(400, RPC.invalid, 'The session is initialized already', { id: id ?? null });
    const { transport } = found;
    if (body.isBatch && (transport.revision ?? ASSUMED_REVISION) !== ASSUMED_REVISION) return refuseBatch();
    if (requests.some(request => transport.isRunning(request.id)))
      return refusal(400, RPC.invalid, 'A request with this id is running', { id: id ?? null });
    transport.receive(withSession(frame, found), body.messages, body.isBatch);
    return undefined;
  }

  async #open(
    frame: RequestFrame,
    body: Body,
    requestId: JSONRPCRequest['id'] | undefined,
  ): Promise<Refusal | undefined> {
    const { settings, exchange } = frame;
    const { limits } = settings;
    const principal = this.#deps.principalOf(exchange.authInfo);
    const hasRoom = this.sessions.makeRoom(principal, {
      maxSessions: limits.maxSessions,
      maxSessionsOfPrincipal: principal === this.#anonymous ? Infinity : limits.maxSessionsPerUser,
    });
    if (!hasRoom)
      return refusal(503, RPC.refused, 'Too many sessions', { id: requestId ?? null, headers: RETRY_AFTER });
    const id = this.#generateId(settings);
    const transport = new SessionTransport(id, settings, this.#hooks);
    const session = this.#deps.createSession({ id, principal, mode: 'session' });
    await session.connect(transport);
    const entry: OpenSession<SessionTransport> = {
      id,
      principal,
      session,
      transport,
      idleMs: limits.sessionIdleMs,
      onClosed: closedId => this.#notify('onsessionclosed', closedId, settings.onSessionClosed),
    };
    this.sessions.open(entry);
    this.#deps.logger().debug(`MCP session ${toShortId(id)} opened`);
    await this.#notify('onsessioninitialized', id, settings.onSessionInitialized);
    transport.receive(withSession(frame, entry), body.messages, false);
    return undefined;
  }

  async #get(frame: RequestFrame): Promise<Refusal | undefined> {
    const refused = refuseStream(frame.exchange) ?? this.#refuseRevisionHeader(frame);
    if (refused !== undefined) return refused;
    // A client may still come back for the answer to a call that is running.
    if (this.#state !== 'open' && frame.exchange.header('last-event-id') === undefined)
      return refusal(503, RPC.refused, 'The server is closing', { headers: RETRY_AFTER });
    const found = this.#find(frame, undefined);
    return 'status' in found ? found : found.transport.listen(withSession(frame, found));
  }

  async #delete(frame: RequestFrame): Promise<Refusal | undefined> {
    const refused = this.#refuseRevisionHeader(frame);
    if (refused !== undefined) return refused;
    const found = this.#find(frame, undefined);
    if ('status' in found) return found;
    await this.sessions.close(found.id);
    frame.exchange.answer(200, frame.headers);
    return undefined;
  }

  #find(
    { exchange }: RequestFrame,
    requestId: JSONRPCRequest['id'] | undefined,
  ): OpenSession<SessionTransport> | Refusal {
    const more = { id: requestId ?? null };
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined)
      return refusal(400, RPC.refused, 'The Mcp-Session-Id header is missing', more);
    // Who is not the one that opened the session learns nothing about it.
    const entry = this.sessions.find(sessionId, this.#deps.principalOf(exchange.authInfo));
    return entry ?? refusal(404, RPC.refused, 'Session not found', more);
  }

  #refuseRevisionHeader({ exchange }: RequestFrame): Refusal | undefined {
    const header = exchange.header('mcp-protocol-version');
    const error = refuseRevision({ jsonrpc: '2.0', method: '' }, header, null);
    return error === undefined ? undefined : { status: 400, error };
  }

  #generateId(settings: HTTPSettings): string {
    const id: unknown = settings.generateSessionId();
    if (typeof id !== 'string' || !SESSION_ID.test(id))
      throw new MCPConfigurationError(
        'server',
        'sessionIdGenerator',
        'must return 1 to 512 characters of visible ASCII',
      );
    if (this.sessions.has(id))
      throw new MCPConfigurationError('server', 'sessionIdGenerator', 'returned the id of an open session');
    return id;
  }

  async #notify(
    option: string,
    id: string,
    callback: ((sessionId: string) => void | Promise<void>) | undefined,
  ): Promise<void> {
    try {
      await callback?.(id);
    } catch (error) {
      this.#deps.logger().error(`The callback ${option} failed`, error);
    }
  }

  #warnAbout(exchange: Exchange, settings: HTTPSettings): void {
    if (settings.ignoresSessionOptions)
      this.#warnOnce('serverless: true keeps no sessions; the session options beside it do nothing');
    if (
      exchange.caller === 'remote' &&
      settings.allowedHosts === undefined &&
      settings.allowedOrigins.length === 0
    )
      this.#warnOnce('The MCP server is reached from other machines without allowedHosts or allowedOrigins');
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#deps.logger().warn(text);
  }
}

function withSession(frame: RequestFrame, { id }: OpenSession): RequestFrame {
  return { ...frame, headers: { ...frame.headers, 'mcp-session-id': id } };
}

function allowedMethods({ mode, cors }: HTTPSettings): string {
  return `${mode === 'session' ? 'GET, POST, DELETE' : 'POST'}${cors === undefined ? '' : ', OPTIONS'}`;
}

function refuseMethod(settings: HTTPSettings): Refusal {
  return refusal(405, RPC.refused, 'Method not allowed', { headers: { allow: allowedMethods(settings) } });
}

function refuseBatch(): Refusal {
  return refusal(400, RPC.invalid, `Batches exist only in revision ${ASSUMED_REVISION}`);
}
