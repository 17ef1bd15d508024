/**
 * Asks every server at once and keeps each failure apart; backs every `list*` and `list*WithErrors`.
 *
 * Owns the per-server limit and the shape of reports. Does not know what is asked.
 */
import { isMCPError, MCPRequestError, type AnyMCPError } from '../shared/errors.ts';
import type { Connection } from './connection/connection.ts';
import { quote, toRequestError } from './connection/to-error.ts';

/** The longest that a timer can wait; it would end at once where more is asked of it. */
const MAX_TIMER_MS = 0x7fff_ffff;

/** The servers of one client, as the rooms that ask them see them. */
export interface Servers {
  /** In the order of the configuration. */
  readonly all: readonly Connection[];
  /**
   * One server by its name.
   *
   * @throws MCPConfigurationError for an unknown name, or MCPRequestError with the code given here.
   */
  get(
    serverName: string,
    unknown?: { readonly code: UnknownServerCode; readonly method: string },
  ): Connection;
  readonly warn: (text: string) => void;
}

/** Codes of a request that names an unknown server; those of 1.x. */
export type UnknownServerCode =
  | 'MCP_CLIENT_READ_RESOURCE_FAILED'
  | 'MCP_CLIENT_GET_PROMPT_FAILED'
  | 'MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED';

/** Options of every `…WithErrors` listing. */
export interface ListWithErrorsOptions {
  /**
   * Most time for one server in milliseconds, connecting included.
   * @defaultValue `connectTimeout` for connecting, then the smaller of `timeout` and 30 s for all pages
   */
  readonly perServerTimeoutMs?: number | undefined;
}

/** A tool that could not be listed as it was sent. */
export interface ToolProblem {
  readonly toolName: string;
  /** `name`: left out. `schema`: listed with a permissive schema. `collision`: listed under another name. */
  readonly kind: 'name' | 'schema' | 'collision';
  readonly reason: string;
}

/** What went wrong at one server. */
export interface ServerErrorDetails {
  /** Set when the server failed as a whole. */
  readonly error?: AnyMCPError;
  /** Why a listing ended early, when it did. */
  readonly stopped?: string;
  /** How many resources, templates or prompts were left out, because they had no URI or name. */
  readonly leftOut?: number;
  readonly tools: readonly ToolProblem[];
}

/** What one server gave. */
export interface ServerOutcome<T> {
  readonly connection: Connection;
  readonly value?: T;
  readonly error?: AnyMCPError;
  /** Milliseconds until the outcome was known. */
  readonly durationMs: number;
}

/**
 * Asks all servers in parallel, each within its limit; the signal ends what takes longer. Never rejects; the order is that
 * of the configuration.
 */
export async function askEvery<T>(
  connections: readonly Connection[],
  method: string,
  ask: (connection: Connection, signal?: AbortSignal) => Promise<T>,
  options: ListWithErrorsOptions,
): Promise<readonly ServerOutcome<T>[]> {
  return await Promise.all(
    connections.map(async (connection): Promise<ServerOutcome<T>> => {
      const started = performance.now();
      const took = (): number => performance.now() - started;
      try {
        const value = await within(options.perServerTimeoutMs, connection, method, ask);
        return { connection, value, durationMs: took() };
      } catch (error) {
        const { serverName } = connection;
        const typed = isMCPError(error) ? error : toRequestError(error, { serverName, method });
        return { connection, error: typed, durationMs: took() };
      }
    }),
  );
}

async function within<T>(
  limitMs: number | undefined,
  connection: Connection,
  method: string,
  ask: (connection: Connection, signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return await ask(connection);
  const { serverName } = connection;
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        reject(
          new MCPRequestError('MCP_CLIENT_REQUEST_TIMEOUT', {
            message: `Server ${quote(serverName)}, ${method}: no answer within ${limitMs} ms (perServerTimeoutMs)`,
            serverName,
            method,
            mayHaveExecuted: true,
          }),
        );
        controller.abort();
      },
      Math.min(limitMs, MAX_TIMER_MS),
    );
  });
  try {
    return await Promise.race([ask(connection, controller.signal), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** What every `…WithErrors` listing gives beside its values. */
export interface ListErrors {
  /** Message by server, for servers that failed as a whole. */
  readonly errors: Record<string, string>;
  /** Everything that went wrong, by server; servers without a problem are absent. */
  readonly errorDetails: Record<string, ServerErrorDetails>;
  /** Milliseconds each server took. */
  readonly durations: Record<string, number>;
}

/** Sorts outcomes into what users read; `noteOf` adds what went wrong at a server that answered. */
export function toListErrors<T>(
  outcomes: readonly ServerOutcome<T>[],
  noteOf: (outcome: ServerOutcome<T>) => Partial<Omit<ServerErrorDetails, 'error'>>,
): ListErrors {
  const errors: [string, string][] = [];
  const errorDetails: [string, ServerErrorDetails][] = [];
  const durations: [string, number][] = [];
  for (const outcome of outcomes) {
    const { error, durationMs } = outcome;
    const { serverName } = outcome.connection;
    const { tools = [], stopped, leftOut = 0 } = noteOf(outcome);
    durations.push([serverName, durationMs]);
    if (error !== undefined) errors.push([serverName, error.message]);
    if (error === undefined && stopped === undefined && tools.length + leftOut === 0) continue;
    const details: ServerErrorDetails = {
      ...(error === undefined ? {} : { error }),
      ...(stopped === undefined ? {} : { stopped }),
      ...(leftOut === 0 ? {} : { leftOut }),
      tools,
    };
    errorDetails.push([serverName, details]);
  }
  return {
    errors: Object.fromEntries(errors),
    errorDetails: Object.fromEntries(errorDetails),
    durations: Object.fromEntries(durations),
  };
}
