/** A Mastra logger that keeps every line, at every level. */
import { noopLogger } from '@mastra/core/logger';
import type { IMastraLogger } from '@mastra/core/logger';

export interface RecordingLogger {
  readonly logger: IMastraLogger;
  /** `<level> <text>`, with whatever came along as JSON. */
  readonly lines: readonly string[];
}

export function recordingLogger(): RecordingLogger {
  const lines: string[] = [];
  const at =
    (level: string) =>
    (text: string, ...more: readonly unknown[]): void =>
      void lines.push(`${level} ${text} ${more.map(one => JSON.stringify(one)).join(' ')}`.trim());
  const levels = Object.fromEntries(['debug', 'info', 'warn', 'error'].map(level => [level, at(level)]));
  const logger = Object.assign(Object.create(noopLogger) as IMastraLogger, levels);
  return { logger, lines };
}
