/**
 * Which protocol revision a message claims, before any session is looked up.
 *
 * Pure. Does not negotiate: `initialize` offers a revision in its params, and the SDK's Server answers it.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { readClaimedRevision } from '../../shared/meta.ts';
import { toErrorAnswer } from './wire-message.ts';
import type { ErrorAnswer } from './wire-message.ts';

/** Revisions this server speaks, newest first. */
export const SERVED_REVISIONS: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;

/** What a request without the `MCP-Protocol-Version` header speaks, and the only revision with batches. */
export const ASSUMED_REVISION = '2025-03-26';

/** The first revision whose event streams begin with an event that has an id and no data. */
export const PRIMED_REVISION = '2025-11-25';

/** JSON-RPC code of a revision that is not served; `data` names the ones that are. */
const UNSUPPORTED_REVISION_CODE = -32022;

/** Asks for what a server can do, in revisions without `initialize`. */
export const DISCOVER_METHOD = 'server/discover';

/** The revision a message claims in its `_meta`, else in the header that came with it. */
function claimedRevision(message: JSONRPCMessage, header?: string): string | undefined {
  const meta = 'params' in message ? message.params?.['_meta'] : undefined;
  return (meta === undefined ? undefined : readClaimedRevision(meta)) ?? header;
}

/**
 * The answer to a message that claims a revision we do not serve; `undefined` when it claims none or a served one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
export function refuseRevision(
  message: JSONRPCMessage,
  header: string | undefined,
  id: RequestId | null,
): ErrorAnswer | undefined {
  const requested = claimedRevision(message, header);
  if (requested === undefined || SERVED_REVISIONS.includes(requested)) return undefined;
  return toErrorAnswer(id, UNSUPPORTED_REVISION_CODE, 'Unsupported protocol version', {
    supported: SERVED_REVISIONS,
    requested,
  });
}
