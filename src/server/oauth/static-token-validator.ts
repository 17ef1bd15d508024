/**
 * Tokens that the operator knows by heart: for tests, internal services and single users.
 *
 * Owns the comparison, which takes as long for a wrong token as for a right one.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ConsoleLogger } from '@mastra/core/logger';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { isSendable } from './bearer-token.ts';
import type { OAuthLogger } from './oauth-options.ts';
import { DEFAULT_SCOPES } from './protected-resource.ts';
import { names, refuseToken } from './token-validation.ts';
import type { TokenValidationResult, TokenValidator } from './token-validation.ts';

/** A token and what it stands for. */
export interface StaticToken {
  readonly token: string;
  /** @defaultValue ['mcp:read', 'mcp:write'] */
  readonly scopes?: readonly string[] | undefined;
  /** Who the token was given to. */
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
  /** Seconds since 1970. @defaultValue never */
  readonly expiresAt?: number | undefined;
  /** The only server the token is for. @defaultValue every one */
  readonly resource?: string | undefined;
}

interface KnownToken {
  readonly digest: Buffer;
  readonly resource: string | undefined;
  readonly expiresAt: number;
  readonly result: TokenValidationResult;
}

/** Shorter tokens can be guessed. */
const SAFE_LENGTH = 16;

/**
 * A validator that accepts exactly these tokens. Keeps only their digests.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a token that is empty or cannot be sent as a bearer
 * token.
 */
export function createStaticTokenValidator(
  tokens: readonly (string | StaticToken)[],
  { logger }: { readonly logger?: OAuthLogger | undefined } = {},
): TokenValidator {
  if (!Array.isArray(tokens)) invalid('tokens', 'must be a list of tokens');
  const entries = tokens.map((entry: string | StaticToken): StaticToken =>
    typeof entry === 'string' ? { token: entry } : Object(entry),
  );
  const known = entries.map(toKnownToken);
  const short = entries.filter(({ token }) => token.length < SAFE_LENGTH).length;
  if (short > 0)
    (logger ?? new ConsoleLogger({ name: 'MCPServer', level: 'warn' })).warn(
      `OAuth: ${short} static token(s) have less than ${SAFE_LENGTH} characters and can be guessed`,
    );
  return async (token, resource) => {
    const digest = digestOf(token);
    let found: KnownToken | undefined;
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry;
    if (found === undefined) return refuseToken('The token is not known');
    if (found.expiresAt <= Date.now() / 1000) return refuseToken('The token has expired');
    if (found.resource !== undefined && !names(found.resource, [resource]))
      return refuseToken('The token is meant for another audience');
    return found.result;
  };
}

function toKnownToken(entry: StaticToken, index: number): KnownToken {
  const { token, scopes = DEFAULT_SCOPES, subject, clientId, expiresAt, resource } = entry;
  const option = `tokens.${index}`;
  if (typeof token !== 'string' || token === '') invalid(option, 'must not be empty');
  if (!isSendable(token)) invalid(option, 'has characters that a bearer token cannot have');
  if (expiresAt !== undefined && !Number.isFinite(expiresAt))
    invalid(`${option}.expiresAt`, 'must be seconds since 1970');
  return {
    digest: digestOf(token),
    resource,
    expiresAt: expiresAt ?? Infinity,
    result: {
      valid: true,
      scopes: [...scopes],
      ...(subject === undefined ? {} : { subject }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function invalid(option: string, problem: string): never {
  throw new MCPConfigurationError('server', option, problem);
}
