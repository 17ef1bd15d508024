/**
 * What a connected server is to us, and its one implementation over the SDK's `Client`.
 *
 * Owns the protocol engine of one connection: handshake, requests, notifications as events, answers to requests of the
 * server. Knows no options, no retries and no public errors; it throws facts (`TransportFailure`, `RequestEnded`,
 * `AnsweredError`).
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  ResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequest,
  type ElicitResult,
  type Implementation,
  type LoggingLevel,
  type Notification,
  type ProgressToken,
  type Root,
  type ServerCapabilities,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator as JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../shared/version.ts';
import type { RequestWatch } from '../capabilities/progress.ts';
import { TransportFailure } from './transport-failure.ts';
import type { OpenTransport } from './transports/open-transport.ts';
import { TrackedTransport } from './transports/tracked.ts';

/** What a server tells without being asked. */
export type PeerEvent =
  | { readonly kind: 'tools_list_changed' | 'resources_list_changed' | 'prompts_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string }
  | { readonly kind: 'elicitation_complete'; readonly elicitationId: string }
  | {
      readonly kind: 'log';
      readonly level: LoggingLevel;
      readonly data: unknown;
      readonly logger?: string | undefined;
    }
  | {
      readonly kind: 'progress';
      readonly progressToken: ProgressToken;
      readonly progress: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | { readonly kind: 'closed'; readonly failure: TransportFailure };

/** How requests of the server are answered. Read at each request, so a handler may come after the connection. */
export interface PeerAnswers {
  elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>;
  sample(
    params: CreateMessageRequestParams,
    signal: AbortSignal,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  roots(signal: AbortSignal): Promise<readonly Root[]>;
}

/** One connected server. */
export interface Peer {
  readonly transport: OpenTransport['kind'];
  /** The negotiated revision; absent where a session was joined without `initialize`. */
  readonly revision: string | undefined;
  readonly serverInfo: Implementation | undefined;
  readonly capabilities: ServerCapabilities | undefined;
  readonly instructions: string | undefined;
  readonly sessionId: string | undefined;
  /** @throws TransportFailure, RequestEnded or AnsweredError */
  request(
    method: string,
    params: Record<string, unknown>,
    watch: RequestWatch,
  ): Promise<Record<string, unknown>>;
  /** Sends a notification, where what it is about was declared. @throws TransportFailure */
  notify(method: 'notifications/roots/list_changed'): Promise<void>;
  /** Closes once nothing is in flight; resolves then. The server is told only where it is still there (`leave`). */
  retire(how?: 'leave'): Promise<void>;
  close(): Promise<void>;
}

/** A JSON-RPC error the server answered. It proves that the connection is alive. */
export class AnsweredError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.name = 'AnsweredError';
    this.code = code;
    this.data = data;
  }
}

/** A request of the server that is answered by an error; `message` and `data` reach the server. */
export class RequestRefused extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RequestRefused';
    this.code = code;
    this.data = data;
  }
}

/** A server that answered `initialize` with a revision we do not speak. */
export class RevisionRefused extends Error {
  readonly offered: readonly string[];

  constructor(offered: readonly string[], cause: unknown) {
    super(`the server offers ${offered.join(', ') || 'no revision'} only`, { cause });
    this.name = 'RevisionRefused';
    this.offered = offered;
  }
}

/** JSON-RPC code of a server that speaks only newer revisions (2026-07-28). */
const UNSUPPORTED_REVISION = -32022;
/** The SDK's own time-out, set out of reach: requests end by their watch. */
const OUT_OF_REACH_MS = 0x7fff_ffff;
const SESSION_END_LIMIT_MS = 1000;

export interface PeerOptions {
  readonly capabilities: ClientCapabilities;
  readonly jsonSchemaValidator: JsonSchemaValidator;
  readonly answers: PeerAnswers;
  readonly onEvent: (event: PeerEvent) => void;
  readonly onProtocolError: (error: Error) => void;
  /** Told about a handler that fails; the server learns a code at most. */
  readonly onHandlerError: (error: unknown) => void;
  /** Ends the handshake; the transport is closed then. */
  readonly signal: AbortSignal;
}

/** A peer of the revisions up to 2025-11-25: one SDK `Client` over one transport. */
export class SessionPeer implements Peer {
  /** What the server was told that we answer. */
  readonly declared: ClientCapabilities;
  readonly #open: OpenTransport;
  readonly #client: Client;
  readonly #transport: TrackedTransport;
  #active = 0;
  #onIdle: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  #gone = false;

  private constructor(open: OpenTransport, options: PeerOptions) {
    this.declared = options.capabilities;
    this.#open = open;
    this.#transport = new TrackedTransport(open);
    this.#client = new Client(
      { name: PACKAGE_NAME, version: PACKAGE_VERSION },
      { capabilities: options.capabilities, jsonSchemaValidator: options.jsonSchemaValidator },
    );
    this.#client.onerror = options.onProtocolError;
    this.#client.onclose = () => {
      this.#gone = true;
      const failure = open.closeFailure();
      const closed = new TransportFailure('closed', 'the connection was closed', { mayHaveExecuted: true });
      options.onEvent({ kind: 'closed', failure: failure ?? closed });
    };
    // Without a handler of its own every notification, progress included, reaches the fallback unparsed.
    this.#client.removeNotificationHandler('notifications/progress');
    this.#client.fallbackNotificationHandler = async notification => {
      const event = toPeerEvent(notification);
      if (event !== undefined) options.onEvent(event);
    };
    this.#answerRequests(options);
  }

  /**
   * Connects and shakes hands.
   *
   * @throws TransportFailure, AnsweredError, RevisionRefused, or the reason of `options.signal`; nothing stays open then.
   */
  static async connect(open: OpenTransport, options: PeerOptions): Promise<SessionPeer> {
    const peer = new SessionPeer(open, options);
    const { signal } = options;
    let stop: () => void = () => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason as Error);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
    try {
      // Raced, because starting the SSE transport obeys no time-out of the SDK.
      await Promise.race([peer.#client.connect(peer.#transport, { timeout: OUT_OF_REACH_MS }), stopped]);
      return peer;
    } catch (error) {
      await peer.#abandon();
      throw peer.#toHandshakeFact(error);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  get transport(): OpenTransport['kind'] {
    return this.#open.kind;
  }

  /** The connection has ended. */
  get gone(): boolean {
    return this.#gone;
  }

  get revision(): string | undefined {
    return this.#transport.offeredRevision;
  }

  get serverInfo(): Implementation | undefined {
    return this.#client.getServerVersion();
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#client.getServerCapabilities();
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  async request(
    method: string,
    params: Record<string, unknown>,
    watch: RequestWatch,
  ): Promise<Record<string, unknown>> {
    this.#assertOpen();
    this.#active += 1;
    try {
      // The plain result schema: unknown content kinds and fields must arrive as they were sent.
      return await this.#client.request({ method, params }, ResultSchema, {
        signal: watch.signal,
        timeout: OUT_OF_REACH_MS,
      });
    } catch (error) {
      throw watch.ended ?? toFact(error);
    } finally {
      this.#active -= 1;
      if (this.#active === 0) this.#onIdle?.();
    }
  }

  async notify(method: 'notifications/roots/list_changed'): Promise<void> {
    if (this.declared.roots?.listChanged !== true) return;
    this.#assertOpen();
    await this.#client.notification({ method });
  }

  async retire(how?: 'leave'): Promise<void> {
    if (this.#active > 0) await new Promise<void>(resolve => (this.#onIdle = resolve));
    await (how === 'leave' ? this.close() : this.#abandon());
  }

  async close(): Promise<void> {
    if (!this.#gone) await this.#open.endSession?.(SESSION_END_LIMIT_MS);
    await this.#abandon();
  }

  #assertOpen(): void {
    if (!this.#gone) return;
    throw new TransportFailure('lost', 'the connection was closed', { mayHaveExecuted: false });
  }

  /** Closes without telling the server. */
  #abandon(): Promise<void> {
    // `Client.close` closes only a transport it got to know; the transport's own close is safe to repeat.
    this.#closed ??= this.#client
      .close()
      .then(() => this.#transport.close())
      .catch(() => undefined);
    return this.#closed;
  }

  #answerRequests({ answers, capabilities, onHandlerError }: PeerOptions): void {
    const answer = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (error instanceof RequestRefused) throw error;
        if (!signal.aborted) onHandlerError(error);
        throw toRefusal(error);
      }
    };
    this.#client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
      answer(answers.elicit(params, signal), signal),
    );
    if (capabilities.sampling !== undefined) {
      this.#client.setRequestHandler(CreateMessageRequestSchema, ({ params }, { signal }) =>
        answer(answers.sample(params, signal), signal),
      );
    }
    if (capabilities.roots !== undefined) {
      this.#client.setRequestHandler(ListRootsRequestSchema, async (_, { signal }) => ({
        roots: [...(await answer(answers.roots(signal), signal))],
      }));
    }
  }

  #toHandshakeFact(error: unknown): unknown {
    const fact = toFact(error);
    const offered = this.#transport.offeredRevision;
    if (offered !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(offered)) {
      return new RevisionRefused([offered], fact);
    }
    const refusal =
      fact instanceof AnsweredError
        ? fact
        : fact instanceof TransportFailure
          ? fact.facts.rpcError
          : undefined;
    if (refusal?.code === UNSUPPORTED_REVISION) {
      const supported: unknown = (refusal.data as { supported?: unknown } | undefined)?.supported;
      return new RevisionRefused(Array.isArray(supported) ? supported.map(String) : [], fact);
    }
    return fact;
  }
}

/**
 * What a server learns of a handler that failed: what the handler says by an error with a JSON-RPC code, or only that it
 * failed. Codes of the protocol are negative; positive ones are those of something else, such as an aborted `fetch`.
 */
function toRefusal(error: unknown): RequestRefused {
  const { code, message, data } = Object(error) as Partial<Record<'code' | 'message' | 'data', unknown>>;
  if (Number.isSafeInteger(code) && Number(code) < 0) {
    return new RequestRefused(Number(code), String(message), data);
  }
  return new RequestRefused(ErrorCode.InternalError, 'The handler of the client failed');
}

/** Turns what the SDK rejects with into our facts; what is neither stays as it is. */
function toFact(error: unknown): unknown {
  if (!(error instanceof McpError)) return error;
  if (error.data instanceof TransportFailure) return error.data;
  // The SDK prefixes the text of the server with its own; the code stands apart anyway.
  return new AnsweredError(error.code, error.message.replace(/^MCP error -?\d+: /, ''), error.data);
}

function toPeerEvent({ method, params }: Notification): PeerEvent | undefined {
  switch (method) {
    case 'notifications/tools/list_changed':
      return { kind: 'tools_list_changed' };
    case 'notifications/resources/list_changed':
      return { kind: 'resources_list_changed' };
    case 'notifications/prompts/list_changed':
      return { kind: 'prompts_list_changed' };
    case 'notifications/resources/updated':
      return typeof params?.['uri'] === 'string'
        ? { kind: 'resource_updated', uri: params['uri'] }
        : undefined;
    case 'notifications/elicitation/complete':
      return typeof params?.['elicitationId'] === 'string'
        ? { kind: 'elicitation_complete', elicitationId: params['elicitationId'] }
        : undefined;
    case 'notifications/message':
      return {
        kind: 'log',
        level: (typeof params?.['level'] === 'string' ? params['level'] : 'info') as LoggingLevel,
        data: params?.['data'],
        ...(typeof params?.['logger'] === 'string' ? { logger: params['logger'] } : {}),
      };
    case 'notifications/progress':
      return toProgressEvent(params);
    default:
      return undefined;
  }
}

function toProgressEvent(params: Record<string, unknown> | undefined): PeerEvent | undefined {
  const { progressToken, progress, total, message } = params ?? {};
  const hasToken = typeof progressToken === 'string' || typeof progressToken === 'number';
  if (!hasToken || typeof progress !== 'number') return undefined;
  return {
    kind: 'progress',
    progressToken,
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}
