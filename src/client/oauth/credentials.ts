/**
 * What is kept for one server by one provider, and how it is read and written.
 *
 * Owns the keys: one kind of value per server, with the keys of 1.x (`tokens`, `client_info`, `code_verifier`) as a
 * fallback for a storage that serves one server. Every value says which authorization server it belongs to (`issuer`).
 * Decides nothing about OAuth.
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { isMCPError, MCPAuthorizationFailedError } from '../../shared/errors.ts';
import type { OAuthStorage } from './storage.ts';

/** Tokens with the moment at which the access token ends, where it is known. */
export type StoredTokens = OAuthTokens & {
  /** Seconds since 1970. */
  readonly expires_at?: number | undefined;
};

/** What can be forgotten. */
export type CredentialKind = 'tokens' | 'client' | 'verifier' | 'all';

/** The credentials of one provider for one server. */
export interface Credentials {
  tokens(): Promise<StoredTokens | undefined>;
  saveTokens(tokens: OAuthTokens): Promise<void>;
  client(): Promise<OAuthClientInformationMixed | undefined>;
  saveClient(client: OAuthClientInformationMixed): Promise<void>;
  forget(kind: CredentialKind): Promise<void>;
  /** Runs `work` while no other holder of the same credentials does. */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

const KEYS = { tokens: 'tokens', client: 'client_info', verifier: 'code_verifier' } as const;
type Key = (typeof KEYS)[keyof typeof KEYS];

/** The server that first used a storage in this process: only that one may take over values of 1.x. */
const firstServer = new WeakMap<OAuthStorage, string>();

/** Credentials in an OAuthStorage. */
export class StoredCredentials implements Credentials {
  readonly #storage: OAuthStorage;
  /** Absent as long as the provider does not know its server; the keys of 1.x are used then. */
  readonly #server: string | undefined;

  constructor(storage: OAuthStorage, server: URL | undefined) {
    this.#storage = storage;
    this.#server = server === undefined ? undefined : `${server.origin}${server.pathname}${server.search}`;
    if (this.#server !== undefined && !firstServer.has(storage)) firstServer.set(storage, this.#server);
  }

  async tokens(): Promise<StoredTokens | undefined> {
    const value = parse(await this.#get(KEYS.tokens));
    return typeof value?.['access_token'] === 'string' ? (value as StoredTokens) : undefined;
  }

  async saveTokens(tokens: OAuthTokens): Promise<void> {
    const { expires_in: seconds } = tokens;
    const end = seconds === undefined ? {} : { expires_at: Math.floor(Date.now() / 1000) + seconds };
    await this.#set(KEYS.tokens, JSON.stringify({ ...tokens, ...end }));
  }

  async client(): Promise<OAuthClientInformationMixed | undefined> {
    const value = parse(await this.#get(KEYS.client));
    return typeof value?.['client_id'] === 'string' ? (value as OAuthClientInformationMixed) : undefined;
  }

  async saveClient(client: OAuthClientInformationMixed): Promise<void> {
    await this.#set(KEYS.client, JSON.stringify(client));
  }

  async verifier(): Promise<string | undefined> {
    return await this.#get(KEYS.verifier);
  }

  async saveVerifier(verifier: string): Promise<void> {
    await this.#set(KEYS.verifier, verifier);
  }

  async forget(kind: CredentialKind): Promise<void> {
    const keys = kind === 'all' ? Object.values(KEYS) : [KEYS[kind]];
    await ofStorage(async () => {
      for (const key of keys) {
        await this.#storage.delete(this.#keyOf(key));
        if (this.#mayUseOldKeys) await this.#storage.delete(key);
      }
    });
  }

  async lock<T>(work: () => Promise<T>): Promise<T> {
    const storage = this.#storage;
    if (storage.lock === undefined) return await work();
    return await ofStorage(async () => (await storage.lock?.(this.#keyOf(KEYS.tokens), work)) as T);
  }

  get #mayUseOldKeys(): boolean {
    return this.#server !== undefined && firstServer.get(this.#storage) === this.#server;
  }

  #keyOf(key: Key): string {
    return this.#server === undefined ? key : `${key} ${this.#server}`;
  }

  async #get(key: Key): Promise<string | undefined> {
    return await ofStorage(async () => {
      // `null` is what many databases say instead.
      const value = (await this.#storage.get(this.#keyOf(key))) ?? undefined;
      if (value !== undefined || !this.#mayUseOldKeys) return value;
      return (await this.#storage.get(key)) ?? undefined;
    });
  }

  async #set(key: Key, value: string): Promise<void> {
    await ofStorage(async () => {
      await this.#storage.set(this.#keyOf(key), value);
      if (this.#mayUseOldKeys) await this.#storage.delete(key);
    });
  }
}

/** Credentials in a provider of somebody else, which knows one server only. */
export function credentialsIn(provider: OAuthClientProvider): Credentials {
  return {
    tokens: () => ofStorage(async () => (await provider.tokens()) ?? undefined),
    saveTokens: tokens => ofStorage(async () => await provider.saveTokens(tokens)),
    client: () => ofStorage(async () => (await provider.clientInformation()) ?? undefined),
    saveClient: client => ofStorage(async () => await provider.saveClientInformation?.(client)),
    forget: kind => ofStorage(async () => await provider.invalidateCredentials?.(kind)),
    lock: work => work(),
  };
}

/** Tells a failure of the user's storage apart from one of the network. */
async function ofStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isMCPError(cause)) throw cause;
    throw new MCPAuthorizationFailedError('storage', {
      message: 'The storage of the OAuth provider failed; its error is the cause of this one',
      cause,
    });
  }
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
