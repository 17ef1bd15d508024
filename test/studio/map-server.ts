/** A server with an MCP App, made with the raw SDK: nothing in it is ours. Counts what it is asked. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const PAGE = 'ui://map/locate';
const mimeType = 'text/html;profile=mcp-app';

export interface MapServer extends AsyncDisposable {
  readonly url: string;
  /** `<tool> <place>` of every call. */
  readonly calls: readonly string[];
}

/** Serves without sessions on a free port; every request has an `McpServer` of its own. */
export async function startMapServer(pageFile: string): Promise<MapServer> {
  const html = await readFile(pageFile, 'utf8');
  const calls: string[] = [];
  const create = (res: ServerResponse): McpServer => {
    const server = new McpServer({ name: 'map-server', version: '4.5.6' });
    const inputSchema = { place: z.string() };
    const _meta = { ui: { resourceUri: PAGE } };
    server.registerTool(
      'locate',
      { title: 'Locate', description: 'Finds a place', inputSchema, _meta },
      ({ place }) => {
        calls.push(`locate ${place}`);
        const structuredContent = { place, on: 'map' };
        return { content: [{ type: 'text', text: `${place} is on the map` }], structuredContent };
      },
    );
    server.registerTool('burn', { description: 'Fails, in one way or another', inputSchema }, ({ place }) => {
      calls.push(`burn ${place}`);
      // The connection is gone before there is an answer.
      if (place === 'bridge') res.destroy();
      return { content: [{ type: 'text', text: `${place} does not burn` }], isError: true };
    });
    server.registerResource('page', PAGE, { mimeType }, () => ({
      contents: [{ uri: PAGE, mimeType, text: html, _meta: { ui: { prefersBorder: true } } }],
    }));
    return server;
  };
  const http = createServer((req, res) => {
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    void create(res)
      .connect(transport as Parameters<McpServer['connect']>[0])
      .then(() => transport.handleRequest(req, res));
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    calls,
    async [Symbol.asyncDispose]() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}
