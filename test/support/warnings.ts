/** What a client warns of. */
import type { MCPClient } from '../../src/client/index.ts';

/** Collects the warnings of a client from now on, instead of printing them. */
export function warningsOf(client: MCPClient): readonly string[] {
  const warnings: string[] = [];
  const quiet = (): void => undefined;
  const logger = {
    debug: quiet,
    info: quiet,
    warn: (text: string) => void warnings.push(text),
    error: quiet,
    trackException: quiet,
  };
  client.__setLogger(logger as never);
  return warnings;
}
