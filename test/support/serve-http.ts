/** `startHTTP` and `startSSE` on a free port, as a host with a node:http server of its own does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MCPServer, StreamableHTTPServerTransportOptions } from '../../src/server/index.ts';

export interface HttpHost extends AsyncDisposable {
  readonly url: URL;
}

type Before = (req: IncomingMessage & { auth?: unknown }) => void;
type Handler = (url: URL, req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Serves at `/mcp`; disposing cuts every connection and leaves the MCPServer alone. `before` is a middleware in front: it may
 * put the caller on `req.auth`.
 */
export function serveHttp(
  server: MCPServer,
  options?: StreamableHTTPServerTransportOptions,
  before?: Before,
): Promise<HttpHost> {
  const more = options === undefined ? {} : { options };
  return serve('/mcp', before, (url, req, res) =>
    server.startHTTP({ url, httpPath: '/mcp', req, res, ...more }),
  );
}

/** Serves HTTP+SSE at `/sse` as `serveHttp` serves at `/mcp`. */
export function serveSse(server: MCPServer, before?: Before): Promise<HttpHost> {
  return serve('/sse', before, (url, req, res) =>
    server.startSSE({ url, ssePath: '/sse', messagePath: '/messages', req, res }),
  );
}

async function serve(path: string, before: Before | undefined, handle: Handler): Promise<HttpHost> {
  const host = createServer((req, res) => {
    before?.(req);
    void handle(new URL(req.url ?? '/', 'http://127.0.0.1'), req, res);
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const { port } = host.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}${path}`),
    async [Symbol.asyncDispose]() {
      const closed = once(host, 'close');
      host.close();
      host.closeAllConnections();
      await closed;
    },
  };
}
