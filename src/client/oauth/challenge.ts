/** What a 401 or 403 asks for, and the arithmetic of scopes. Knows no tokens. */
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';

/** A refusal that more authorization may lift. */
export interface Challenge {
  readonly status: 401 | 403;
  /** Where the server describes itself; only a hint, checked before use. */
  readonly resourceMetadataUrl: URL | undefined;
  readonly scopes: readonly string[];
}

/** The challenge of an answer: any 401, and a 403 that asks for more scope (RFC 6750 section 3.1). */
export function challengeOf(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return { status, resourceMetadataUrl, scopes: scopesOf(scope) };
}

/** The scopes in a space-separated list. */
export function scopesOf(list: string | undefined): readonly string[] {
  return list === undefined ? [] : [...new Set(list.split(' ').filter(Boolean))];
}

/** All scopes of both, in order, once each. */
export function unionOf(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])];
}

/** As a request has it; absent when there is none. */
export function toScope(scopes: readonly string[]): string | undefined {
  return scopes.length === 0 ? undefined : scopes.join(' ');
}
