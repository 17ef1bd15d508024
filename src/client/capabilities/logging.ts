/**
 * Log messages of servers on their way to the user's handler and to the logger of the client.
 *
 * Owns the translation of MCP levels. Does not filter: the server does, by its own level.
 */
import type { IMastraLogger } from '@mastra/core/logger';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { Connection } from '../connection/connection.ts';
import type { PeerEvent } from '../connection/peer.ts';
import type { LogMessage, ResolvedServerDefinition } from '../options.ts';

type LogEvent = Extract<PeerEvent, { kind: 'log' }>;

const LOGGER_METHODS: Readonly<Record<LoggingLevel, 'debug' | 'info' | 'warn' | 'error'>> = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
};

/**
 * Hands one `notifications/message` to the logger and to the handler of the server definition; nothing when
 * `enableServerLogs` is off. A level that is none is taken as `info`. Rejects as the handler does.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
export async function takeServerLog(
  definition: ResolvedServerDefinition,
  event: LogEvent,
  logger: IMastraLogger,
): Promise<void> {
  if (!definition.enableServerLogs) return;
  const { serverName } = definition;
  const level = Object.hasOwn(LOGGER_METHODS, event.level) ? event.level : 'info';
  const text = `[${serverName}] [MCP SERVER LOG]`;
  const details = { ...(event.logger === undefined ? {} : { logger: event.logger }), data: event.data };
  logger[LOGGER_METHODS[level]](text, details);
  const message: LogMessage = {
    level,
    message: text,
    timestamp: new Date(),
    serverName,
    details,
    requestContext: null,
  };
  // A handler typed as returning nothing may still be an async function.
  await (definition.logHandler?.(message) as unknown);
}

/**
 * Asks a server for log messages of this level and above, now and after every reconnect.
 *
 * @throws AnyMCPError
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level
 */
export async function setLogLevel(connection: Connection, level: LoggingLevel): Promise<void> {
  await connection.wish({ method: 'logging/setLevel', params: { level } });
}
