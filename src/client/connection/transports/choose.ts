/**
 * From a server definition to the transports worth trying, in order.
 *
 * Owns the order and the rule for the fallback. Opens nothing by itself and knows no deadline.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
 */
import type { ResolvedServerDefinition } from '../../options.ts';
import { TransportFailure } from '../transport-failure.ts';
import { openHttp } from './http.ts';
import type { OpenTransport, TransportDeps } from './open-transport.ts';
import { openSse } from './sse.ts';
import { openStdio } from './stdio.ts';

/** One way to reach a server. */
export interface TransportAttempt {
  readonly kind: OpenTransport['kind'];
  open(): OpenTransport;
}

/** The transports to try for a server, in order; `auto` is Streamable HTTP, then SSE. */
export function transportAttempts(
  definition: ResolvedServerDefinition,
  deps: TransportDeps,
): readonly TransportAttempt[] {
  if (definition.kind === 'stdio') return [{ kind: 'stdio', open: () => openStdio(definition, deps) }];
  const http: TransportAttempt = { kind: 'http', open: () => openHttp(definition, deps) };
  const sse: TransportAttempt = { kind: 'sse', open: () => openSse(definition, deps) };
  if (definition.transport === 'auto') return [http, sse];
  return [definition.transport === 'http' ? http : sse];
}

/** JSON-RPC code of a server that speaks none of our revisions, but does speak Streamable HTTP. */
const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/**
 * Whether a failed Streamable HTTP attempt says that the server may speak only HTTP+SSE: its `initialize` was answered
 * 400, 404 or 405. A time-out, a refused connection or a 5xx does not.
 */
export function mayFallBackToSse(error: unknown): boolean {
  if (!(error instanceof TransportFailure) || error.kind !== 'status') return false;
  const { status, rpcError } = error.facts;
  return [400, 404, 405].includes(status ?? 0) && rpcError?.code !== UNSUPPORTED_PROTOCOL_VERSION;
}
