/** A client and the fixture server joined by each way there is; everything is closed with the wire. */
import { fileURLToPath } from 'node:url';
import { MCPClient } from '../../src/client/index.ts';
import type { HttpServerDefinition, StdioServerDefinition } from '../../src/client/index.ts';
import type { MCPServer } from '../../src/server/index.ts';
import { createFixtureServer } from './fixture-server.ts';
import { serveHttp, serveSse, type HttpHost } from './serve-http.ts';

/**
 * `fetch`: in this process, through `server.fetch`. `http`: node:http with sessions. `stateless`: serverless with one
 * buffered answer; `streaming`: serverless with a stream. `sse`: node:http with HTTP+SSE. `stdio`: a child process.
 */
export type WireKind = 'fetch' | 'http' | 'stateless' | 'streaming' | 'sse' | 'stdio';

export const WIRES: readonly WireKind[] = ['fetch', 'http', 'stateless', 'streaming', 'sse', 'stdio'];
/** Ways on which the server can talk back to the client while a call runs. */
export const TWO_WAY: readonly WireKind[] = ['fetch', 'http', 'sse', 'stdio'];

export interface Wire extends AsyncDisposable {
  readonly client: MCPClient;
  /** Absent where the server runs in a child process. */
  readonly server: MCPServer | undefined;
}

type CommonOptions = Partial<
  Omit<StdioServerDefinition, 'command' | 'url'> & Omit<HttpServerDefinition, 'command' | 'url'>
>;

interface WireOptions {
  readonly client?: Omit<CommonOptions, 'args' | 'env'>;
  readonly server?: Parameters<typeof createFixtureServer>[0];
}

let count = 0;

/** Joins a client to the fixture server; the server is called `fixture` in the client. */
export async function wire(kind: WireKind, options: WireOptions = {}): Promise<Wire> {
  count += 1;
  const id = `wire-${process.pid}-${count}`;
  if (kind === 'stdio') {
    const script = fileURLToPath(new URL('fixture-server.ts', import.meta.url));
    const args = ['--import', 'tsx', script];
    const definition = {
      connectTimeout: 30_000,
      stderr: 'ignore',
      ...options.client,
      command: process.execPath,
      args,
    } as const;
    const client = new MCPClient({ id, servers: { fixture: definition } });
    return { client, server: undefined, [Symbol.asyncDispose]: () => client.disconnect() };
  }
  const server = createFixtureServer(options.server);
  const listener = await serve(kind, server);
  const definition: HttpServerDefinition = {
    url: listener?.url ?? 'http://127.0.0.1/mcp',
    ...(kind === 'sse' ? { transport: kind } : {}),
    ...(listener === undefined ? { fetch: (url, init) => server.fetch(new Request(url, init)) } : {}),
    ...(options.client as Partial<HttpServerDefinition>),
  };
  const client = new MCPClient({ id, servers: { fixture: definition } });
  return {
    client,
    server,
    [Symbol.asyncDispose]: async () => {
      await client.disconnect();
      await server.close();
      await listener?.[Symbol.asyncDispose]();
    },
  };
}

async function serve(kind: WireKind, server: MCPServer): Promise<HttpHost | undefined> {
  switch (kind) {
    case 'fetch':
    case 'stdio':
      return undefined;
    case 'http':
      return serveHttp(server);
    case 'sse':
      return serveSse(server);
    case 'stateless':
      return serveHttp(server, { serverless: true });
    case 'streaming':
      return serveHttp(server, { serverless: true, serverlessStreaming: true });
  }
}
