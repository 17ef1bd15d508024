/**
 * The one `fetch` of a server definition: the user's or the global one behind the URL policy, with the request context
 * of the call under way.
 */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { MastraFetchLike, ResolvedHttpServer } from '../options.ts';
import { currentRequestScope } from './request-scope.ts';
import { guardFetch } from './url-policy.ts';

/** Makes the `fetch` for everything that is sent for a server: messages, event streams and OAuth. */
export function serverFetch(
  definition: ResolvedHttpServer,
  custom: MastraFetchLike | undefined = definition.fetch,
): FetchLike {
  const send: FetchLike = (url, init) =>
    custom === undefined
      ? fetch(url, init)
      : custom(url, init, currentRequestScope()?.requestContext ?? null);
  return guardFetch(send, definition);
}
