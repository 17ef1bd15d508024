/**
 * Routes Exchanges by the rules of HTTP+SSE, the transport before Streamable HTTP: one GET is a session, POSTs talk to it.
 *
 * Owns the order of the checks, who hears that a stream has ended, and the closing of this side. What happens on one
 * stream is in sse-transport.ts. A session ends with its stream: nobody can come back for what was missed.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { MCPConfigurationError } from '../../shared/errors.ts';
import { RPC, refusal, refuse, refuseForNow } from '../http/exchange.ts';
import type { Exchange, Refusal } from '../http/exchange.ts';
import {
  OPEN_TO_ALL,
  corsHeaders,
  isOpenToAll,
  preflightHeaders,
  refuseBodyType,
  refuseOrigin,
  refuseStream,
} from '../http/guards.ts';
import { resolveHTTPSecurity } from '../http/http-options.ts';
import type { MCPServerHTTPSecurityOptions } from '../http/http-options.ts';
import { OpenAnswers } from '../http/open-answers.ts';
import { startTimer } from '../http/timer.ts';
import { ASSUMED_REVISION } from '../sessions/revision.ts';
import { Sessions, toShortId } from '../sessions/sessions.ts';
import type { OpenSession } from '../sessions/sessions.ts';
import { readMessages, refuseBatch, refuseHeaderRevision } from './messages.ts';
import { refuseWithoutRoom } from './open-session.ts';
import type { RequestFrame } from './session-transport.ts';
import { SseTransport } from './sse-transport.ts';
import type { SseEntrance } from './sse-transport.ts';
import type { StreamableHTTPDeps } from './streamable-http.ts';

/** Where a host serves HTTP+SSE. */
export interface SseRoute {
  /** Path on which a GET opens a stream. */
  readonly ssePath: string;
  /** Path of the POSTs, as the client is told; a query is kept. */
  readonly messagePath: string;
  readonly entrance: SseEntrance;
}

type Method = 'GET' | 'POST';

export class LegacySSE {
  readonly sessions: Sessions<SseTransport>;
  readonly #deps: StreamableHTTPDeps;
  readonly #anonymous: string;
  readonly #answers = new OpenAnswers();
  #onIdle: (() => void) | undefined;
  #state: 'open' | 'draining' | 'closed' = 'open';
  #warned = false;

  constructor(deps: StreamableHTTPDeps) {
    this.#deps = deps;
    this.#anonymous = deps.principalOf(undefined);
    this.sessions = new Sessions(error => this.#onError(error));
  }

  /**
   * Answers one request. Resolves when the headers of a stream are sent, when an answer has ended, or when the client has
   * left; does not reject for what a client does.
   *
   * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID when a path or an option of this call is wrong.
   */
  async handle(
    exchange: Exchange,
    route: SseRoute,
    options: MCPServerHTTPSecurityOptions | undefined,
  ): Promise<void> {
    const { settings: base } = this.#deps;
    const settings = options === undefined ? base : resolveHTTPSecurity(options, base);
    const methods = methodsAt(exchange, route);
    if (methods.length === 0) {
      exchange.answer(404, {});
      return;
    }
    this.#answers.watch(exchange);
    if (isOpenToAll(exchange, settings)) this.#warnOnce();
    const headers = corsHeaders(exchange, settings);
    try {
      const frame = { exchange, settings, headers };
      const refused = refuseOrigin(exchange, settings) ?? (await this.#serve(frame, route, methods));
      if (refused !== undefined) refuse(exchange, refused, headers);
    } catch (error) {
      this.#onError(error);
      refuse(exchange, refusal(500, RPC.internal, 'Internal error'), headers);
    }
    await exchange.answered;
  }

  /** The transport of one session that came in this way, or of the one opened last. */
  transport(entrance: SseEntrance, sessionId?: string): SseTransport | undefined {
    let found: SseTransport | undefined;
    for (const { id, transport } of this.sessions.each())
      if (transport.entrance === entrance && (sessionId === undefined || id === sessionId)) found = transport;
    return found;
  }

  /**
   * Refuses new work with 503, lets running requests finish for at most `drainMs`, then ends every session. Resolves when
   * the answers have left, too.
   */
  async close({ drainMs = 0 }: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    const started = performance.now();
    if (this.#state === 'open') this.#state = 'draining';
    if (drainMs > 0 && this.#isBusy()) {
      await new Promise<void>(resolve => {
        const stopTimer = startTimer(drainMs, resolve);
        this.#onIdle = () => {
          stopTimer();
          resolve();
        };
      });
    }
    this.#state = 'closed';
    await this.sessions.closeAll();
    await this.#answers.none(drainMs - (performance.now() - started));
  }

  async #serve(
    frame: RequestFrame,
    route: SseRoute,
    methods: readonly Method[],
  ): Promise<Refusal | undefined> {
    const { exchange, settings, headers } = frame;
    const { method } = exchange;
    const { cors } = settings;
    const allowed = [...methods, ...(cors === undefined ? [] : ['OPTIONS'])].join(', ');
    if (method === 'OPTIONS' && cors !== undefined) {
      exchange.answer(204, { ...headers, ...preflightHeaders(cors, allowed) });
      return undefined;
    }
    if (method === 'GET' && methods.includes(method)) return this.#open(frame, route);
    if (method === 'POST' && methods.includes(method)) return this.#post(frame);
    return refusal(405, RPC.refused, 'Method not allowed', { headers: { allow: allowed } });
  }

  async #open(frame: RequestFrame, { messagePath, entrance }: SseRoute): Promise<Refusal | undefined> {
    const { exchange, settings } = frame;
    // The transport never asked its clients for an Accept header.
    const refused =
      (exchange.header('accept') === undefined ? undefined : refuseStream(exchange)) ??
      refuseHeaderRevision(exchange);
    if (refused !== undefined) return refused;
    if (this.#state !== 'open') return refuseForNow('The server is closing');
    const principal = this.#deps.principalOf(exchange.authInfo);
    const request = { principal, isAnonymous: principal === this.#anonymous, requestId: null, settings };
    const full = refuseWithoutRoom(request, this.sessions);
    if (full !== undefined) return full;
    const id = crypto.randomUUID();
    const transport = new SseTransport(id, entrance, {
      onError: error => this.#onError(error),
      onIdle: () => {
        if (this.#onIdle !== undefined && !this.#isBusy()) this.#onIdle();
      },
      onGone: () => void this.sessions.close(id),
    });
    const session = this.#deps.createSession({ id, principal, mode: 'session' });
    const onClosed = (): void => this.#deps.logger().debug(`MCP session ${toShortId(id)} ended`);
    // In the table before anything is waited for, so that sessions opened at once are all counted.
    this.sessions.open({
      id,
      principal,
      session,
      transport,
      idleMs: settings.limits.sessionIdleMs,
      onClosed,
    });
    await session.connect(transport);
    this.#deps.logger().debug(`MCP session ${toShortId(id)} opened`);
    return transport.open(frame, `${messagePath}${messagePath.includes('?') ? '&' : '?'}sessionId=${id}`);
  }

  async #post(frame: RequestFrame): Promise<Refusal | undefined> {
    const { exchange, settings } = frame;
    const refused = refuseBodyType(exchange);
    if (refused !== undefined) return refused;
    const body = await readMessages(exchange, settings);
    if ('status' in body) return body;
    const { messages, requests, isBatch, id } = body;
    // What is no request may be what a running call waits for.
    if (this.#state === 'closed' || (this.#state === 'draining' && requests.length > 0))
      return refuseForNow('The server is closing', id);
    const sessionId = exchange.wire.url?.searchParams.get('sessionId') ?? '';
    if (sessionId === '') return refusal(400, RPC.refused, 'The parameter sessionId is missing', { id });
    // Who is not the one that opened the session learns nothing about it.
    const found = this.sessions.find(sessionId, this.#deps.principalOf(exchange.authInfo));
    if (found === undefined) return refusal(404, RPC.refused, 'Session not found', { id });
    const { transport } = found;
    if (isBatch && (transport.revision ?? ASSUMED_REVISION) > ASSUMED_REVISION) return refuseBatch();
    if (transport.isInitialized && requests.some(({ method }) => method === 'initialize'))
      return refusal(400, RPC.invalid, 'The session is initialized already', { id });
    if (requests.some(request => transport.isRunning(request.id)))
      return refusal(400, RPC.invalid, 'A request with this id is running', { id });
    return transport.receive(frame, messages);
  }

  #isBusy(): boolean {
    return [...this.sessions.each()].some(({ transport }: OpenSession<SseTransport>) => transport.isBusy);
  }

  #onError(error: unknown): void {
    this.#deps.logger().error('Error in the HTTP+SSE transport', error);
  }

  #warnOnce(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#deps.logger().warn(OPEN_TO_ALL);
  }
}

/** The methods a request may have on its path; none when the path is not ours. The two paths may be the same. */
function methodsAt({ paths }: Exchange, { ssePath, messagePath }: SseRoute): readonly Method[] {
  const isAt = (option: string, path: string): boolean => {
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw new MCPConfigurationError('server', option, 'must begin with a slash');
    return paths.includes(path.replace(/\?.*$/s, ''));
  };
  const methods: readonly (readonly [Method, boolean])[] = [
    ['GET', isAt('ssePath', ssePath)],
    ['POST', isAt('messagePath', messagePath)],
  ];
  return methods.filter(([, isHere]) => isHere).map(([method]) => method);
}
