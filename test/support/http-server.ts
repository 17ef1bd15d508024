/** A node:http server on a free port that records what it got, and small MCP answers for it to give. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it arrived. `message` is its body when that is JSON. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly message: RpcMessage | undefined;
}

export interface RpcMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
}

export interface HttpTestServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** How many requests of this HTTP method, and of this JSON-RPC method where given, arrived. */
  count(httpMethod: string, rpcMethod?: string): number;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

export type HttpHandler = (
  request: ReceivedRequest,
  response: ServerResponse,
  incoming: IncomingMessage,
) => unknown;

/** Starts a server; an error of the handler becomes a 500. */
export async function startHttp(handler: HttpHandler, port = 0): Promise<HttpTestServer> {
  const requests: ReceivedRequest[] = [];
  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      body,
      message: parse(body),
    };
    requests.push(request);
    try {
      await handler(request, response, incoming);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    }
  };
  const server = createServer((incoming, response) => void receive(incoming, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    origin: `http://127.0.0.1:${actual}`,
    port: actual,
    requests,
    count: (httpMethod, rpcMethod) =>
      requests.filter(
        ({ method, message }) =>
          method === httpMethod && (rpcMethod === undefined || message?.method === rpcMethod),
      ).length,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function parse(body: string): RpcMessage | undefined {
  try {
    return JSON.parse(body) as RpcMessage;
  } catch {
    return undefined;
  }
}

/** The message that a custom `fetch` is asked to send; empty where there is none. */
export function messageOf(init: RequestInit | undefined): RpcMessage {
  return typeof init?.body === 'string' ? (JSON.parse(init.body) as RpcMessage) : {};
}

/** Answers JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** The result of a JSON-RPC request to a small MCP server with the tools `echo` and `read` (read-only). */
export function rpcResult({ id, method, params }: RpcMessage): object | undefined {
  if (id === undefined || method === undefined) return undefined;
  const answer = (result: unknown): object => ({ jsonrpc: '2.0', id, result });
  const tool = (name: string, readOnlyHint: boolean): object => ({
    name,
    description: `tool ${name}`,
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint },
  });
  switch (method) {
    case 'initialize':
      return answer({
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'small', version: '1.0.0' },
      });
    case 'ping':
      return answer({});
    case 'tools/list':
      return answer({ tools: [tool('echo', false), tool('read', true)] });
    case 'tools/call':
      return answer({ content: [{ type: 'text', text: JSON.stringify(params?.['arguments'] ?? null) }] });
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }
}

/** The well-behaved default: JSON answers and no event stream. */
export function answerPlainly(request: ReceivedRequest, response: ServerResponse): void {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const answer = request.message === undefined ? undefined : rpcResult(request.message);
  if (answer === undefined) response.writeHead(202).end();
  else sendJson(response, 200, answer);
}

/** Starts an event-stream answer. */
export function startEvents(response: ServerResponse): (message: unknown, id?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return (message, id) => {
    response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`);
  };
}
