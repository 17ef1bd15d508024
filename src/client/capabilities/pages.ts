/**
 * Reads a paginated listing to its end (D16): bounded in pages, entries and time, stopped by a repeated cursor.
 *
 * What was read is kept and the stop is reported. Knows no item kinds.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPRequestError } from '../../shared/errors.ts';
import type { Connection } from '../connection/connection.ts';
import type { Peer } from '../connection/peer.ts';
import { quote } from '../connection/to-error.ts';

/** Most time for all pages of one listing, in milliseconds, where the time-out of the server is longer. */
const MAX_LISTING_MS = 30_000;
/** Most entries of one listing; the page that reaches them is the last. */
const MAX_ENTRIES = 100_000;
/** JSON-RPC code of a method that the other side does not have. */
const METHOD_NOT_FOUND = -32601;

/** What to list, and where. */
export interface ListedKind {
  readonly method: string;
  /** Where the entries lie in the result. */
  readonly key: string;
  /** A server that does not declare it has none and is not asked. */
  readonly capability: keyof ServerCapabilities;
}

export interface Listing {
  readonly items: readonly unknown[];
  /** Why reading stopped before the end. */
  readonly stopped?: string;
  /** The connection that gave the items. */
  readonly giver: Peer | undefined;
}

/**
 * Reads every page of a listing. A server that does not have the method has an empty one.
 *
 * @throws the error of the first page; a later page that fails ends the listing with what was read.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 */
export async function readPages(
  connection: Connection,
  { method, key, capability }: ListedKind,
  signal?: AbortSignal,
): Promise<Listing> {
  const { definition } = connection;
  const connected = await connection.connect();
  // Of a session that was joined nothing is known, so it is asked.
  const { capabilities } = connected;
  if (capabilities !== undefined && capabilities[capability] === undefined)
    return { items: [], giver: connected };
  const limitMs = Math.min(definition.timeout, MAX_LISTING_MS);
  const deadline = performance.now() + limitMs;
  const cursors = new Set<string>();
  let items: unknown[] = [];
  let cursor: string | undefined;
  let giver: Peer | undefined;
  for (let page = 1; page <= definition.maxPages; page += 1) {
    const timeout = Math.ceil(deadline - performance.now());
    if (timeout <= 0) return { items, giver, stopped: `not at its end after ${limitMs} ms` };
    let next: unknown;
    try {
      const result = await connection.use(
        method,
        (peer, watch) => {
          // A cursor means nothing to another session: there the listing starts over.
          if (peer !== giver) {
            [giver, items, cursor] = [peer, [], undefined];
            cursors.clear();
          }
          return peer.request(method, cursor === undefined ? {} : { cursor }, watch);
        },
        { mayRepeat: true, timeout, signal },
      );
      for (const item of expectList(connection, method, result[key])) items.push(item);
      next = result['nextCursor'];
    } catch (error) {
      if (cursor !== undefined) {
        return { items, giver, stopped: `page ${page} failed: ${(error as Error).message}` };
      }
      if (!isMethodNotFound(error)) throw error;
      return { items: [], giver };
    }
    if (typeof next !== 'string') return { items, giver };
    if (cursors.has(next)) return { items, giver, stopped: `the cursor of page ${page} was given before` };
    if (items.length >= MAX_ENTRIES) return { items, giver, stopped: `more than ${MAX_ENTRIES} entries` };
    cursors.add(next);
    cursor = next;
  }
  return { items, giver, stopped: `more than ${definition.maxPages} pages (maxPages)` };
}

function isMethodNotFound(error: unknown): boolean {
  return isMCPError(error) && 'rpcCode' in error && error.rpcCode === METHOD_NOT_FOUND;
}

/**
 * The list in a result of a server.
 *
 * @throws MCPRequestError `MCP_CLIENT_RESPONSE_INVALID` when it is none.
 */
export function expectList({ serverName }: Connection, method: string, list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list;
  throw new MCPRequestError('MCP_CLIENT_RESPONSE_INVALID', {
    message: `Server ${quote(serverName)}, ${method}: the result has no list where one must be`,
    serverName,
    method,
    mayHaveExecuted: true,
  });
}
