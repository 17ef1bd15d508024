/** Server definitions for `raw-server.mjs`, a real child process that behaves as told. */
import { fileURLToPath } from 'node:url';
import type { StdioServerDefinition } from '../../src/client/index.ts';

export interface RawTool {
  readonly definition: { readonly name: string; readonly [key: string]: unknown };
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly delayMs?: number;
  readonly progress?: readonly object[];
  readonly log?: object;
  /** Never answers. */
  readonly silent?: boolean;
}

export interface RawServer {
  readonly instructions?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly capabilities?: object;
  readonly tools: readonly RawTool[];
}

/** A tool definition with an object schema, and how it behaves. */
export function rawTool(
  name: string,
  behaviour: Omit<RawTool, 'definition'> & { readonly definition?: object } = {},
): RawTool {
  const { definition, ...rest } = behaviour;
  return {
    definition: {
      name,
      description: `tool ${name}`,
      inputSchema: { type: 'object', properties: {} },
      ...definition,
    },
    ...rest,
  };
}

export function rawServer(
  server: RawServer,
  definition: Partial<Omit<StdioServerDefinition, 'command' | 'url'>> = {},
): StdioServerDefinition {
  const script = fileURLToPath(new URL('raw-server.mjs', import.meta.url));
  const { env, ...rest } = definition;
  return {
    command: process.execPath,
    args: [script],
    stderr: 'ignore',
    env: { ...env, SERVER: JSON.stringify({ ...server, tools: [...server.tools, rawTool('__calls')] }) },
    ...rest,
  };
}

/** What a raw server was called with so far. */
export async function callsOf(tool: { execute?: unknown }): Promise<{
  readonly calls: readonly {
    readonly name: string;
    readonly arguments: unknown;
    readonly _meta?: Record<string, unknown>;
  }[];
  readonly cancelled: readonly unknown[];
  readonly initialize: { readonly capabilities: Record<string, unknown> };
  /** Answers to `roots/list`, which is asked when the client declares roots. */
  readonly roots: readonly unknown[];
  readonly cwd: string;
}> {
  const execute = tool.execute as (
    input: unknown,
    context: unknown,
  ) => Promise<{ content: [{ text: string }] }>;
  const { content } = await execute({}, {});
  return JSON.parse(content[0].text) as Awaited<ReturnType<typeof callsOf>>;
}
