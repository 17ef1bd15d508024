/**
 * What belongs to the call under way, carried to `fetch` without passing it through the SDK.
 *
 * Owns the async-local scope. Does not decide which requests belong to a call: the HTTP transport clears the scope for
 * its background streams.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestContext } from '@mastra/core/request-context';

/** What every request made for one call shares. */
export interface RequestScope {
  readonly requestContext: RequestContext | undefined;
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** Runs `fn`, and everything it starts, inside `scope`; `undefined` clears the scope for it. */
export function runInRequestScope<T>(scope: RequestScope | undefined, fn: () => T): T {
  return scopes.run(scope, fn);
}

/** The scope of the call under way, or `undefined` outside of any. */
export function currentRequestScope(): RequestScope | undefined {
  return scopes.getStore();
}
