/** A provider around a token that is already there. */
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/sdk/shared/auth.js';
import { MCPOAuthClientProvider, type MCPOAuthClientMetadata } from './provider.ts';
import { InMemoryOAuthStorage } from './storage.ts';

/** Options of `createSimpleTokenProvider`. */
export interface SimpleTokenProviderOptions {
  readonly redirectUrl: string | URL;
  readonly clientMetadata: MCPOAuthClientMetadata;
  readonly clientInformation?: OAuthClientInformationMixed | undefined;
  /** @defaultValue 'Bearer' */
  readonly tokenType?: string | undefined;
  /** Renews the token once the server refuses it; needs `clientInformation`. */
  readonly refreshToken?: string | undefined;
  /** Seconds for which the token is valid. */
  readonly expiresIn?: number | undefined;
  readonly scope?: string | undefined;
}

/**
 * Makes a provider for tests, or for an access token from elsewhere. The token is kept in memory.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` for a wrong option.
 */
export function createSimpleTokenProvider(
  accessToken: string,
  options: SimpleTokenProviderOptions,
): MCPOAuthClientProvider {
  const { redirectUrl, clientMetadata, clientInformation } = options;
  const { tokenType = 'Bearer', refreshToken, expiresIn, scope } = options;
  const storage = new InMemoryOAuthStorage();
  // The key that belongs to no server yet; the server the provider is used for takes it over.
  const tokens = { access_token: accessToken, token_type: tokenType, refresh_token: refreshToken, scope };
  const expiry =
    expiresIn === undefined
      ? {}
      : { expires_in: expiresIn, expires_at: Math.floor(Date.now() / 1000) + expiresIn };
  storage.set('tokens', JSON.stringify({ ...tokens, ...expiry }));
  return new MCPOAuthClientProvider({ redirectUrl, clientMetadata, clientInformation, storage });
}
