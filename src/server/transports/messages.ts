/**
 * The messages of one POST or line, checked as far as no session need be known.
 *
 * Owns what is refused on every transport alike. Whether a batch may come is up to the session.
 */
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { RPC, refusal } from '../http/exchange.ts';
import type { Exchange, Refusal } from '../http/exchange.ts';
import { parseBody } from '../http/guards.ts';
import type { Body } from '../http/guards.ts';
import type { HTTPSettings } from '../http/http-options.ts';
import { refuseIntroduction } from '../sessions/introduction.ts';
import { ASSUMED_REVISION, refuseRevision } from '../sessions/revision.ts';
import { requestsOf } from '../sessions/wire-message.ts';

/** A body whose messages can be given to a session. */
export interface Messages extends Body {
  readonly requests: readonly JSONRPCRequest[];
  /** What an error answer to the whole POST refers to: its request, when it has exactly one. */
  readonly id: RequestId | null;
}

const REVISION_HEADER = 'mcp-protocol-version';

/** The revision that the header of a request names. */
export function headerRevisionOf(exchange: Exchange): string | undefined {
  return exchange.header(REVISION_HEADER);
}

/** Reads a body and refuses what no session could take. */
export async function readMessages(
  exchange: Exchange,
  { limits }: HTTPSettings,
): Promise<Messages | Refusal> {
  const read = await exchange.readBody(limits);
  if (read.kind === 'gone') return refusal(400, RPC.refused, 'The body broke off');
  const body = parseBody(read, limits);
  return 'status' in body ? body : checkMessages(body, headerRevisionOf(exchange));
}

/** Refuses what no session could take; `header` is the revision that came beside the messages. */
export function checkMessages(body: Body, header: string | undefined): Messages | Refusal {
  const requests = requestsOf(body.messages);
  const id = requests.length === 1 ? (requests[0]?.id ?? null) : null;
  for (const { message } of body.messages) {
    const error = refuseRevision(message, header, id);
    if (error !== undefined) return { status: 400, error };
  }
  if (body.isBatch && requests.some(({ method }) => method === 'initialize'))
    return refusal(400, RPC.invalid, 'initialize must not be part of a batch');
  if (body.isBatch && new Set(requests.map(request => request.id)).size < requests.length)
    return refusal(400, RPC.invalid, 'Two requests of a batch have the same id');
  const [first] = requests;
  const error = first === undefined ? undefined : refuseIntroduction(first);
  if (error !== undefined) return { status: 400, error };
  return { ...body, requests, id };
}

/** Refuses a request without a body that names a revision we do not serve. */
export function refuseHeaderRevision(exchange: Exchange): Refusal | undefined {
  const error = refuseRevision({ jsonrpc: '2.0', method: '' }, headerRevisionOf(exchange), null);
  return error === undefined ? undefined : { status: 400, error };
}

/** Refuses a batch where the revision has none. */
export function refuseBatch(): Refusal {
  return refusal(400, RPC.invalid, `Batches exist only in revision ${ASSUMED_REVISION}`);
}
