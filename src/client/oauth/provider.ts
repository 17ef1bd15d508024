/**
 * MCPOAuthClientProvider: who this client is to authorization servers, and where its credentials are kept.
 *
 * Owns the client metadata and the storage; knows nothing of requests. MCPClient drives the login through `session`;
 * hosts that drive it themselves pass the provider to the SDK's `auth()`.
 */
import { randomBytes } from 'node:crypto';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import { MCPAuthorizationFailedError, MCPConfigurationError } from '../../shared/errors.ts';
import { StoredCredentials, type Credentials } from './credentials.ts';
import { assertTrustworthy, resourceFor } from './discovery.ts';
import { isLoopbackRedirect } from './loopback.ts';
import { problemOfBrowserUrl } from './oauth-fetch.ts';
import { InMemoryOAuthStorage, type OAuthStorage } from './storage.ts';

/** What the client says about itself when it registers. */
export type MCPOAuthClientMetadata = OAuthClientMetadata & {
  /** `native` for a loopback redirect, else `web`, unless given. */
  readonly application_type?: 'native' | 'web' | undefined;
};

/** Options of `MCPOAuthClientProvider`. */
export interface MCPOAuthClientProviderOptions {
  /** Where the browser returns to: a loopback address for `authenticate()`, or an endpoint of your web application. */
  readonly redirectUrl: string | URL;
  readonly clientMetadata: MCPOAuthClientMetadata;
  /** Gets the address to open in the browser of the user. Never pass it through a shell. */
  readonly onRedirectToAuthorization?: ((url: URL) => void | Promise<void>) | undefined;
  /** @defaultValue a new `InMemoryOAuthStorage` */
  readonly storage?: OAuthStorage | undefined;
  /** A client that was registered beforehand; `issuer` says at which authorization server. Never replaced. */
  readonly clientInformation?: OAuthClientInformationMixed | undefined;
  /** Https address of a Client ID Metadata Document; used instead of registering where that is supported. */
  readonly clientMetadataUrl?: string | undefined;
  /** Makes the `state` of an authorization; at least 128 random bits. @defaultValue 256 random bits */
  readonly stateGenerator?: (() => string | Promise<string>) | undefined;
}

/** A provider as one server sees it. */
export interface ProviderSession {
  readonly credentials: Credentials;
  /** Whether the client was registered beforehand. */
  readonly isPreRegistered: boolean;
  readonly redirectUrl: URL;
  readonly clientMetadataUrl: string | undefined;
  readonly canRedirect: boolean;
  /** Whether other servers use the same provider. */
  readonly isShared: boolean;
  clientMetadata(): MCPOAuthClientMetadata;
  state(): Promise<string>;
  redirect(url: URL): Promise<void>;
}

/** Known to every loaded copy of this module. */
const SESSION = Symbol.for('@mastra/mcp.oauth-session');

const DEFAULT_CLIENT_NAME = 'Mastra MCP client';

/**
 * An OAuth client for one MCP server: authorization code with PKCE, refresh, dynamic registration, Client ID Metadata
 * Documents and pre-registered clients.
 *
 * Give every server a provider of its own. Credentials are kept by server, so several providers may share a storage.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` for a wrong option.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
export class MCPOAuthClientProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  /** Absent where the client was registered beforehand: such a client is never replaced. */
  saveClientInformation?: (client: OAuthClientInformationMixed) => Promise<void>;

  readonly #options: MCPOAuthClientProviderOptions;
  readonly #storage: OAuthStorage;
  readonly #servers = new Set<string>();
  /** Those of the server the provider is used for; of no server before it is known. */
  #credentials: StoredCredentials;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(options: MCPOAuthClientProviderOptions) {
    check(options);
    this.#options = options;
    this.#storage = options.storage ?? new InMemoryOAuthStorage();
    this.#credentials = new StoredCredentials(this.#storage, undefined);
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    if (options.clientInformation === undefined) {
      this.saveClientInformation = async client => await this.#credentials.saveClient(client);
    }
    Object.defineProperty(this, SESSION, { value: (server: URL) => this.#openSession(server) });
  }

  get redirectUrl(): string {
    return String(this.#options.redirectUrl);
  }

  get clientMetadata(): MCPOAuthClientMetadata {
    const given = this.#options.clientMetadata;
    return {
      ...given,
      client_name: given.client_name ?? DEFAULT_CLIENT_NAME,
      application_type: given.application_type ?? (isLoopbackRedirect(this.redirectUrl) ? 'native' : 'web'),
    };
  }

  async state(): Promise<string> {
    const own = await this.#options.stateGenerator?.();
    return own === undefined || own === '' ? randomBytes(32).toString('base64url') : own;
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    return await this.#clientOf(this.#credentials);
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    return await this.#credentials.tokens();
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    await this.#credentials.saveTokens(tokens);
  }

  async saveCodeVerifier(codeVerifier: string): Promise<void> {
    await this.#credentials.saveVerifier(codeVerifier);
  }

  /** @throws MCPAuthorizationFailedError `token` when no authorization was begun. */
  async codeVerifier(): Promise<string> {
    const verifier = await this.#credentials.verifier();
    if (verifier !== undefined) return verifier;
    throw new MCPAuthorizationFailedError('token', {
      message: 'No authorization was begun: there is no code verifier',
    });
  }

  /** Hands an address to `onRedirectToAuthorization`. @throws MCPAuthorizationFailedError when it must not be opened. */
  async redirectToAuthorization(authorizationUrl: URL): Promise<void> {
    const problem = problemOfBrowserUrl(authorizationUrl);
    if (problem !== undefined) {
      throw new MCPAuthorizationFailedError('metadata', { message: `The authorization address ${problem}` });
    }
    await this.#options.onRedirectToAuthorization?.(authorizationUrl);
  }

  async validateResourceURL(serverUrl: string | URL, resource?: string): Promise<URL | undefined> {
    const server = new URL(serverUrl);
    this.#use(server);
    // A string is sent as it is; as a URL object it would gain a slash.
    return resourceFor(server, resource) as unknown as URL;
  }

  /** What was discovered for this server in this process; its issuer is the one a callback must name. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  /** @throws MCPAuthorizationFailedError `metadata` for what must not be trusted. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    assertTrustworthy(state, { interactive: true });
    this.#discovery = state;
  }

  async invalidateCredentials(kind: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (kind === 'all' || kind === 'discovery') this.#discovery = undefined;
    if (kind !== 'discovery') await this.#credentials.forget(kind);
  }

  /**
   * Forgets everything kept for a server: a logout on this side. Without `serverUrl`, the server the provider was used for.
   */
  async clear(serverUrl?: string | URL): Promise<void> {
    await this.#credentialsFor(serverUrl).forget('all');
    this.#discovery = undefined;
  }

  /** Whether there is an access token that has not ended by its own account. Asks no server. */
  async hasValidTokens(serverUrl?: string | URL): Promise<boolean> {
    const tokens = await this.#credentialsFor(serverUrl).tokens();
    return tokens !== undefined && (tokens.expires_at ?? Infinity) > Date.now() / 1000;
  }

  #credentialsFor(serverUrl: string | URL | undefined): StoredCredentials {
    if (serverUrl === undefined) return this.#credentials;
    return new StoredCredentials(this.#storage, new URL(serverUrl));
  }

  #openSession(server: URL): ProviderSession {
    const credentials = this.#use(server);
    const options = this.#options;
    const isPreRegistered = options.clientInformation !== undefined;
    return {
      credentials: {
        tokens: () => credentials.tokens(),
        saveTokens: tokens => credentials.saveTokens(tokens),
        client: () => this.#clientOf(credentials),
        saveClient: client => credentials.saveClient(isPreRegistered ? withoutSecret(client) : client),
        forget: kind => credentials.forget(kind),
        lock: work => credentials.lock(work),
      },
      isPreRegistered,
      redirectUrl: new URL(options.redirectUrl),
      clientMetadataUrl: options.clientMetadataUrl,
      canRedirect: options.onRedirectToAuthorization !== undefined,
      isShared: this.#servers.size > 1,
      clientMetadata: () => this.clientMetadata,
      state: () => this.state(),
      redirect: url => this.redirectToAuthorization(url),
    };
  }

  /** The first server stays the one that the methods without a server are about. */
  #use(server: URL): StoredCredentials {
    const credentials = new StoredCredentials(this.#storage, server);
    if (this.#servers.size === 0) this.#credentials = credentials;
    this.#servers.add(`${server.origin}${server.pathname}${server.search}`);
    return credentials;
  }

  /** A client registered beforehand stays with the first authorization server that accepted it. */
  async #clientOf(credentials: StoredCredentials): Promise<OAuthClientInformationMixed | undefined> {
    const stored = await credentials.client();
    const given = this.#options.clientInformation;
    if (given === undefined) return stored;
    const issuer = given.issuer ?? (stored?.client_id === given.client_id ? stored.issuer : undefined);
    return issuer === undefined ? given : { ...given, issuer };
  }
}

/** The provider as a server sees it, or `undefined` when it is not an MCPOAuthClientProvider of any loaded copy. */
export function sessionOf(provider: OAuthClientProvider, server: URL): ProviderSession | undefined {
  const open = Reflect.get(provider, SESSION) as ((url: URL) => ProviderSession) | undefined;
  return open?.(server);
}

function withoutSecret(client: OAuthClientInformationMixed): OAuthClientInformationMixed {
  const { client_id, issuer } = client;
  return { client_id, ...(issuer === undefined ? {} : { issuer }) };
}

function check({
  redirectUrl,
  clientMetadata,
  clientMetadataUrl,
  storage,
}: MCPOAuthClientProviderOptions): void {
  const fail = (option: string, problem: string): never => {
    throw new MCPConfigurationError('client', option, problem);
  };
  if (!URL.canParse(String(redirectUrl))) fail('redirectUrl', 'must be a URL');
  if (typeof clientMetadata !== 'object' || clientMetadata === null)
    fail('clientMetadata', 'must be an object');
  if (storage !== undefined && (typeof storage.get !== 'function' || typeof storage.set !== 'function')) {
    fail('storage', 'must have the methods get, set and delete');
  }
  if (clientMetadataUrl === undefined) return;
  const document = URL.canParse(clientMetadataUrl) ? new URL(clientMetadataUrl) : undefined;
  if (document?.protocol !== 'https:' || document.pathname === '/') {
    fail('clientMetadataUrl', 'must be an https address with a path');
  }
}
