/**
 * The one `fetch` of a server definition: the user's or the global one behind the URL policy, with the request context
 * of the call under way.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { MastraFetchLike, ResolvedHttpServer } from '../options.ts';
import { toBlockedPort } from './blocked-port.ts';
import { currentRequestScope } from './request-scope.ts';
import { guardFetch } from './url-policy.ts';

/** Makes the `fetch` for everything that is sent for a server: messages, event streams and OAuth. */
export function serverFetch(
  definition: ResolvedHttpServer,
  custom: MastraFetchLike | undefined = definition.fetch,
): FetchLike {
  const send: FetchLike = async (url, init) => {
    try {
      if (custom === undefined) return await fetch(url, init);
      return await custom(url, init, currentRequestScope()?.requestContext ?? null);
    } catch (error) {
      throw toBlockedPort(url, error) ?? error;
    }
  };
  return guardFetch(send, definition);
}
