/** Providers for a loopback login, and users who open what they are given. */
import { MCPOAuthClientProvider, type MCPOAuthClientProviderOptions } from '../../src/client/index.ts';

export interface TestUser<T> {
  readonly onRedirectToAuthorization: (url: URL) => void;
  /** The addresses that were to be opened. */
  readonly opened: readonly URL[];
  /** What each visit came to. */
  readonly visits: readonly Promise<T>[];
}

/** Where a browser ended. */
export interface PageSeen {
  readonly status: number;
  readonly html: string;
}

/** Opens an address and follows its redirects. */
export async function follow(url: URL): Promise<PageSeen> {
  const response = await fetch(url);
  return { status: response.status, html: await response.text() };
}

/** A user with a browser; by default one that only follows redirects. */
export function testUser(): TestUser<PageSeen>;
export function testUser<T>(visit: (url: URL) => Promise<T>): TestUser<T>;
export function testUser(visit: (url: URL) => Promise<unknown> = follow): TestUser<unknown> {
  const opened: URL[] = [];
  const visits: Promise<unknown>[] = [];
  return {
    opened,
    visits,
    onRedirectToAuthorization(url) {
      opened.push(url);
      const visited = visit(url);
      visited.catch(() => undefined);
      visits.push(visited);
    },
  };
}

/** A provider for a loopback login, on a port the system chooses unless `redirectUrl` says otherwise. */
export function loopbackProvider(
  options: Partial<MCPOAuthClientProviderOptions> & { readonly redirectUrl?: string } = {},
): MCPOAuthClientProvider {
  const { redirectUrl = 'http://127.0.0.1:0/oauth/callback' } = options;
  return new MCPOAuthClientProvider({
    clientMetadata: {
      redirect_uris: [redirectUrl],
      client_name: 'Test client',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    ...options,
    redirectUrl,
  });
}
