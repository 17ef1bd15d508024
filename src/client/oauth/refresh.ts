/**
 * A new access token without a user, once for everybody who needs it.
 *
 * Owns that one renewal is in flight per provider and server, and that a token which was renewed meanwhile, here or in
 * another process, is taken as it is. Does not see requests.
 */
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError } from '../../shared/errors.ts';
import { scopesOf, toScope, unionOf } from './challenge.ts';
import type { Credentials } from './credentials.ts';
import { isSameIssuer } from './discovery.ts';
import type { OAuthServer } from './oauth-fetch.ts';
import { fetchClientTokens, isUnknownClient, refreshTokens, type TokenTarget } from './token-requests.ts';

/** How a token is renewed for one server. */
export interface RenewalNeeds {
  readonly server: Pick<OAuthServer, 'serverName' | 'url'>;
  readonly provider: OAuthClientProvider;
  readonly credentials: Credentials;
  readonly isPreRegistered: boolean;
  readonly fetch: FetchLike;
  /** Discovered when it is needed, and remembered by the owner. */
  discovery(): Promise<OAuthDiscoveryState>;
}

/** What was refused. */
export interface Refused {
  /** The access token that was sent, if any. */
  readonly token: string | undefined;
  /**
   * Scopes that are missing, where the token is good and does not permit enough; more scope than before is something only a
   * client without a user can get by itself.
   */
  readonly missing: readonly string[] | undefined;
}

/** Whether a provider gets its tokens without a user. */
export function isNonInteractive(provider: OAuthClientProvider): boolean {
  return !provider.redirectUrl;
}

/** Several clients may use one provider object; it would use its refresh token once for each. */
const flights = new WeakMap<OAuthClientProvider, Map<string, Promise<string | undefined>>>();

/**
 * An access token other than the refused one, or `undefined` when only the user can help.
 *
 * @throws MCPAuthorizationFailedError or MCPUrlPolicyError when there is a way that failed.
 */
export async function renewToken(needs: RenewalNeeds, refused: Refused): Promise<string | undefined> {
  const { provider, server } = needs;
  const ours = flights.get(provider) ?? new Map<string, Promise<string | undefined>>();
  flights.set(provider, ours);
  const key = server.url.href;
  const joined = await ours.get(key);
  // The one in flight may end with the very token that was refused to a late comer.
  if (joined !== undefined && joined !== refused.token) return joined;
  const flight = ours.get(key) ?? renew(needs, refused).finally(() => ours.delete(key));
  ours.set(key, flight);
  return await flight;
}

async function renew(needs: RenewalNeeds, refused: Refused): Promise<string | undefined> {
  const { provider, credentials } = needs;
  const changed = async (): Promise<string | undefined> => {
    const token = (await credentials.tokens())?.access_token;
    return token === refused.token ? undefined : token;
  };
  const before = await changed();
  if (before !== undefined) return before;
  if (!isNonInteractive(provider)) {
    if (refused.missing !== undefined) return undefined;
    if ((await credentials.tokens())?.refresh_token === undefined) return undefined;
  }
  return await credentials.lock(async () => {
    const meanwhile = await changed();
    if (meanwhile !== undefined) return meanwhile;
    const { fetch, server } = needs;
    const target: TokenTarget = { server, provider, fetch, discovery: await needs.discovery() };
    return isNonInteractive(provider)
      ? await renewAlone(needs, target, refused)
      : await useRefreshToken(needs, target);
  });
}

async function renewAlone(
  { provider, credentials }: RenewalNeeds,
  target: TokenTarget,
  { missing = [] }: Refused,
): Promise<string | undefined> {
  const before = scopesOf((await credentials.tokens())?.scope);
  const wanted = unionOf(unionOf(scopesOf(provider.clientMetadata.scope), before), missing);
  const tokens = await fetchClientTokens(target, toScope(wanted));
  await credentials.saveTokens({ scope: toScope(wanted), ...tokens });
  return tokens.access_token;
}

async function useRefreshToken(needs: RenewalNeeds, target: TokenTarget): Promise<string | undefined> {
  const { credentials, isPreRegistered } = needs;
  const [tokens, client] = await Promise.all([credentials.tokens(), credentials.client()]);
  const issuer = target.discovery.authorizationServerUrl;
  const isForeign = (stamp: string | undefined): boolean =>
    stamp !== undefined && !isSameIssuer(stamp, issuer);
  // Credentials of another authorization server are never shown to this one.
  if (tokens?.refresh_token === undefined || client === undefined) return undefined;
  if (isForeign(tokens.issuer) || isForeign(client.issuer)) return undefined;
  try {
    const fresh = await refreshTokens(target, client, tokens.refresh_token);
    await credentials.saveTokens({ scope: tokens.scope, ...fresh });
    return fresh.access_token;
  } catch (error) {
    if (isUnknownClient(error)) {
      await credentials.forget('tokens');
      if (!isPreRegistered) await credentials.forget('client');
    } else if (isGrantOver(error)) await credentials.forget('tokens');
    throw error;
  }
}

/** Whether the authorization server says that the refresh token is of no use any more. */
function isGrantOver(error: unknown): boolean {
  if (!isMCPError(error) || error.code !== 'MCP_CLIENT_AUTHORIZATION_FAILED') return false;
  return error.oauthError === 'invalid_grant' || error.oauthError === 'invalid_scope';
}
