/** An OAuth provider with a refresh token at hand, so that the SDK can authorize without a user. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';

export function staticAuthProvider(): OAuthClientProvider {
  const redirectUrl = 'http://127.0.0.1/callback';
  return {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: () => ({ client_id: 'c' }),
    tokens: () => ({ access_token: 'a', token_type: 'bearer', refresh_token: 'r' }),
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'v',
  };
}
