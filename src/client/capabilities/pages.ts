/**
 * Reads a paginated listing to its end (D16): bounded in pages and time, stopped by a repeated cursor.
 *
 * What was read is kept and the stop is reported. Knows no item kinds.
 */
import { MCPRequestError } from '../../shared/errors.ts';
import type { Connection } from '../connection/connection.ts';
import { quote } from '../connection/to-error.ts';

/** Most time for all pages of one listing, in milliseconds, where the time-out of the server is longer. */
const MAX_LISTING_MS = 30_000;

export interface Listing {
  readonly items: readonly unknown[];
  /** Why reading stopped before the end. */
  readonly stopped?: string;
}

/**
 * Reads every page of a listing.
 *
 * @throws the error of the first page; a later page that fails ends the listing with what was read.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination
 */
export async function readPages(connection: Connection, method: string, key: string): Promise<Listing> {
  const { definition, serverName } = connection;
  await connection.connect();
  const deadline = performance.now() + Math.min(definition.timeout, MAX_LISTING_MS);
  const items: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; page <= definition.maxPages; page += 1) {
    const remaining = Math.max(1, Math.ceil(deadline - performance.now()));
    let result: Record<string, unknown>;
    try {
      result = await connection.request(method, cursor === undefined ? {} : { cursor }, {
        mayRepeat: true,
        timeout: remaining,
      });
    } catch (error) {
      if (page === 1) throw error;
      return { items, stopped: `page ${page} failed: ${(error as Error).message}` };
    }
    const list = result[key];
    if (!Array.isArray(list)) {
      throw new MCPRequestError('MCP_CLIENT_RESPONSE_INVALID', {
        message: `Server ${quote(serverName)}, ${method}: the result has no list ${quote(key)}`,
        serverName,
        method,
        mayHaveExecuted: true,
      });
    }
    for (const item of list as unknown[]) items.push(item);
    const next = result['nextCursor'];
    if (typeof next !== 'string') return { items };
    if (cursors.has(next)) return { items, stopped: `the cursor of page ${page} was given before` };
    cursors.add(next);
    cursor = next;
  }
  return { items, stopped: `more than ${definition.maxPages} pages (maxPages)` };
}
