/**
 * What a client transport knows about a message it could not deliver or an answer that never came, as facts.
 *
 * Owns the fact type and the way it travels to the request it belongs to. Does not know servers by name and makes no
 * public error: the Connection turns a failure into one.
 */
import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';

/**
 * - `unwritable`: the message is no JSON (a BigInt, a cycle); nothing was handed over.
 * - `unreachable`: no connection was made (refused, unknown host, program not found); nothing was handed over.
 * - `status`: an HTTP answer that is neither 2xx nor a followed redirect.
 * - `redirect`: a redirect that may not be followed.
 * - `lost`: the connection ended after the request was handed over (socket reset, stream end, process exit).
 * - `too-large`: a message above the limit. - `backpressure`: the peer does not read and the queue is full.
 * - `malformed`: an answer that is no JSON-RPC message or has another content type.
 * - `closed`: we closed the transport ourselves.
 */
export type TransportFailureKind =
  | 'unwritable'
  | 'unreachable'
  | 'status'
  | 'redirect'
  | 'lost'
  | 'too-large'
  | 'backpressure'
  | 'malformed'
  | 'closed';

export interface TransportFailureFacts {
  /** Whether the server may have run the request; `false` only when that is certain. */
  readonly mayHaveExecuted: boolean;
  readonly status?: number | undefined;
  /** The request carried a session id. With `status` 404: the server does not know the session any more. */
  readonly hadSession?: boolean | undefined;
  /** JSON-RPC error found in the body of a failed HTTP answer. */
  readonly rpcError?:
    { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
  /** The `WWW-Authenticate` header of a 401 or 403. */
  readonly challenge?: string | undefined;
  /** `cause.code` of a network error, e.g. `ECONNREFUSED`. */
  readonly networkCode?: string | undefined;
  /** How the child process ended. */
  readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined;
  /** Bytes seen and the limit, for `too-large` and `backpressure`. */
  readonly size?: number | undefined;
  readonly limit?: number | undefined;
  /** Target of a refused redirect, without credentials, query and fragment. */
  readonly target?: string | undefined;
  readonly cause?: unknown;
}

/** One failure of a client transport. `message` is for people; decide by `kind` and the facts. */
export class TransportFailure extends Error {
  readonly kind: TransportFailureKind;
  readonly facts: TransportFailureFacts;

  constructor(kind: TransportFailureKind, message: string, facts: TransportFailureFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'TransportFailure';
    this.kind = kind;
    this.facts = facts;
  }
}

/** An answer of our own to a request that will get none from the server; carries the failure as `data`. */
export function toFailureResponse(id: RequestId, failure: TransportFailure): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: -32000, message: failure.message, data: failure } };
}
