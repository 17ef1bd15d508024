/** `startHTTP` on a free port, as a host with a node:http server of its own does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MCPServer, StreamableHTTPServerTransportOptions } from '../../src/server/index.ts';

export interface HttpHost extends AsyncDisposable {
  readonly url: URL;
}

/** Serves at `/mcp`; disposing cuts every connection and leaves the MCPServer alone. */
export async function serveHttp(
  server: MCPServer,
  options?: StreamableHTTPServerTransportOptions,
): Promise<HttpHost> {
  const host = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    void server.startHTTP({ url, httpPath: '/mcp', req, res, ...(options === undefined ? {} : { options }) });
  });
  await once(host.listen(0, '127.0.0.1'), 'listening');
  const { port } = host.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async [Symbol.asyncDispose]() {
      const closed = once(host, 'close');
      host.close();
      host.closeAllConnections();
      await closed;
    },
  };
}
