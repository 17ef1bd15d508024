/** A small MCP server that speaks HTTP+SSE of 2024-11-05 only, at `/sse`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  rpcResult,
  startHttp,
  type HttpTestServer,
  type ReceivedRequest,
  type RpcMessage,
} from './http-server.ts';

export interface LegacySseServer extends HttpTestServer {
  /** Event streams that are open now, oldest first. */
  readonly streams: readonly ServerResponse[];
}

export interface LegacySseOptions {
  /** Gives the answer to a message, or `handled` when it answers by itself, or nothing for the plain answer. */
  readonly onMessage?: (
    message: RpcMessage,
    exchange: {
      readonly request: ReceivedRequest;
      readonly response: ServerResponse;
      readonly stream: ServerResponse;
    },
  ) => object | 'handled' | undefined;
  /** Handles the GET instead of opening a stream. */
  readonly onGet?: (request: ReceivedRequest, response: ServerResponse, incoming: IncomingMessage) => unknown;
}

export async function startLegacySse(options: LegacySseOptions = {}): Promise<LegacySseServer> {
  const streams: ServerResponse[] = [];
  let sessions = 0;
  const bySession = new Map<string, ServerResponse>();
  const http = await startHttp((request, response, incoming) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    if (pathname === '/sse' && request.method === 'GET') {
      if (options.onGet !== undefined) return options.onGet(request, response, incoming);
      const id = String((sessions += 1));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
      bySession.set(id, response);
      streams.push(response);
      return response.on('close', () => {
        bySession.delete(id);
        streams.splice(streams.indexOf(response), 1);
      });
    }
    if (pathname !== '/messages' || request.message === undefined) return response.writeHead(405).end();
    const stream = bySession.get(searchParams.get('session') ?? '');
    if (stream === undefined) return response.writeHead(404).end();
    const answer =
      options.onMessage?.(request.message, { request, response, stream }) ?? rpcResult(request.message);
    if (!response.writableEnded) response.writeHead(202).end('Accepted');
    if (answer !== undefined && answer !== 'handled')
      stream.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    return undefined;
  });
  return Object.assign(http, { streams });
}
