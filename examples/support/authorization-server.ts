/** A small authorization server in memory, whose one user agrees to everything. For examples only: it proves nothing. */
import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Who a token was given to, and what for. */
interface Grant {
  readonly scope: string;
  readonly resource: string;
}

export interface AuthorizationServer {
  readonly issuer: string;
  /** How many tokens were given for what kind of grant. */
  readonly grants: Readonly<Record<string, number>>;
  /** What a token is good for. */
  check(token: string): Grant | undefined;
  /** Ends every access token. */
  endAccessTokens(): void;
  close(): void;
}

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const codes = new Map<string, Grant & { readonly challenge: string }>();
  const accessTokens = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const grants: Record<string, number> = {};
  let issuer = '';

  const give = (grant: Grant): object => {
    const [accessToken, refreshToken] = [randomUUID(), randomUUID()];
    accessTokens.set(accessToken, grant);
    refreshTokens.set(refreshToken, grant);
    return { access_token: accessToken, refresh_token: refreshToken, token_type: 'Bearer', expires_in: 300 };
  };

  const answer = (
    url: URL,
    body: string,
  ): { readonly status: number; readonly json?: object; readonly to?: URL } => {
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return {
          status: 200,
          json: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            registration_endpoint: `${issuer}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none'],
            authorization_response_iss_parameter_supported: true,
          },
        };
      case '/register':
        return { status: 201, json: { ...(JSON.parse(body) as object), client_id: randomUUID() } };
      case '/authorize': {
        const { searchParams: asked } = url;
        const code = randomUUID();
        codes.set(code, {
          scope: asked.get('scope') ?? '',
          resource: asked.get('resource') ?? '',
          challenge: asked.get('code_challenge') ?? '',
        });
        const to = new URL(asked.get('redirect_uri') ?? '');
        to.search = new URLSearchParams({ code, iss: issuer, state: asked.get('state') ?? '' }).toString();
        return { status: 302, to };
      }
      case '/token': {
        const form = new URLSearchParams(body);
        const kind = form.get('grant_type') ?? '';
        const code = codes.get(form.get('code') ?? '');
        const digest = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const refreshed = refreshTokens.get(form.get('refresh_token') ?? '');
        const grant = code?.challenge === digest ? code : refreshed;
        // Both can be used once.
        codes.delete(form.get('code') ?? '');
        refreshTokens.delete(form.get('refresh_token') ?? '');
        if (grant === undefined) return { status: 400, json: { error: 'invalid_grant' } };
        grants[kind] = (grants[kind] ?? 0) + 1;
        return { status: 200, json: give(grant) };
      }
      default:
        return { status: 404 };
    }
  };

  const server = http.createServer((req, res) => {
    let body = '';
    req.on('data', chunk => (body += String(chunk)));
    req.on('end', () => {
      const { status, json, to } = answer(new URL(req.url ?? '/', issuer), body);
      if (to !== undefined) res.setHeader('location', to.href);
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json ?? {}));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    grants,
    check: token => accessTokens.get(token),
    endAccessTokens: () => accessTokens.clear(),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
