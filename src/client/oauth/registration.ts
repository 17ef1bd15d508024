/**
 * Which client we are at an authorization server: registered beforehand, known from earlier, described by a document, or
 * registered now.
 *
 * Owns the order and what a registration says. Sends nobody anywhere and exchanges nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#client-registration-approaches
 */
import { registerClient, type OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationFull,
  OAuthClientInformationMixed,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError, MCPAuthorizationFailedError } from '../../shared/errors.ts';
import { toScope } from './challenge.ts';
import { isSameIssuer } from './discovery.ts';
import { getCallbackUrlCandidates } from './loopback.ts';
import { describeAnswer, watchAnswers } from './oauth-answer.ts';
import type { MCPOAuthClientMetadata, ProviderSession } from './provider.ts';
import { shown } from './redaction.ts';

/** The client that takes part in one login. */
export interface LoginClient {
  readonly information: OAuthClientInformationMixed;
  /** Registered by us; another registration may replace it. */
  readonly isReplaceable: boolean;
  /** Scopes to ask for, without those that the registration was refused for. */
  readonly scopes: readonly string[];
}

export interface RegistrationNeeds {
  readonly serverName: string;
  readonly session: ProviderSession;
  readonly discovery: OAuthDiscoveryState;
  readonly fetch: FetchLike;
  /** The redirect URL of this login. */
  readonly redirectUrl: URL;
  readonly scopes: readonly string[];
}

/**
 * Finds or registers the client for a login.
 *
 * @throws MCPAuthorizationFailedError `registration`; MCPUrlPolicyError
 */
export async function obtainClient(needs: RegistrationNeeds): Promise<LoginClient> {
  const { session, discovery, redirectUrl, scopes } = needs;
  const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = discovery;
  const stored = await session.credentials.client();
  if (session.isPreRegistered && stored !== undefined) {
    if (stored.issuer === undefined || isSameIssuer(stored.issuer, issuer)) {
      return { information: stored, isReplaceable: false, scopes };
    }
    throw failed(
      needs,
      `the client that was registered beforehand belongs to ${shown(stored.issuer)} and is not shown to ` +
        `${shown(issuer)}; if it moved, call clear() of the provider`,
    );
  }
  if (stored !== undefined && fits(stored, issuer, redirectUrl)) {
    const isDocument = stored.client_id === session.clientMetadataUrl;
    return { information: stored, isReplaceable: !isDocument, scopes };
  }
  if (session.clientMetadataUrl !== undefined && metadata?.client_id_metadata_document_supported === true) {
    const information = { client_id: session.clientMetadataUrl, issuer };
    await session.credentials.saveClient(information);
    return { information, isReplaceable: false, scopes };
  }
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw failed(
      needs,
      'its authorization server registers no clients; give clientInformation of a registered one',
    );
  }
  return await register(needs);
}

/** Whether a registration from earlier can serve this login. */
function fits(client: OAuthClientInformationMixed, issuer: string, redirectUrl: URL): boolean {
  if (client.issuer !== undefined && !isSameIssuer(client.issuer, issuer)) return false;
  const { client_secret_expires_at: end, redirect_uris: uris } =
    client as Partial<OAuthClientInformationFull>;
  if (end !== undefined && end !== 0 && end <= Date.now() / 1000) return false;
  return uris === undefined || uris.length === 0 || uris.includes(redirectUrl.href);
}

/** Registers, and once more without the part that the authorization server refused. */
async function register(needs: RegistrationNeeds): Promise<LoginClient> {
  const { session, discovery, redirectUrl } = needs;
  let metadata = toRegistration(needs);
  let { scopes } = needs;
  for (let attempt = 1; ; attempt += 1) {
    const answers = watchAnswers(needs.fetch);
    try {
      const registered = await send(discovery, answers.fetch, metadata, scopes);
      const information = { ...registered, issuer: discovery.authorizationServerUrl };
      await session.credentials.saveClient(information);
      return { information, isReplaceable: true, scopes };
    } catch (error) {
      if (isMCPError(error) && error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED') throw error;
      const refused = answers.failure();
      if (refused === undefined) {
        throw failed(needs, 'its authorization server gave no usable registration', { cause: error });
      }
      const mayTryLess = attempt === 1 && refused.status === 400;
      if (mayTryLess && refused.error === 'invalid_redirect_uri') {
        metadata = { ...metadata, redirect_uris: [redirectUrl.href] };
      } else if (mayTryLess && scopes.length > 0) {
        scopes = withoutRefused(scopes, refused.said);
      } else {
        const problem = `its authorization server does not accept this client (${describeAnswer(refused)}); `;
        throw failed(needs, `${problem}give clientInformation of a client registered beforehand`, {
          cause: error,
          httpStatus: refused.status,
          oauthError: refused.error,
        });
      }
    }
  }
}

function send(
  { authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthDiscoveryState,
  fetch: FetchLike,
  clientMetadata: MCPOAuthClientMetadata,
  scopes: readonly string[],
): Promise<OAuthClientInformationFull> {
  const scope = toScope(scopes);
  return registerClient(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientMetadata,
    ...(scope === undefined ? {} : { scope }),
    fetchFn: fetch,
  });
}

/** What the registration says: every port we may bind, and a way to authenticate that the token endpoint knows. */
function toRegistration({ session, discovery, redirectUrl }: RegistrationNeeds): MCPOAuthClientMetadata {
  const metadata = session.clientMetadata();
  const uris = [redirectUrl, ...getCallbackUrlCandidates(session.redirectUrl)].map(({ href }) => href);
  const supported = discovery.authorizationServerMetadata?.token_endpoint_auth_methods_supported ?? [];
  const { token_endpoint_auth_method: wanted } = metadata;
  const known =
    wanted !== undefined && (supported.length === 0 || supported.includes(wanted))
      ? wanted
      : ['none', 'client_secret_basic', 'client_secret_post'].find(method => supported.includes(method));
  const { scope: _, ...rest } = metadata;
  return {
    ...rest,
    redirect_uris: [...new Set([...uris, ...metadata.redirect_uris])],
    ...(known === undefined ? {} : { token_endpoint_auth_method: known }),
  };
}

/** The scopes without those that the refusal names; none when it names none of them. */
function withoutRefused(scopes: readonly string[], said: string): readonly string[] {
  const words = new Set(said.split(/[^\w:./*-]+/));
  const left = scopes.filter(scope => !words.has(scope));
  return left.length === scopes.length ? [] : left;
}

function failed(
  { serverName }: RegistrationNeeds,
  problem: string,
  facts: {
    readonly cause?: unknown;
    readonly httpStatus?: number | undefined;
    readonly oauthError?: string | undefined;
  } = {},
): MCPAuthorizationFailedError {
  const message = `Server ${JSON.stringify(serverName)}: ${problem}`;
  return new MCPAuthorizationFailedError('registration', { message, serverName, ...facts });
}
