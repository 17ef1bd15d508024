/** A client as users have it, and what its tools say. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { MCPClient, type MastraMCPServerDefinition } from '../../src/client/index.ts';
import { isMCPError, type AnyMCPError } from '../../src/shared/errors.ts';
import type { Program } from './node-program.ts';

/** A client of its own identity; dispose it with `await using`. */
export function openClient(servers: Record<string, MastraMCPServerDefinition>): MCPClient {
  return new MCPClient({ id: randomUUID(), servers });
}

/** Runs one of the programs in `test/regressions/inputs`. */
export function regressionInput(file: string): Program {
  return {
    command: process.execPath,
    args: [fileURLToPath(new URL(`../regressions/inputs/${file}`, import.meta.url))],
    stderr: 'ignore',
  };
}

type Execute = (input: unknown, context?: object) => Promise<unknown>;

/** The `execute` of a tool, by prefixed name. */
export async function executeOf(client: MCPClient, name: string): Promise<Execute> {
  const tools = await client.listTools();
  const tool = tools[name];
  if (tool === undefined) throw new Error(`No tool ${name} among ${Object.keys(tools).join(', ')}`);
  return async (input, context = {}) =>
    await (tool.execute as (i: unknown, c: object) => unknown)(input, context);
}

/** The text of a tool result. */
export function textOf(result: unknown): string {
  const { content } = result as { content: readonly { type: string; text?: string }[] };
  return content.map(block => block.text ?? '').join('\n');
}

/** The error of this module with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<AnyMCPError> {
  const error = await promise.then(
    value => new Error(`Fulfilled with ${JSON.stringify(value)?.slice(0, 200)}`),
    (reason: unknown) => reason,
  );
  if (isMCPError(error)) return error;
  throw error;
}
