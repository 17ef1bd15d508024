/**
 * Reads the token out of an Authorization header.
 *
 * Owns the syntax of RFC 6750 section 2.1. A token anywhere else (query, body) is no token here.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */

const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;
const IS_BEARER = /^bearer(?: |$)/i;
const ANY_BEARER = /\bbearer /i;
/** Two headers that the runtime has joined: after a comma comes another scheme. */
const JOINED = /,\s*[!#$%&'*+.^_`|~\w-]+ +\S/;
const TOKEN68 = /^[\w.~+/-]+=*$/;

/** What an Authorization header holds. */
export type Authorization =
  | { readonly kind: 'token'; readonly token: string }
  /** No header, or one of another scheme. */
  | { readonly kind: 'none' }
  /** A bearer header without exactly one token. */
  | { readonly kind: 'malformed' }
  /** More than one header, which servers on the way may choose from differently. */
  | { readonly kind: 'several' };

/** Reads an Authorization header that was sent `count` times. */
export function readAuthorization(header: string | undefined, count: number): Authorization {
  if (header === undefined || header === '') return { kind: 'none' };
  if (count > 1 || (ANY_BEARER.test(header) && JOINED.test(header))) return { kind: 'several' };
  const token = BEARER.exec(header)?.[1];
  if (token !== undefined) return { kind: 'token', token };
  return { kind: IS_BEARER.test(header) ? 'malformed' : 'none' };
}

/** Whether text can be sent as a bearer token at all. */
export function isSendable(token: string): boolean {
  return TOKEN68.test(token);
}

/** The token of an Authorization header with the scheme Bearer, in any case; `undefined` unless it is exactly one. */
export function extractBearerToken(authorization: string | null | undefined): string | undefined {
  const read = readAuthorization(authorization ?? undefined, 1);
  return read.kind === 'token' ? read.token : undefined;
}
