/**
 * One login of a user: from discovery through the browser to stored tokens.
 *
 * Owns the order of the steps, what ends them, and the check that the answer comes from the authorization server that
 * was asked (RFC 9207). Does not reconnect and keeps nothing beyond the login.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-flow-steps
 */
import {
  startAuthorization,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isMCPError, MCPAuthorizationFailedError } from '../../shared/errors.ts';
import { CallbackListener, toDenied, within, type Callback, type CallbackParams } from './callback-server.ts';
import { scopesOf, toScope, unionOf, type Challenge } from './challenge.ts';
import { discover, isSameIssuer, resourceFor } from './discovery.ts';
import { problemOfBrowserUrl, type OAuthServer } from './oauth-fetch.ts';
import type { ProviderSession } from './provider.ts';
import { shown } from './redaction.ts';
import { obtainClient, type LoginClient } from './registration.ts';
import { exchangeCode, isUnknownClient } from './token-requests.ts';
import { untilAborted } from './until-aborted.ts';

/** Member of the metadata by which an authorization server promises to name itself (RFC 9207 section 3). */
const ISS_SUPPORTED = 'authorization_response_iss_parameter_supported';

export interface LoginNeeds {
  readonly server: OAuthServer;
  readonly provider: OAuthClientProvider;
  readonly session: ProviderSession;
  readonly fetch: FetchLike;
  /** What the server asked for last. */
  readonly challenge: Challenge | undefined;
  /** Scopes of earlier logins. */
  readonly earlierScopes: readonly string[];
  /** How long the browser may take. */
  readonly timeoutMs: number;
  /** Ends the login; its reason is what the login rejects with. */
  readonly signal: AbortSignal;
  readonly debug: (text: string) => void;
}

/** What a login leaves behind, besides what is stored. */
export interface LoginOutcome {
  readonly discovery: OAuthDiscoveryState;
  readonly scopes: readonly string[];
}

/**
 * Logs the user in. Everything it opened is closed when it ends.
 *
 * @throws MCPAuthorizationFailedError, MCPUrlPolicyError, MCPConfigurationError, or the reason of the signal.
 */
export async function logIn(needs: LoginNeeds): Promise<LoginOutcome> {
  const { server, session, challenge, signal, debug } = needs;
  const fetch: FetchLike = (url, init) => needs.fetch(url, { ...init, signal });
  const known = await untilAborted(signal, session.credentials.client());
  const discovery = await untilAborted(
    signal,
    discover(server, {
      fetch,
      resourceMetadataUrl: challenge?.resourceMetadataUrl,
      preferred: known?.issuer,
      interactive: true,
    }),
  );
  debug(`the authorization server is ${shown(discovery.authorizationServerUrl)}`);
  const scopes = unionOf(needs.earlierScopes, wantedScopes(needs, discovery));
  for (let attempt = 1; ; attempt += 1) {
    try {
      await visit({ ...needs, fetch }, discovery, scopes, attempt === 1);
      return { discovery, scopes };
    } catch (error) {
      if (!(error instanceof RegistrationGone)) throw error;
      debug('the authorization server has forgotten this client, which registers again');
      await session.credentials.forget('client');
    }
  }
}

/** The registration of this client is unknown; with another one the user may be asked again. */
class RegistrationGone extends Error {}

/** Scopes by the strategy of the specification: of the challenge, else all the resource has, else those of the client. */
function wantedScopes(
  { challenge, session }: LoginNeeds,
  { resourceMetadata }: OAuthDiscoveryState,
): readonly string[] {
  if (challenge !== undefined && challenge.scopes.length > 0) return challenge.scopes;
  const { scopes_supported: supported = [] } = resourceMetadata ?? {};
  return supported.length > 0 ? supported : scopesOf(session.clientMetadata().scope);
}

/** Sends the user to the authorization server and takes what the browser brings back. */
async function visit(
  needs: LoginNeeds,
  discovery: OAuthDiscoveryState,
  scopes: readonly string[],
  mayRegisterAgain: boolean,
): Promise<void> {
  const { server, session, fetch, signal, timeoutMs, debug } = needs;
  const { serverName } = server;
  const { credentials } = session;
  signal.throwIfAborted();
  const listener = await CallbackListener.open(session.redirectUrl);
  let client: LoginClient | undefined;
  let callback: Callback | undefined;
  try {
    debug(`waiting for the browser at ${listener.url.origin}`);
    client = await untilAborted(
      signal,
      obtainClient({ serverName, session, discovery, fetch, redirectUrl: listener.url, scopes }),
    );
    const { authorizationUrl, codeVerifier } = await untilAborted(
      signal,
      begin(needs, discovery, client, listener),
    );
    const returned = listener.expect(authorizationUrl.searchParams.get('state') ?? '');
    // Not waited for: the user's part may itself wait for the page that comes last.
    const delivered = deliver(needs, authorizationUrl).then(() => returned);
    callback = await untilAborted(signal, within(timeoutMs, Promise.race([returned, delivered]), serverName));
    assertIssuer(callback.params, discovery, needs);
    const { code } = callback.params;
    if (code === undefined) throw toDenied(callback.params, serverName);
    const tokens = await untilAborted(
      signal,
      exchangeCode(
        { server, provider: needs.provider, discovery, fetch },
        { client: client.information, code, codeVerifier, redirectUrl: listener.url },
      ),
    );
    const information = { ...client.information, issuer: discovery.authorizationServerUrl };
    const granted = { scope: toScope(client.scopes), ...tokens };
    const save = async (): Promise<void> => {
      // Both: another login may have registered another client meanwhile.
      await credentials.saveClient(information);
      await credentials.saveTokens(granted);
    };
    await untilAborted(signal, credentials.lock(save));
    callback.answer('done');
    debug('the user has authorized this client');
  } catch (error) {
    const isGone = client?.isReplaceable === true && mayRegisterAgain && isUnknownClient(error);
    callback?.answer(isGone ? 'again' : 'failed');
    throw isGone ? new RegistrationGone() : error;
  } finally {
    await listener.close();
  }
}

/** The authorization request, with a verifier and a state of its own. */
async function begin(
  needs: LoginNeeds,
  discovery: OAuthDiscoveryState,
  client: LoginClient,
  listener: CallbackListener,
): Promise<{ readonly authorizationUrl: URL; readonly codeVerifier: string }> {
  const { server, session } = needs;
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
  const scope = toScope(client.scopes);
  const state = await session.state();
  const request = await startAuthorization(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: client.information,
    redirectUrl: listener.url,
    state,
    ...(scope === undefined ? {} : { scope }),
    resource: resourceFor(server.url, resourceMetadata?.resource, server.serverName),
  }).catch((cause: unknown) => {
    const problem = 'its authorization server does not support the authorization code flow';
    throw failed('metadata', server.serverName, problem, cause);
  });
  const problem = problemOfBrowserUrl(request.authorizationUrl);
  if (problem === undefined) return request;
  throw failed('metadata', server.serverName, `the authorization address ${problem}`);
}

async function deliver({ server, session }: LoginNeeds, authorizationUrl: URL): Promise<void> {
  try {
    await session.redirect(authorizationUrl);
  } catch (cause) {
    if (isMCPError(cause)) throw cause;
    throw failed('callback', server.serverName, 'onRedirectToAuthorization failed', cause);
  }
}

/** The answer must come from the authorization server that was asked; nothing else of it is read before (RFC 9207). */
function assertIssuer({ iss }: CallbackParams, discovery: OAuthDiscoveryState, { server }: LoginNeeds): void {
  const { authorizationServerMetadata: metadata, authorizationServerUrl } = discovery;
  if (iss === undefined) {
    if (metadata === undefined || Reflect.get(metadata, ISS_SUPPORTED) !== true) return;
    throw failed('issuer', server.serverName, 'the answer to the authorization names no issuer (RFC 9207)');
  }
  const isRight =
    metadata === undefined ? isSameIssuer(iss, authorizationServerUrl) : iss === metadata.issuer;
  if (isRight) return;
  const problem = `the answer to the authorization comes from ${shown(iss)}, which was not asked (RFC 9207)`;
  throw failed('issuer', server.serverName, problem);
}

function failed(
  reason: 'metadata' | 'callback' | 'issuer',
  serverName: string,
  problem: string,
  cause?: unknown,
): MCPAuthorizationFailedError {
  const message = `Server ${JSON.stringify(serverName)}: ${problem}`;
  return new MCPAuthorizationFailedError(reason, { message, serverName, cause });
}
