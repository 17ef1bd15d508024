/**
 * What every client transport is to the connection that opened it: the SDK's `Transport` and the facts around it.
 *
 * Owns the types only, apart from `choose.ts`, so that the transports do not depend on the room that chooses them.
 */
import type { Readable } from 'node:stream';
import type { IMastraLogger } from '@mastra/core/logger';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { TransportFailure } from '../transport-failure.ts';

/** One transport to one server, opened but not started. */
export interface OpenTransport {
  readonly kind: 'stdio' | 'http' | 'sse';
  /**
   * Rejects `send()` with a TransportFailure or an MCPUrlPolicyError. A request that can get no answer any more is
   * answered through `onmessage(toFailureResponse(id, failure))`.
   */
  readonly transport: Transport;
  /** Why it closed, once it closed by itself. */
  closeFailure(): TransportFailure | undefined;
  /** Standard error of the server, where it was asked for; stdio only. */
  stderr?(): Readable | null;
  /** The last 8 KB of standard error without control characters; stdio only. */
  stderrTail?(): string;
  /** What the server wrote so far besides messages, as one clause for a connect error; empty when nothing. stdio only. */
  sideOutput?(): string;
  /** Tells the server that the session is over; takes at most `timeoutMs` and never rejects. HTTP only. */
  endSession?(timeoutMs: number): Promise<void>;
}

/** What requests carry so that the server knows who asks; see `client/oauth`. */
export interface RequestAuthorization {
  /** Wraps the fetch of a transport: adds the credentials and lifts a refusal where that needs no user. */
  authorize(send: FetchLike): FetchLike;
  /** What must not come back in a text. */
  secrets(): readonly string[];
}

/** What a transport gets from the connection. */
export interface TransportDeps {
  readonly serverName: string;
  readonly logger: () => IMastraLogger;
  readonly authorization?: RequestAuthorization | undefined;
}
