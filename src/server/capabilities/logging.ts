/**
 * The order of log levels and the filter of one receiver.
 *
 * Does not send anything and holds no level: each session keeps its own.
 */

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
