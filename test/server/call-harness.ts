/** SDK clients joined to an MCPServer in this process: over the in-memory transport, and over `server.fetch`. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { MCPServer, MCPServerFetchOptions } from '../../src/server/index.ts';

/** A form that a client was shown. */
export interface ShownForm {
  readonly message: string;
  readonly requestedSchema: Record<string, unknown>;
}

export interface CallerOptions {
  /** Answers forms; without it the client cannot be asked. */
  readonly onElicit?: (form: ShownForm) => ElicitResult | Promise<ElicitResult>;
  readonly roots?: readonly string[];
  readonly onNotification?: (method: string, params: Record<string, unknown>) => void;
}

/** A connected client. */
export interface Caller extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** The text of a result. */
  text(name: string, args?: Record<string, unknown>): Promise<string>;
}

async function connect(transport: Transport, options: CallerOptions): Promise<Caller> {
  const { onElicit, onNotification, roots } = options;
  const client = new Client(
    { name: 'test-client', version: '3.2.1' },
    {
      capabilities: {
        ...(onElicit === undefined ? {} : { elicitation: { form: {} } }),
        ...(roots === undefined ? {} : { roots: {} }),
      },
    },
  );
  if (onElicit !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => onElicit(params as ShownForm));
  }
  if (roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: roots.map(uri => ({ uri })) }));
  }
  client.fallbackNotificationHandler = async ({ method, params }) => onNotification?.(method, params ?? {});
  await client.connect(transport);
  const call: Caller['call'] = async (name, args) =>
    (await client.callTool(args === undefined ? { name } : { name, arguments: args })) as CallToolResult;
  return {
    client,
    call,
    text: async (name, args) => textOf(await call(name, args)),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function textOf(result: CallToolResult): string {
  return result.content.map(block => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');
}

/** Joins a client to the server in memory. */
export async function callInMemory(server: MCPServer, options: CallerOptions = {}): Promise<Caller> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.getServer().connect(far);
  return connect(near, options);
}

/** Joins a client to the server by web-standard requests. */
export async function callByFetch(
  server: MCPServer,
  options: CallerOptions & { readonly facts?: MCPServerFetchOptions } = {},
): Promise<Caller> {
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => server.fetch(new Request(url, init), options.facts),
  });
  return connect(transport, options);
}

/** Waits until a condition holds, at most two seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 2000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('The condition did not come true');
    await new Promise(resolve => {
      setTimeout(resolve, 5);
    });
  }
}
