/** A client that acts for itself, without a user: the client credentials grant. The grant is the SDK's. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { MCPConfigurationError } from '../../shared/errors.ts';

interface CommonOptions {
  readonly clientId: string;
  /** The only authorization server that gets the credentials. Without it, the one the server names gets them. */
  readonly issuer?: string | undefined;
  /** Scopes to ask for, separated by spaces; those a server asks for are added. */
  readonly scope?: string | undefined;
  readonly clientName?: string | undefined;
}

/** Options of `createClientCredentialsProvider`: a secret, or a private key that signs an assertion. */
export type ClientCredentialsOptions = CommonOptions &
  (
    | { readonly clientSecret: string; readonly privateKey?: never }
    | {
        readonly clientSecret?: never;
        /** PKCS #8 in PEM, or a JWK. */
        readonly privateKey: string | Record<string, unknown>;
        /** @defaultValue 'ES256' */
        readonly algorithm?: string | undefined;
      }
  );

/**
 * Makes a provider for a client without a user: it gets its tokens by itself, and anew when they end.
 *
 * Needs no `authenticate()`. Tokens are kept in memory.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` for a wrong option.
 * @see https://datatracker.ietf.org/doc/html/rfc6749#section-4.4
 * @see https://datatracker.ietf.org/doc/html/rfc7523#section-2.2
 */
export function createClientCredentialsProvider(options: ClientCredentialsOptions): OAuthClientProvider {
  const { clientId, issuer, scope, clientName = 'Mastra MCP client' } = options;
  if (typeof clientId !== 'string' || clientId === '') {
    throw new MCPConfigurationError('client', 'clientId', 'must be a non-empty string');
  }
  const common = {
    clientId,
    clientName,
    ...(scope === undefined ? {} : { scope }),
    ...(issuer === undefined ? {} : { expectedIssuer: issuer }),
  };
  if (options.clientSecret !== undefined) {
    return new ClientCredentialsProvider({ ...common, clientSecret: options.clientSecret });
  }
  if (options.privateKey === undefined) {
    throw new MCPConfigurationError('client', 'clientSecret', 'or privateKey is required');
  }
  return new PrivateKeyJwtProvider({
    ...common,
    privateKey: options.privateKey,
    algorithm: options.algorithm ?? 'ES256',
  });
}
