/**
 * Writes WWW-Authenticate headers.
 *
 * Owns what may stand in one: whatever a validator or a token put into a value, the result is one header.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-5.1
 */

/** The error codes of RFC 6750. */
const ERRORS = ['invalid_request', 'invalid_token', 'insufficient_scope'] as const;
export type ChallengeError = (typeof ERRORS)[number];

/** What `generateWWWAuthenticateHeader` takes. */
export interface ChallengeOptions {
  /** Where the protected-resource metadata of the server are. */
  readonly resourceMetadataUrl?: string | undefined;
  /** Further parameters in their order, e.g. `scope`, `error`, `error_description`. */
  readonly additionalParams?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Longest text of anybody but the operator. */
const MAX_TEXT = 256;
/** Longest text of the operator: a URL or a list of scopes. */
const MAX_OPERATOR_TEXT = 2048;
const OPERATOR_PARAMS = ['resource_metadata', 'scope'];

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const NOT_PRINTABLE = /[^\x20-\x7e]/g;

/**
 * A WWW-Authenticate header of the scheme Bearer. Control characters and what is not ASCII are dropped, quotes escaped,
 * long texts cut; an `error` that RFC 6750 does not know is left out.
 */
export function generateWWWAuthenticateHeader(options: ChallengeOptions = {}): string {
  const params = { resource_metadata: options.resourceMetadataUrl, ...options.additionalParams };
  const written = Object.entries(params).flatMap(([name, value]) => {
    if (value === undefined || !NAME.test(name) || (name === 'error' && !isChallengeError(value))) return [];
    return [`${name}="${toQuotable(name, value)}"`];
  });
  return written.length === 0 ? 'Bearer' : `Bearer ${written.join(', ')}`;
}

export function isChallengeError(value: unknown): value is ChallengeError {
  return (ERRORS as readonly unknown[]).includes(value);
}

function toQuotable(name: string, value: string): string {
  return toHeaderText(value, OPERATOR_PARAMS.includes(name) ? MAX_OPERATOR_TEXT : MAX_TEXT).replaceAll(
    /["\\]/g,
    '\\$&',
  );
}

/** Text that may stand in a header: printable ASCII of a limited length. */
export function toHeaderText(value: string, limit: number = MAX_TEXT): string {
  return value.replaceAll(NOT_PRINTABLE, '').slice(0, limit);
}
