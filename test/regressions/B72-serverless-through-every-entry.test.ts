import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createTool } from '@mastra/core/tools';
import express from 'express';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { StreamableHTTPServerTransportOptions } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient, textOf } from '../support/client.ts';
import { serveHttp } from '../support/serve-http.ts';

/** The adapters of the framework, which hand `mcpOptions` on, are in the suite `adapters`. */

interface Instance extends AsyncDisposable {
  send(init: RequestInit | undefined): Promise<Response>;
}

type Open = (server: MCPServer, options: StreamableHTTPServerTransportOptions) => Promise<Instance>;

const atUrl = (url: string | URL, close: () => unknown): Instance => ({
  send: init => fetch(url, init),
  async [Symbol.asyncDispose]() {
    await close();
  },
});

const entries: Readonly<Record<string, Open>> = {
  startHTTP: async (server, options) => {
    const host = await serveHttp(server, options);
    return atUrl(host.url, () => host[Symbol.asyncDispose]());
  },
  'startHTTP behind express.json()': async (server, options) => {
    const app = express();
    app.use(express.json());
    app.all('/mcp', (req, res) => {
      const url = new URL(req.url, 'http://127.0.0.1');
      return server.startHTTP({ url, httpPath: '/mcp', req, res, options });
    });
    const host = app.listen(0, '127.0.0.1');
    await once(host, 'listening');
    return atUrl(`http://127.0.0.1:${(host.address() as AddressInfo).port}/mcp`, () => {
      host.closeAllConnections();
      host.close();
    });
  },
  listen: async (server, options) => {
    const listener = await server.listen({ port: 0, options });
    return atUrl(listener.url, () => listener.close());
  },
  fetch: async (server, options) => ({
    send: init => server.fetch(new Request('http://127.0.0.1/mcp', init), { options }),
    async [Symbol.asyncDispose]() {},
  }),
};

function createServer(name: string) {
  const warnings: string[] = [];
  const where = createTool({
    id: 'where',
    description: 'Says which instance answers',
    inputSchema: z.object({}),
    execute: async () => name,
  });
  const server = new MCPServer({ id: name, name, version: '1.0.0', tools: { where } });
  const warn = (message: string): void => void warnings.push(message);
  server.__setLogger({ debug() {}, info() {}, warn, error() {} } as never);
  return { server, warnings };
}

describe.each(Object.entries(entries))('through %s', (_name, open) => {
  for (const streaming of [false, true]) {
    const options = { serverless: true, serverlessStreaming: streaming };
    verifies(
      'B72',
      `two instances without sticky routing serve one client, with no session in any answer (streaming: ${streaming})`,
      async () => {
        const [left, right] = [createServer('left'), createServer('right')];
        await using one = await open(left.server, options);
        await using two = await open(right.server, options);
        const instances = [one, two];
        const sessions: (string | null)[] = [];
        let requests = 0;
        await using client = openClient({
          app: {
            url: 'http://127.0.0.1/mcp',
            fetch: async (_url, init) => {
              const response = await instances[requests++ % 2]?.send(init);
              sessions.push(response?.headers.get('mcp-session-id') ?? null);
              return response ?? Response.error();
            },
          },
        });
        const { app_where: where } = await client.listTools();
        const answers = [await where?.execute({}), await where?.execute({})].map(textOf);
        expect(answers.toSorted()).toEqual(['left', 'right']);
        expect(client.sessionIds).toEqual({});
        expect(requests).toBeGreaterThanOrEqual(5);
        expect(new Set(sessions)).toEqual(new Set([null]));
        await Promise.all([left.server.close(), right.server.close()]);
      },
    );
  }

  verifies('B72', 'session options beside it do not win, and are not dropped in silence', async () => {
    const { server, warnings } = createServer('both');
    let made = 0;
    const sessionIdGenerator = (): string => `session-${(made += 1)}`;
    await using instance = await open(server, { serverless: true, sessionIdGenerator });
    for (let n = 0; n < 2; n += 1) {
      const response = await instance.send({
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'tools/list' }),
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('mcp-session-id')).toBeNull();
      expect(await response.json()).toMatchObject({ id: n, result: { tools: [{ name: 'where' }] } });
    }
    expect(made).toBe(0);
    expect(warnings.filter(text => text.startsWith('serverless: true keeps no sessions'))).toHaveLength(1);
    await server.close();
  });

  verifies('B72', 'without it there is a session, so that the above says something', async () => {
    const { server } = createServer('stateful');
    await using instance = await open(server, {});
    const response = await instance.send({
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      }),
    });
    expect(response.headers.get('mcp-session-id')).not.toBeNull();
    await response.text();
    await server.close();
  });
});
