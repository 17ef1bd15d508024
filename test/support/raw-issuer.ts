/**
 * A protected MCP server and its authorization server on one origin, with every answer the test's to change, and a
 * browser that follows redirects. What a real one does is in `authorization-server.ts`.
 */
import type { ServerResponse } from 'node:http';
import {
  answerPlainly,
  sendJson,
  startHttp,
  type HttpTestServer,
  type ReceivedRequest,
} from './http-server.ts';

type Json = Readonly<Record<string, unknown>>;

/** An answer: JSON, or a text as it is. */
export interface RawAnswer {
  readonly status: number;
  readonly body: Json | string;
}

export interface RawIssuerOptions {
  /** Changes the metadata of the authorization server; `undefined` makes it 404. */
  readonly metadata?: (document: Json) => Json | undefined;
  /** Changes the metadata of the resource; `undefined` makes it 404. */
  readonly resource?: (document: Json) => Json | undefined;
  /** What the browser brings back besides `state`, or instead of it. @defaultValue a code and the issuer */
  readonly returns?: (params: {
    readonly code: string;
    readonly iss: string;
  }) => Readonly<Record<string, string>>;
  /** Answers a registration; `undefined` registers. */
  readonly register?: (metadata: Json, attempt: number) => RawAnswer | undefined;
  /** Answers a token request; `undefined` grants. */
  readonly token?: (
    form: URLSearchParams,
    request: ReceivedRequest,
  ) => RawAnswer | undefined | Promise<RawAnswer | undefined>;
  /** Scopes of the challenge of a 401. */
  readonly scope?: string;
  /** Answers anything before all others; `true` when it did. */
  readonly override?: (request: ReceivedRequest, response: ServerResponse) => boolean;
}

export interface RawIssuer extends AsyncDisposable {
  readonly http: HttpTestServer;
  readonly issuer: string;
  /** The MCP endpoint. */
  readonly url: string;
  /** Access tokens that the MCP endpoint accepts. */
  readonly accepted: Set<string>;
  /** Forms posted to the token endpoint. */
  readonly tokenRequests: readonly URLSearchParams[];
  /** Bodies posted to the registration endpoint. */
  readonly registrations: readonly Json[];
  /** Queries of the authorization endpoint. */
  readonly authorizations: readonly URLSearchParams[];
}

/** A document without one of its members. */
export const without =
  (name: string) =>
  (document: Json): Json =>
    Object.fromEntries(Object.entries(document).filter(([key]) => key !== name));

export async function startRawIssuer(options: RawIssuerOptions = {}): Promise<RawIssuer> {
  const accepted = new Set<string>();
  const tokenRequests: URLSearchParams[] = [];
  const registrations: Json[] = [];
  const authorizations: URLSearchParams[] = [];
  let issued = 0;
  const reply = (response: ServerResponse, { status, body }: RawAnswer): void => {
    if (typeof body !== 'string') return sendJson(response, status, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const document = (response: ServerResponse, value: Json | undefined): void =>
    value === undefined ? void response.writeHead(404).end() : sendJson(response, 200, value);

  const http: HttpTestServer = await startHttp(async (request, response) => {
    if (options.override?.(request, response) === true) return;
    const issuer = http.origin;
    const { pathname, searchParams } = new URL(request.url, issuer);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      const own = { resource: `${issuer}/mcp`, authorization_servers: [issuer] };
      return document(response, options.resource === undefined ? own : options.resource(own));
    }
    if (pathname === '/.well-known/oauth-authorization-server') {
      const own = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      };
      return document(response, options.metadata === undefined ? own : options.metadata(own));
    }
    if (pathname === '/register') {
      const metadata = JSON.parse(request.body) as Json;
      registrations.push(metadata);
      const refusal = options.register?.(metadata, registrations.length);
      return reply(
        response,
        refusal ?? { status: 201, body: { ...metadata, client_id: `client-${registrations.length}` } },
      );
    }
    if (pathname === '/authorize') {
      authorizations.push(searchParams);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const own = { code: `code-of-${authorizations.length}-0123456789`, iss: issuer };
      const params = { state: searchParams.get('state') ?? '', ...(options.returns?.(own) ?? own) };
      for (const [name, value] of Object.entries(params)) back.searchParams.set(name, value);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/token') {
      const form = new URLSearchParams(request.body);
      tokenRequests.push(form);
      const refusal = await options.token?.(form, request);
      if (refusal !== undefined) return reply(response, refusal);
      issued += 1;
      const tokens = {
        access_token: `access-${issued}-0123456789`,
        refresh_token: `refresh-${issued}-0123456789`,
      };
      accepted.clear();
      accepted.add(tokens.access_token);
      return sendJson(response, 200, { ...tokens, token_type: 'Bearer', expires_in: 300 });
    }
    if (pathname !== '/mcp') return response.writeHead(404).end();
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token !== undefined && accepted.has(token)) return answerPlainly(request, response);
    const scope = options.scope === undefined ? '' : `, scope="${options.scope}"`;
    const metadata = `resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
    return response
      .writeHead(401, { 'www-authenticate': `Bearer error="invalid_token", ${metadata}${scope}` })
      .end();
  });
  return {
    http,
    issuer: http.origin,
    url: `${http.origin}/mcp`,
    accepted,
    tokenRequests,
    registrations,
    authorizations,
    [Symbol.asyncDispose]: () => http.close(),
  };
}
