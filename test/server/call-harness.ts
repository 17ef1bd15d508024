/** SDK clients joined to an MCPServer in this process: over the in-memory transport, and over `server.fetch`. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type {
  CallToolResult,
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResultWithTools,
  ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { MCPServer, MCPServerFetchOptions } from '../../src/server/index.ts';

/** A form or a page that a client was shown. */
export interface ShownForm {
  readonly message: string;
  readonly requestedSchema: Record<string, unknown>;
  readonly url?: string;
  readonly elicitationId?: string;
}

export interface CallerOptions {
  /** Answers forms; without it the client cannot be asked. */
  readonly onElicit?: (form: ShownForm, signal: AbortSignal) => ElicitResult | Promise<ElicitResult>;
  readonly roots?: readonly string[];
  /** Answers requests to the model; without it the client has none. */
  readonly onSample?: (
    params: CreateMessageRequestParams,
  ) => CreateMessageResultWithTools | Promise<CreateMessageResultWithTools>;
  /** Declared in place of what follows from the handlers. */
  readonly capabilities?: ClientCapabilities;
  readonly onNotification?: (method: string, params: Record<string, unknown>) => void;
}

/** A connected client. */
export interface Caller extends AsyncDisposable {
  readonly client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** The text of a result. */
  text(name: string, args?: Record<string, unknown>): Promise<string>;
}

/** Joins a client over a transport of the SDK. */
export async function callOver(transport: Transport, options: CallerOptions = {}): Promise<Caller> {
  const { onElicit, onNotification, onSample, roots } = options;
  const capabilities = options.capabilities ?? {
    ...(onElicit === undefined ? {} : { elicitation: { form: {} } }),
    ...(roots === undefined ? {} : { roots: {} }),
    ...(onSample === undefined ? {} : { sampling: {} }),
  };
  const client = new Client({ name: 'test-client', version: '3.2.1' }, { capabilities });
  if (onElicit !== undefined && capabilities.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) =>
      onElicit(params as ShownForm, signal),
    );
  }
  if (onSample !== undefined && capabilities.sampling !== undefined) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => onSample(params));
  }
  if (roots !== undefined && capabilities.roots !== undefined) {
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
  return callOver(near, options);
}

/** Joins a client to whatever serves Streamable HTTP there. */
export function callAt(url: URL, options: CallerOptions = {}): Promise<Caller> {
  return callOver(new StreamableHTTPClientTransport(url), options);
}

/** Joins a client to the server by web-standard requests. */
export async function callByFetch(
  server: MCPServer,
  options: CallerOptions & { readonly facts?: MCPServerFetchOptions } = {},
): Promise<Caller> {
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: async (url, init) => server.fetch(new Request(url, init), options.facts),
  });
  return callOver(transport, options);
}

/** Joins a client over a socket. */
export async function callByUrl(
  url: URL,
  options: CallerOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Caller> {
  const headers = { ...options.headers };
  return callOver(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), options);
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
