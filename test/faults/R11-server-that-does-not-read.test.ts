import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';

interface Report {
  readonly outcomes: readonly {
    readonly code: string;
    readonly mayHaveExecuted?: boolean;
    readonly afterMs: number;
  }[];
  readonly growth: number;
}

verifies(
  'R11',
  'calls beyond 8 MiB that wait unread reject at once, the others by their limit, and memory stays bounded',
  async () => {
    const script = fileURLToPath(new URL('fixtures/not-read.ts', import.meta.url));
    const run = await promisify(execFile)(process.execPath, ['--expose-gc', '--import', 'tsx', script]);
    const { outcomes, growth } = JSON.parse(run.stdout) as Report;
    expect(run.stderr).toBe('');
    const refused = outcomes.filter(({ code }) => code === 'MCP_CLIENT_BACKPRESSURE');
    const waited = outcomes.filter(({ code }) => code === 'MCP_CLIENT_REQUEST_TIMEOUT');
    expect(refused.length + waited.length).toBe(50);
    expect(waited.length).toBeLessThanOrEqual(9);
    for (const { mayHaveExecuted, afterMs } of refused) {
      expect(mayHaveExecuted).toBe(false);
      expect(afterMs).toBeLessThan(4000);
    }
    expect(growth).toBeLessThan(30e6);
  },
  60_000,
);
