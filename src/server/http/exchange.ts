/**
 * What one HTTP request and its answer are to us, whatever runtime they come from.
 *
 * Owns the contract that the rules of Streamable HTTP are written against, and plain error answers. The adapters are
 * in node-exchange.ts and fetch-exchange.ts.
 */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { toErrorAnswer } from '../sessions/wire-message.ts';
import type { ErrorAnswer } from '../sessions/wire-message.ts';
import type { WireRequestInfo } from '../sessions/wire-request.ts';

/** Header names and values of an answer. */
export type Headers = Readonly<Record<string, string>>;

/** How a body ended: as a value that a framework had parsed, as bytes, or not at all. */
export type BodyRead =
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-slow' }
  | { readonly kind: 'gone' };

/** Limits of reading a body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** Where an answer goes that is sent in pieces. Nothing may be written after `end` or `destroy`. */
export interface StreamSink {
  /** Pieces and bytes that the reader has not taken. */
  readonly waitingChunks: number;
  readonly waitingBytes: number;
  write(text: string): void;
  end(text?: string): void;
  /** Ends the answer at once and drops what is waiting. */
  destroy(): void;
}

/** One request that is answered exactly once: by `answer`, or by `openStream` and its sink. */
export interface Exchange {
  /** Upper case. */
  readonly method: string;
  /** Paths the request was sent to: as the host sees it, and as the client sent it where a framework cut it. */
  readonly paths: readonly string[];
  /** Every form in which the request target reached us, encoded as it was sent, without its query. */
  readonly targets: readonly string[];
  /** Who is at the other end of the socket; `hidden` where the runtime does not tell. */
  readonly caller: 'loopback' | 'remote' | 'hidden';
  /** What a middleware found out about the caller. */
  readonly authInfo: unknown;
  /** The request as tools may see it. */
  readonly wire: WireRequestInfo;
  /** `name` in lower case. */
  header(name: string): string | undefined;
  /** How often a header was sent, as far as the runtime tells. */
  headerCount(name: string): number;
  /** Reads the body once, decoded by nobody. Never rejects for what a client does. */
  readBody(limits: BodyLimits): Promise<BodyRead>;
  /** Calls `listener` once when the peer leaves before the answer has ended. */
  onGone(listener: () => void): void;
  /** Calls `listener` once when the whole answer is handed to the system or the runtime, or nobody can be answered. */
  onOver(listener: () => void): void;
  /** `closing` ends the connection afterwards: the rest of the request is not wanted. */
  answer(status: number, headers: Headers, body?: string, closing?: boolean): void;
  openStream(headers: Headers): StreamSink;
  /** Settles when an answer has ended, when the headers of a stream are sent, or when the peer has left. */
  readonly answered: Promise<void>;
}

/** Why a request is not served, as a status and a JSON-RPC error. */
export interface Refusal {
  readonly status: number;
  readonly error: ErrorAnswer;
  readonly headers?: Headers;
  /** The body was not read to its end. */
  readonly closing?: boolean;
}

/** JSON-RPC codes of refusals that are about HTTP. */
export const RPC = {
  parse: -32700,
  invalid: -32600,
  notFound: -32601,
  internal: -32603,
  refused: -32000,
} as const;

/** Beside every 503. */
const RETRY_AFTER: Headers = { 'retry-after': '5' };

export function refusal(
  status: number,
  code: number,
  message: string,
  more: { readonly id?: RequestId | null; readonly headers?: Headers; readonly closing?: boolean } = {},
): Refusal {
  const { id = null, ...rest } = more;
  return { status, error: toErrorAnswer(id, code, message), ...rest };
}

/** Refuses what could be served at another time. */
export function refuseForNow(message: string, id: RequestId | null = null): Refusal {
  return refusal(503, RPC.refused, message, { id, headers: RETRY_AFTER });
}

/** Answers with JSON text. */
export function answerJson(exchange: Exchange, status: number, headers: Headers, text: string): void {
  exchange.answer(status, { ...headers, 'content-type': 'application/json' }, text);
}

/** Answers with a refusal. `headers` are those every answer to this request carries. */
export function refuse(
  exchange: Exchange,
  { status, error, headers, closing }: Refusal,
  base: Headers,
): void {
  const all = { ...base, ...headers, 'content-type': 'application/json' };
  exchange.answer(status, all, JSON.stringify(error), closing);
}
