/**
 * Callbacks that the author of a server gave: how each is run, and what its failure is to a client.
 *
 * Owns that what they return can be sent. Does not decide what it means.
 */
import type { RequestContext } from '@mastra/core/request-context';
import type { MCPToolExecutionContext } from '@mastra/core/tools';
import { isMCPError, MCPServerError } from '../../shared/errors.ts';
import type { MCPErrorCode } from '../../shared/errors.ts';
import { toJsonValue } from '../../shared/json-value.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import type { CallContext } from '../calls/call-context.ts';
import { toUrlElicitationRequired } from '../calls/tool-failure.ts';

/** What every callback learns about the request that it answers. */
export interface RequestFacts {
  /** The same as `context.mcp.extra` in a tool: who calls, the session, a signal that aborts with the request. */
  readonly extra: MCPToolExecutionContext['extra'];
  /** What the host and its middleware know about this request, and its `user`. */
  readonly requestContext: RequestContext;
}

/** The facts of one call. */
export function toRequestFacts(call: CallContext): RequestFacts {
  return { extra: call.mcp.extra, requestContext: call.requestContext };
}

/** Codes with which an author may answer a client: they are about what was asked. */
const ANSWERS: ReadonlySet<MCPErrorCode> = new Set([
  'MCP_SERVER_PARAMS_INVALID',
  'MCP_SERVER_RESOURCE_NOT_FOUND',
  'MCP_SERVER_CLIENT_CAPABILITY_MISSING',
]);

/**
 * Runs a callback and gives what it returned in the form it can have in JSON: a value that cannot be written would leave
 * the request without an answer.
 *
 * @throws MCPServerError `MCP_SERVER_CALLBACK_FAILED` when it throws, with one line of what it said. A request for a page
 * that the user has to open first, and errors of ours about what was asked, pass as they are.
 */
export async function runCallback<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return toJsonValue(await run()) as T;
  } catch (error) {
    if (isMCPError(error) && ANSWERS.has(error.code)) throw error;
    throw toUrlElicitationRequired(error) ?? callbackFailed(name, `failed: ${toErrorText(error)}`, error);
  }
}

/**
 * Runs a callback that lists something.
 *
 * @throws MCPServerError `MCP_SERVER_CALLBACK_FAILED` when it throws, or does not return an array.
 */
export async function runListing<T>(
  name: string,
  run: () => readonly T[] | Promise<readonly T[]>,
): Promise<readonly T[]> {
  const listed = await runCallback(name, run);
  if (!Array.isArray(listed)) throw callbackFailed(name, 'must return an array');
  return listed;
}

/** What a callback did wrong. Its caller gets the text. */
export function callbackFailed(name: string, problem: string, cause?: unknown): MCPServerError {
  return new MCPServerError('MCP_SERVER_CALLBACK_FAILED', { message: `${name} ${problem}`, cause });
}

/** Whether the callback itself is at fault. */
export function isCallbackFailure(error: unknown): boolean {
  return isMCPError(error) && error.code === 'MCP_SERVER_CALLBACK_FAILED';
}

/** What a client asked for in a way that cannot be answered. */
export function invalidParams(message: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_PARAMS_INVALID', { message, category: 'USER' });
}

/** One page holds everything a callback lists, so no cursor can have come from here. */
export function refuseCursor(params: unknown): void {
  if (Reflect.get(Object(params), 'cursor') !== undefined) throw invalidParams('Unknown cursor');
}

/**
 * Reads an object of strings, as arguments of prompts and completions are; absent is empty.
 *
 * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` naming `what`.
 */
export function readStrings(given: unknown, what: string): Readonly<Record<string, string>> {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidParams(`${what} must be an object`);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string') throw invalidParams(`${what}: ${JSON.stringify(name)} must be a string`);
  }
  return given as Readonly<Record<string, string>>;
}

/** A schema of the SDK, by which its clients refuse a whole answer. */
interface WireSchema {
  safeParse(value: unknown): { readonly success: boolean; readonly error?: unknown };
}

/** Why clients would refuse a value, in one line; `undefined` when they would take it. */
export function findProblem(value: unknown, schema: WireSchema): string | undefined {
  const { success, error } = schema.safeParse(value);
  return success ? undefined : toErrorText(error);
}

/** The entries that clients take: one that they refuse would cost them all others. It is left out with a warning. */
export function keepUsable<T>(
  callback: string,
  entries: readonly T[],
  check: { readonly findProblem: (entry: T) => string | undefined; readonly warn: (message: string) => void },
): T[] {
  return entries.filter((entry, index) => {
    const problem = check.findProblem(entry);
    if (problem !== undefined) check.warn(`Entry ${index} of ${callback} is left out: ${problem}`);
    return problem === undefined;
  });
}
