/** What tests of resources, prompts and completions share: plain requests, what they are refused with, what is logged. */
import { noopLogger } from '@mastra/core/logger';
import { McpError, ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import type { Caller } from './call-harness.ts';

/** A server of nothing but what is given, which tells nobody what goes wrong. */
export function serverWith(config: Partial<MCPServerConfig>): MCPServer {
  const server = new MCPServer({ name: 'library', version: '1.0.0', ...config });
  server.__setLogger(noopLogger);
  return server;
}

/** Sends a request as it is and takes the answer as it is. */
export async function ask(caller: Caller, method: string, params?: object): Promise<Record<string, unknown>> {
  const request = { method, ...(params === undefined ? {} : { params }) };
  return caller.client.request(request as never, ResultSchema);
}

/** A JSON-RPC error as it was on the wire. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The error with which a request is answered. */
export async function refusalOf(answer: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await answer.then(
    value => new Error(`Answered with ${JSON.stringify(value).slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof McpError)) throw error;
  const { code, data } = error;
  const message = error.message.replace(`MCP error ${code}: `, '');
  return { code, message, ...(data === undefined ? {} : { data }) };
}

/** What the operator of a server reads from now on. */
export function logsOf(server: MCPServer): {
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
} {
  const logs = { warnings: [] as string[], errors: [] as string[] };
  server.__setLogger({
    ...noopLogger,
    warn: message => void logs.warnings.push(message),
    error: message => void logs.errors.push(message),
  });
  return logs;
}
