/** A protected MCP server behind a real socket, for node's requests and for web-standard ones, and requests in raw. */
import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { createOAuthFetchMiddleware, createOAuthMiddleware, MCPServer } from '../../src/server/index.ts';
import type { MCPServerOAuthOptions, OAuthLogger, OAuthMiddlewareResult } from '../../src/server/index.ts';

export const adapters = ['node', 'fetch'] as const;
export type Adapter = (typeof adapters)[number];

export const ISSUER = 'https://auth.example.com';

export interface ProtectedOptions {
  readonly adapter?: Adapter;
  /** Those of the middleware; `resource` is the URL of the host unless given. */
  readonly oauth?: Partial<MCPServerOAuthOptions>;
  readonly mcpPath?: string;
  /** Runs before the middleware. */
  readonly before?: (req: IncomingMessage & { auth?: unknown }) => void;
  /** Answers what the middleware lets through. @defaultValue an MCP server without sessions with `whoami` and `write` */
  readonly behind?: (req: IncomingMessage, res: ServerResponse) => unknown;
}

export interface ProtectedHost extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  /** Whatever was logged, with its level. */
  readonly logs: readonly string[];
  /** What the middleware said, per request. */
  readonly results: readonly OAuthMiddlewareResult[];
  /** Paths of the requests that were let through. */
  readonly passed: readonly string[];
}

export interface RawHttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body, where it is JSON. */
  readonly json: unknown;
}

/** A logger that keeps what it is told. */
export function keepLogs(): OAuthLogger & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  return {
    lines,
    debug: message => void lines.push(`debug ${message}`),
    warn: message => void lines.push(`warn ${message}`),
    error: message => void lines.push(`error ${message}`),
  };
}

/** Tools that say who called them. */
export function whoServer(): MCPServer {
  const tell = (id: string) =>
    createTool({
      id,
      description: id,
      inputSchema: z.object({}),
      execute: async (_input, { mcp }) => JSON.stringify(mcp?.extra.authInfo ?? null),
    });
  return new MCPServer({
    name: 'Who',
    version: '1.0.0',
    tools: { whoami: tell('whoami'), write: tell('write') },
  });
}

/** Serves one. `validateToken` accepts `good` by default. */
export async function startProtected(options: ProtectedOptions = {}): Promise<ProtectedHost> {
  const { adapter = 'node', mcpPath, before } = options;
  const server = whoServer();
  const logger = keepLogs();
  const results: OAuthMiddlewareResult[] = [];
  const passed: string[] = [];
  let handle = async (_req: IncomingMessage, _res: ServerResponse): Promise<void> => {};
  const host = await serve((req, res) => {
    before?.(req);
    void handle(req, res);
  });
  const { origin } = host;
  const oauth: MCPServerOAuthOptions = {
    resource: `${origin}/mcp`,
    authorizationServers: [ISSUER],
    validateToken: async token => (token === 'good' ? { valid: true } : { valid: false }),
    ...options.oauth,
  };
  const init = { oauth, logger, ...(mcpPath === undefined ? {} : { mcpPath }) };
  if (adapter === 'node') {
    const protect = createOAuthMiddleware(init);
    const behind =
      options.behind ??
      ((req: IncomingMessage, res: ServerResponse) =>
        server.startHTTP({
          url: new URL(req.url ?? '/', origin),
          httpPath: '/mcp',
          req,
          res,
          options: { serverless: true },
        }));
    handle = async (req, res) => {
      const result = await protect(req, res, new URL(req.url ?? '/', 'https://mcp.example.com'));
      results.push(result);
      if (!result.proceed) return;
      passed.push(req.url ?? '');
      await behind(req, res);
    };
  } else {
    const protect = createOAuthFetchMiddleware(init);
    handle = async (req, res) => {
      const asked = toRequest(req, origin);
      const { proceed, response, authInfo, tokenValidation } = await protect(asked);
      results.push({
        proceed,
        handled: !proceed,
        ...(tokenValidation === undefined ? {} : { tokenValidation }),
      });
      if (proceed) passed.push(req.url ?? '');
      await sendResponse(
        response ?? (await server.fetch(asked, { authInfo, options: { serverless: true } })),
        res,
      );
    };
  }
  return {
    origin,
    url: `${origin}/mcp`,
    logs: logger.lines,
    results,
    passed,
    async [Symbol.asyncDispose]() {
      await server.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

/** Serves on a free port of the loopback interface. */
export async function serve(
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<AsyncDisposable & { readonly origin: string }> {
  const host = http.createServer((req, res) => void listener(req, res));
  await once(host.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(host.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(host, 'close');
      host.close();
      host.closeAllConnections();
      await closed;
    },
  };
}

function toRequest(req: IncomingMessage, origin: string): Request {
  const headers = new Headers();
  for (let at = 0; at < req.rawHeaders.length; at += 2)
    headers.append(req.rawHeaders[at] ?? '', req.rawHeaders[at + 1] ?? '');
  const hasBody = req.method !== 'GET' && req.method !== 'HEAD' && req.method !== 'OPTIONS';
  return new Request(new URL(req.url ?? '/', origin), {
    method: req.method ?? 'GET',
    headers,
    ...(hasBody ? { body: req as unknown as ReadableStream, duplex: 'half' } : {}),
  });
}

async function sendResponse(response: Response, res: ServerResponse): Promise<void> {
  res.writeHead(response.status, Object.fromEntries(response.headers));
  res.end(Buffer.from(await response.arrayBuffer()));
}

/** One request with every byte of target and headers as given. */
export async function request(
  origin: string,
  init: {
    readonly path?: string;
    readonly method?: string;
    /** Pairs, sent in this order. */
    readonly headers?: readonly (readonly [string, string])[];
    readonly token?: string;
    readonly body?: string;
  } = {},
): Promise<RawHttpAnswer> {
  const { path = '/mcp', method = 'GET', token, body } = init;
  const headers = [...(init.headers ?? [])];
  if (token !== undefined) headers.push(['authorization', `Bearer ${token}`]);
  const sent = http.request(origin, {
    path,
    method,
    headers: ['host', new URL(origin).host, ...headers.flat()],
    agent: false,
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls a tool without a session. */
export function callTool(
  origin: string,
  {
    name = 'whoami',
    token,
    path,
  }: { readonly name?: string; readonly token?: string; readonly path?: string },
): Promise<RawHttpAnswer> {
  return request(origin, {
    ...(path === undefined ? {} : { path }),
    method: 'POST',
    headers: JSON_HEADERS,
    ...(token === undefined ? {} : { token }),
    body: JSON.stringify(toolCall(name)),
  });
}

export const JSON_HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
];

export function toolCall(name: string, id = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } };
}

/** What `whoami` said: the `authInfo` it saw. */
export function authInfoOf(answer: RawHttpAnswer): unknown {
  const { result } = answer.json as { result: { content: readonly [{ text: string }] } };
  return JSON.parse(result.content[0].text);
}

/** The parameters of a challenge. */
export function challengeOf(answer: RawHttpAnswer): Readonly<Record<string, string>> {
  return parseChallenge(answer.headers['www-authenticate'] ?? '');
}

/** Reads a challenge as RFC 9110 defines it; throws for what is none. */
export function parseChallenge(header: string): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  let rest = header.replace(/^Bearer ?/, '');
  while (rest !== '') {
    const found = /^(?<name>[\w-]+)="(?<value>(?:[^"\\]|\\.)*)"(?:, |$)/.exec(rest);
    if (found?.groups === undefined) throw new Error(`Not a challenge: ${header}`);
    const { name = '', value = '' } = found.groups;
    params[name] = value.replaceAll(/\\(.)/g, '$1');
    rest = rest.slice(found[0].length);
  }
  return params;
}
