/**
 * The order of log levels, the filter of one receiver, and log messages outside of any call.
 *
 * Holds no level: each session keeps its own, and answers logging/setLevel itself.
 */
import { MCPServerError } from '../../shared/errors.ts';

/** Every level a log message can have, from the least to the most severe (RFC 5424). */
export const loggingLevels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

/**
 * Severity of a log message.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#log-levels
 */
export type LoggingLevel = (typeof loggingLevels)[number];

const severity: ReadonlyMap<string, number> = new Map(loggingLevels.map((level, index) => [level, index]));

/** Whether a value is one of the eight levels, spelled exactly. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return typeof value === 'string' && severity.has(value);
}

/** Whether a receiver that asked for `minimum` wants a message of `level`. Without a minimum it wants every one. */
export function isLevelWanted(level: LoggingLevel, minimum: LoggingLevel | undefined): boolean {
  return minimum === undefined || (severity.get(level) ?? 0) >= (severity.get(minimum) ?? 0);
}

/** A log message to every connected client. */
export interface LogMessageParams {
  readonly level: LoggingLevel;
  /** Anything that has a JSON form; must not hold secrets. */
  readonly data: unknown;
  readonly logger?: string | undefined;
}

/**
 * Hands a log message to whoever publishes events.
 *
 * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` for an unknown level.
 */
export async function sendLoggingMessage(
  { level, data, logger }: LogMessageParams,
  publish: (event: { kind: 'log' } & LogMessageParams) => Promise<void>,
): Promise<void> {
  if (!isLoggingLevel(level)) {
    throw new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
      message: `Unknown log level ${JSON.stringify(level)}`,
      category: 'USER',
    });
  }
  await publish({ kind: 'log', level, data, logger });
}
