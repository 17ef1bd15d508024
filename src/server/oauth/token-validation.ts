/**
 * What a check of an access token is, and the rules that every kind of token is judged by.
 *
 * Owns the contract of validators and the meaning of times, issuer, audience and key binding in claims. Does not know
 * where claims come from.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#token-handling
 */

/** What a validator found out about one token. */
export interface TokenValidationResult {
  readonly valid: boolean;
  /** Error code of RFC 6750 where the token is refused; any other counts as `invalid_token`. */
  readonly error?: string | undefined;
  /** One line for the developer of the client. */
  readonly errorDescription?: string | undefined;
  /** What the token permits. */
  readonly scopes?: readonly string[] | undefined;
  /** With the error `insufficient_scope`: what it would have to permit. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** The user behind the token, unique for its issuer. */
  readonly subject?: string | undefined;
  /** The client the token was issued to. @defaultValue `claims.client_id` or `claims.azp` */
  readonly clientId?: string | undefined;
  /** Seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Whatever the issuer says about the token; tools see it as `authInfo.extra.claims`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The validator has made sure that the token is meant for this server. Without it `claims.aud`, where it exists, must
   * name `resource`.
   *
   * @defaultValue false
   */
  readonly audienceChecked?: boolean | undefined;
}

/** What a validator is told beside token and resource. */
export interface TokenValidationFacts {
  /** Whose tokens this server accepts. */
  readonly authorizationServers: readonly string[];
}

/**
 * Checks a token. Resolves to a refusal of the token; rejects when it could not be checked, which is answered 503.
 * `resource` is the canonical URL of this server: only tokens that were issued for it are to be accepted.
 */
export type TokenValidator = (
  token: string,
  resource: string,
  facts?: TokenValidationFacts,
) => Promise<TokenValidationResult>;

/** What validators that read claims let through. */
export interface ClaimOptions {
  /** What `aud` must contain one of. @defaultValue the `resource` of this server */
  readonly audience?: string | readonly string[] | undefined;
  /**
   * Accepts tokens that name no audience. Such a token may have been issued for any other service of the same issuer.
   *
   * @defaultValue false
   */
  readonly allowMissingAudience?: boolean | undefined;
  /** How far the clocks of issuer and server may differ. @defaultValue 5 */
  readonly clockSkewSeconds?: number | undefined;
}

/** The rules of one validator for one server. */
export interface ClaimRules {
  readonly audiences: readonly string[];
  /** `undefined` accepts every issuer. */
  readonly issuers: readonly string[] | undefined;
  readonly allowMissingAudience: boolean;
  readonly clockSkewSeconds: number;
}

/** Refuses a token. */
export function refuseToken(errorDescription: string): TokenValidationResult {
  return { valid: false, error: 'invalid_token', errorDescription };
}

/** Judges the claims of a token whose origin is certain. */
export function judgeClaims(
  claims: Readonly<Record<string, unknown>>,
  rules: ClaimRules,
): TokenValidationResult {
  const problem = timeProblem(claims, rules) ?? originProblem(claims, rules);
  if (problem !== undefined) return refuseToken(problem);
  const { sub, exp } = claims;
  const clientId = clientOf(claims);
  return {
    valid: true,
    scopes: toScopes(claims['scope'] ?? claims['scp']),
    ...(typeof sub === 'string' ? { subject: sub } : {}),
    ...(clientId === undefined ? {} : { clientId }),
    ...(typeof exp === 'number' ? { expiresAt: exp } : {}),
    claims,
    audienceChecked: true,
  };
}

function timeProblem(
  { exp, nbf }: Readonly<Record<string, unknown>>,
  { clockSkewSeconds }: ClaimRules,
): string | undefined {
  const now = Date.now() / 1000;
  if (exp !== undefined && !(isNumber(exp) && exp > now - clockSkewSeconds)) return 'The token has expired';
  if (nbf !== undefined && !(isNumber(nbf) && nbf <= now + clockSkewSeconds))
    return 'The token is not valid yet';
  return undefined;
}

function originProblem(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): string | undefined {
  const { iss, aud, cnf } = claims;
  // Such a token is worth something only together with the proof of a key, which nobody checked here.
  if (cnf !== undefined) return 'The token is bound to a key';
  const { issuers } = rules;
  if (iss !== undefined && issuers !== undefined && !names(iss, issuers))
    return 'The token comes from another issuer';
  if (aud === undefined) return rules.allowMissingAudience ? undefined : 'The token names no audience';
  return names(aud, rules.audiences) ? undefined : 'The token is meant for another audience';
}

/** Whether a claim, one text or several, contains one of `wanted`. URLs are compared as such, one trailing slash aside. */
export function names(claim: unknown, wanted: readonly string[]): boolean {
  const found: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const accepted = wanted.map(toComparable);
  return found.some(value => typeof value === 'string' && accepted.includes(toComparable(value)));
}

function toComparable(text: string): string {
  const href = URL.canParse(text) ? new URL(text).href : text;
  return href.endsWith('/') ? href.slice(0, -1) : href;
}

/** The client that claims name. */
export function clientOf(claims: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const named = [claims?.['client_id'], claims?.['azp']];
  return named.find((value): value is string => typeof value === 'string' && value !== '');
}

/** Scopes from text separated by spaces, or from a list. */
export function toScopes(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter(scope => scope !== '');
  return Array.isArray(value) ? value.filter((scope): scope is string => typeof scope === 'string') : [];
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
