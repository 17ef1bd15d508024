/**
 * Checks tokens that are JWTs, by the public keys of their issuer.
 *
 * Owns which signatures and headers are accepted and which failures are the token's. Verifying is jose's, which is loaded
 * with the first token; audience and key binding are judged in token-validation.ts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068
 */
import type * as JoseModule from 'jose';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions, JWTVerifyResult } from 'jose';
import { MCPConfigurationError, MCPServerError } from '../../shared/errors.ts';
import { boundedFetch } from '../http/bounded-fetch.ts';
import { toTrustedUrl } from './oauth-options.ts';
import { judgeClaims, refuseToken } from './token-validation.ts';
import type { ClaimOptions, TokenValidationResult, TokenValidator } from './token-validation.ts';

type Jose = typeof JoseModule;

/** Options of `createJwtValidator`. */
export interface JwtOptions extends ClaimOptions {
  /** What `iss` must be. */
  readonly issuer: string | readonly string[];
  /** Where the issuer publishes its keys (JWKS). */
  readonly jwksUri: string | URL;
  /** Signatures that are accepted; those with a shared secret never are. @defaultValue all with a public key */
  readonly algorithms?: readonly string[] | undefined;
  /** Claims a token must have beside `iss` and `exp`. @defaultValue none */
  readonly requiredClaims?: readonly string[] | undefined;
  /** Milliseconds for fetching the keys. @defaultValue 5000 */
  readonly timeoutMs?: number | undefined;
  /** Allows a `jwksUri` of http that is not on this machine. @defaultValue false */
  readonly allowHttp?: boolean | undefined;
}

const TIMEOUT_MS = 5000;
const MAX_JWKS_BYTES = 512 * 1024;
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Header `typ` of an access token. Others are JWTs for another purpose, e.g. a proof or a logout. */
const TYPES = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/** Codes of jose that speak of the token. All others speak of the keys, or of getting them. */
const TOKEN_FAULTS: ReadonlySet<unknown> = new Set([
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWS_INVALID',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWT_EXPIRED',
  'ERR_JWT_INVALID',
]);

/**
 * A validator of JWTs: signature, type, issuer, audience and times. Keys are fetched when needed and kept for ten minutes;
 * an unknown key makes it look again, at most every 30 seconds.
 *
 * Does not know of tokens that were revoked. Rejects with `MCP_SERVER_TOKEN_VALIDATION_FAILED` when the keys cannot be had.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming a wrong option.
 */
export function createJwtValidator(options: JwtOptions): TokenValidator {
  const { audience, allowMissingAudience = false, clockSkewSeconds = 5 } = options;
  const issuers = [options.issuer].flat();
  if (issuers.length === 0 || !issuers.every(issuer => typeof issuer === 'string' && issuer !== ''))
    throw new MCPConfigurationError('server', 'issuer', 'must be a non-empty string, or a list of them');
  const algorithms = [...(options.algorithms ?? ALGORITHMS)];
  if (algorithms.length === 0 || algorithms.some(algorithm => /^(?:HS|none)/i.test(algorithm)))
    throw new MCPConfigurationError('server', 'algorithms', 'must be signatures with a public key');
  const url = toTrustedUrl('jwksUri', options.jwksUri, options.allowHttp);
  const verifying: JWTVerifyOptions = {
    issuer: issuers,
    algorithms,
    clockTolerance: clockSkewSeconds,
    requiredClaims: ['exp', ...(options.requiredClaims ?? [])],
  };
  let loading: Promise<{ readonly jose: Jose; readonly keys: JWTVerifyGetKey }> | undefined;
  const load = async (): Promise<{ readonly jose: Jose; readonly keys: JWTVerifyGetKey }> => {
    const jose = await import('jose');
    return { jose, keys: toKeys(jose, url, options.timeoutMs ?? TIMEOUT_MS) };
  };
  return async (token, resource) => {
    try {
      loading ??= load();
      const { jose, keys } = await loading;
      const payload = await verify(jose, token, keys, verifying);
      if (payload === undefined) return refuseToken('The token is of another type');
      return judgeClaims(payload, {
        audiences: audience === undefined ? [resource] : [audience].flat(),
        issuers: undefined,
        allowMissingAudience,
        clockSkewSeconds,
      });
    } catch (error) {
      return toRefusal(error);
    }
  };
}

function toKeys(jose: Jose, url: URL, timeoutMs: number): JWTVerifyGetKey {
  const limits = { timeoutMs, maxBytes: MAX_JWKS_BYTES };
  return jose.createRemoteJWKSet(url, {
    // Ours is told first, and says more.
    timeoutDuration: Math.ceil(timeoutMs) * 2,
    [jose.customFetch]: (target, { headers, method }) => boundedFetch(target, { headers, method }, limits),
  });
}

/** The claims of a token that verifies; `undefined` when it is no access token. */
async function verify(
  jose: Jose,
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload | undefined> {
  try {
    return toClaims(await jose.jwtVerify(token, keys, options));
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    // The token does not say which key it is signed with, and several could be it.
    for await (const key of error) {
      try {
        return toClaims(await jose.jwtVerify(token, key, options));
      } catch (wrong) {
        if (codeOf(wrong) !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw wrong;
      }
    }
    throw new jose.errors.JWSSignatureVerificationFailed();
  }
}

function toClaims({ payload, protectedHeader }: JWTVerifyResult): JWTPayload | undefined {
  return TYPES.includes(protectedHeader.typ?.toLowerCase()) ? payload : undefined;
}

function toRefusal(error: unknown): TokenValidationResult {
  const code = codeOf(error);
  if (code === 'ERR_JWT_EXPIRED') return refuseToken('The token has expired');
  if (TOKEN_FAULTS.has(code)) return refuseToken('The token does not verify');
  throw new MCPServerError('MCP_SERVER_TOKEN_VALIDATION_FAILED', {
    message: 'The keys of the issuer cannot be had',
    status: 503,
    cause: error,
  });
}

function codeOf(error: unknown): unknown {
  return Reflect.get(Object(error), 'code');
}
