/**
 * Log messages of servers on their way to the user's handler and to the logger of the client.
 *
 * Owns the translation of MCP levels. Does not filter: the server does, by its own level.
 */
import type { IMastraLogger } from '@mastra/core/logger';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
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
 * Hands one `notifications/message` to the handler of the server definition and to the logger; nothing when
 * `enableServerLogs` is off. A level that is none is taken as `info`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
export function takeServerLog(
  definition: ResolvedServerDefinition,
  event: LogEvent,
  logger: IMastraLogger,
): void {
  if (!definition.enableServerLogs) return;
  const { serverName } = definition;
  const level = Object.hasOwn(LOGGER_METHODS, event.level) ? event.level : 'info';
  const text = '[MCP SERVER LOG]';
  const details = { ...(event.logger === undefined ? {} : { logger: event.logger }), data: event.data };
  logger[LOGGER_METHODS[level]](`[${serverName}] ${text}`, details);
  const message: LogMessage = {
    level,
    message: text,
    timestamp: new Date(),
    serverName,
    details,
    requestContext: null,
  };
  definition.logHandler?.(message);
}
