/**
 * The requests that give tokens: for a code, for a refresh token, for the client itself.
 *
 * Owns what a refusal means for what is kept. The wire format is the SDK's; when to ask is `refresh.ts` and `login.ts`.
 */
import {
  exchangeAuthorization,
  fetchToken,
  refreshAuthorization,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError, MCPAuthorizationFailedError } from '../../shared/errors.ts';
import { resourceFor } from './discovery.ts';
import { describeAnswer, watchAnswers } from './oauth-answer.ts';
import type { OAuthServer } from './oauth-fetch.ts';

/** Where and for whom a token is asked for. */
export interface TokenTarget {
  readonly server: Pick<OAuthServer, 'serverName' | 'url'>;
  readonly provider: OAuthClientProvider;
  readonly discovery: OAuthDiscoveryState;
  readonly fetch: FetchLike;
}

/**
 * The tokens for an authorization code. @throws MCPAuthorizationFailedError `token` or `registration`, MCPUrlPolicyError
 */
export function exchangeCode(
  target: TokenTarget,
  login: {
    readonly client: OAuthClientInformationMixed;
    readonly code: string;
    readonly codeVerifier: string;
    readonly redirectUrl: URL;
  },
): Promise<OAuthTokens> {
  return ask(target, (issuer, common) =>
    exchangeAuthorization(issuer, {
      ...common,
      clientInformation: login.client,
      authorizationCode: login.code,
      codeVerifier: login.codeVerifier,
      redirectUri: login.redirectUrl,
      ...clientAuthentication(target.provider),
    }),
  );
}

/** New tokens for a refresh token, which is kept where no new one comes. @throws as `exchangeCode` */
export function refreshTokens(
  target: TokenTarget,
  client: OAuthClientInformationMixed,
  refreshToken: string,
): Promise<OAuthTokens> {
  return ask(target, (issuer, common) =>
    refreshAuthorization(issuer, {
      ...common,
      clientInformation: client,
      refreshToken,
      ...clientAuthentication(target.provider),
    }),
  );
}

/** Tokens for a client without a user. @throws as `exchangeCode` */
export function fetchClientTokens(target: TokenTarget, scope: string | undefined): Promise<OAuthTokens> {
  const { provider } = target;
  // The SDK reads the scope from the metadata of the provider.
  const { scope: _, ...metadata } = provider.clientMetadata;
  const asking: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { ...metadata, ...(scope === undefined ? {} : { scope }) },
    clientInformation: () => provider.clientInformation(),
    tokens: () => provider.tokens(),
    saveTokens: tokens => provider.saveTokens(tokens),
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => provider.codeVerifier(),
    prepareTokenRequest: wanted => provider.prepareTokenRequest?.(wanted),
    ...clientAuthentication(provider),
  };
  return ask(target, (issuer, common) => fetchToken(asking, issuer, common));
}

/** Whether an error says that the authorization server does not know the client (any more). */
export function isUnknownClient(error: unknown): boolean {
  if (!isMCPError(error) || error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED') return false;
  return error.oauthError === 'invalid_client' || error.oauthError === 'unauthorized_client';
}

type Common = Pick<Parameters<typeof fetchToken>[2] & object, 'metadata' | 'resource' | 'fetchFn'>;

async function ask(
  { server, discovery, fetch }: TokenTarget,
  request: (issuer: string, common: Common) => Promise<OAuthTokens>,
): Promise<OAuthTokens> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
  const answers = watchAnswers(fetch);
  const resource = resourceFor(server.url, resourceMetadata?.resource, server.serverName);
  try {
    const tokens = await request(authorizationServerUrl, {
      ...(metadata === undefined ? {} : { metadata }),
      resource,
      fetchFn: answers.fetch,
    });
    return { ...tokens, issuer: authorizationServerUrl };
  } catch (error) {
    const refused = answers.failure();
    if (refused === undefined && isMCPError(error)) throw error;
    const why = refused === undefined ? 'gave no usable tokens' : `refused (${describeAnswer(refused)})`;
    const isClient = refused?.error === 'invalid_client' || refused?.error === 'unauthorized_client';
    throw new MCPAuthorizationFailedError(isClient ? 'registration' : 'token', {
      message: `Server ${JSON.stringify(server.serverName)}: its authorization server ${why}`,
      serverName: server.serverName,
      httpStatus: refused?.status,
      oauthError: refused?.error,
      cause: error,
    });
  }
}

function clientAuthentication(
  provider: OAuthClientProvider,
): Pick<OAuthClientProvider, 'addClientAuthentication'> {
  const { addClientAuthentication: add } = provider;
  return add === undefined ? {} : { addClientAuthentication: add.bind(provider) };
}
