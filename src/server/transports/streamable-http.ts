/**
 * Routes Exchanges by the rules of Streamable HTTP: paths, methods, revisions, sessions.
 *
 * Owns the order of the checks and the closing of the HTTP side. What a body or a Host may look like is in
 * http/guards.ts; what an answer looks like is in reply.ts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { RPC, refusal, refuse, refuseForNow } from '../http/exchange.ts';
import type { Exchange, Refusal } from '../http/exchange.ts';
import {
  OPEN_TO_ALL,
  corsHeaders,
  isOpenToAll,
  preflightHeaders,
  refuseMedia,
  refuseOrigin,
  refuseStream,
} from '../http/guards.ts';
import { resolveHTTPOptions } from '../http/http-options.ts';
import type { HTTPSettings, StreamableHTTPServerTransportOptions } from '../http/http-options.ts';
import { OpenAnswers } from '../http/open-answers.ts';
import { startTimer } from '../http/timer.ts';
import { ASSUMED_REVISION, DISCOVER_METHOD } from '../sessions/revision.ts';
import type { Session, SessionInit } from '../sessions/session-binding.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { OpenSession } from '../sessions/sessions.ts';
import { headerRevisionOf, readMessages, refuseBatch, refuseHeaderRevision } from './messages.ts';
import type { Messages } from './messages.ts';
import { openSession } from './open-session.ts';
import type { Reply } from './reply.ts';
import type { RequestFrame, SessionTransport, TransportHooks } from './session-transport.ts';
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

export class StreamableHTTP {
  readonly sessions: Sessions<SessionTransport>;
  readonly #deps: StreamableHTTPDeps;
  readonly #hooks: TransportHooks;
  readonly #anonymous: string;
  /** Running replies. An array: a Set's old tables would keep answered ones, and all they hold, alive for long. */
  readonly #replies: Reply[] = [];
  readonly #answers = new OpenAnswers();
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
      onDropped: message =>
        deps.logger().debug(`No stream is open for ${'method' in message ? message.method : 'an answer'}`),
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
    this.#answers.watch(exchange);
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

  /**
   * Refuses new requests with 503, lets running ones finish for at most `drainMs`, then ends every session. Resolves when
   * the answers have left, too.
   */
  async close({ drainMs = 0 }: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    const started = performance.now();
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
    for (const reply of this.#replies.splice(0)) reply.abandon();
    await this.sessions.closeAll();
    await this.#answers.none(drainMs - (performance.now() - started));
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
    const body = await readMessages(exchange, settings);
    if ('status' in body) return body;
    // What is no request may be what a running call waits for.
    if (this.#state === 'closed' || (this.#state === 'draining' && body.requests.length > 0))
      return refuseForNow('The server is closing', body.id);
    const { mode } = settings;
    if (mode === 'session') return this.#postToSession(frame, body);
    if (body.isBatch && (headerRevisionOf(exchange) ?? ASSUMED_REVISION) !== ASSUMED_REVISION)
      return refuseBatch();
    const principal = this.#deps.principalOf(exchange.authInfo);
    const createSession = (): Session => this.#deps.createSession({ principal, mode });
    await answerStateless(frame, body, createSession, this.#hooks);
    return undefined;
  }

  async #postToSession(frame: RequestFrame, body: Messages): Promise<Refusal | undefined> {
    const { requests, id } = body;
    const isInitialize = requests.some(({ method }) => method === 'initialize');
    if (frame.exchange.header('mcp-session-id') === undefined) {
      if (isInitialize) return this.#open(frame, body);
      if (requests[0]?.method === DISCOVER_METHOD)
        return refusal(200, RPC.notFound, 'Method not found', { id: requests[0].id });
    }
    const found = this.#find(frame, id);
    if ('status' in found) return found;
    if (isInitialize) return refusal(400, RPC.invalid, 'The session is initialized already', { id });
    const { transport } = found;
    if (body.isBatch && (transport.revision ?? ASSUMED_REVISION) !== ASSUMED_REVISION) return refuseBatch();
    if (requests.some(request => transport.isRunning(request.id)))
      return refusal(400, RPC.invalid, 'A request with this id is running', { id });
    return receive(frame, found, body);
  }

  async #open(frame: RequestFrame, body: Messages): Promise<Refusal | undefined> {
    const principal = this.#deps.principalOf(frame.exchange.authInfo);
    const opened = await openSession(
      { principal, isAnonymous: principal === this.#anonymous, requestId: body.id, settings: frame.settings },
      { ...this.#deps, sessions: this.sessions, hooks: this.#hooks },
    );
    return 'status' in opened ? opened : receive(frame, opened, body);
  }

  async #get(frame: RequestFrame): Promise<Refusal | undefined> {
    const refused = refuseStream(frame.exchange) ?? refuseHeaderRevision(frame.exchange);
    if (refused !== undefined) return refused;
    // A client may still come back for the answer to a call that is running.
    if (this.#state !== 'open' && frame.exchange.header('last-event-id') === undefined)
      return refuseForNow('The server is closing');
    const found = this.#find(frame, null);
    return 'status' in found ? found : found.transport.listen(withSession(frame, found));
  }

  async #delete(frame: RequestFrame): Promise<Refusal | undefined> {
    const refused = refuseHeaderRevision(frame.exchange);
    if (refused !== undefined) return refused;
    const found = this.#find(frame, null);
    if ('status' in found) return found;
    await this.sessions.close(found.id);
    frame.exchange.answer(200, frame.headers);
    return undefined;
  }

  #find({ exchange }: RequestFrame, id: RequestId | null): OpenSession<SessionTransport> | Refusal {
    const sessionId = exchange.header('mcp-session-id');
    if (sessionId === undefined)
      return refusal(400, RPC.refused, 'The Mcp-Session-Id header is missing', { id });
    // Who is not the one that opened the session learns nothing about it.
    const entry = this.sessions.find(sessionId, this.#deps.principalOf(exchange.authInfo));
    return entry ?? refusal(404, RPC.refused, 'Session not found', { id });
  }

  #warnAbout(exchange: Exchange, settings: HTTPSettings): void {
    if (settings.ignoresSessionOptions)
      this.#warnOnce('serverless: true keeps no sessions; the session options beside it do nothing');
    if (isOpenToAll(exchange, settings)) this.#warnOnce(OPEN_TO_ALL);
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#deps.logger().warn(text);
  }
}

function receive(
  frame: RequestFrame,
  session: OpenSession<SessionTransport>,
  { messages, isBatch }: Messages,
): Refusal | undefined {
  return session.transport.receive(withSession(frame, session), messages, isBatch);
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
