import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { until } from '../support/processes.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';
import type { SoakSample } from './fixtures/soak.ts';

const CYCLES = scaled(2000, 200);

/** Bytes per 500 cycles: the slope of the straight line that fits best. */
function slope(samples: readonly SoakSample[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map(({ cycles }) => cycles));
  const y = mean(samples.map(({ heapUsed }) => heapUsed));
  const covariance = mean(samples.map(({ cycles, heapUsed }) => (cycles - x) * (heapUsed - y)));
  return (500 * covariance) / mean(samples.map(({ cycles }) => (cycles - x) ** 2));
}

verifies(
  'R25',
  `${CYCLES} cycles of connecting, calling and disconnecting leave no session, no process, no descriptor and no memory`,
  async () => {
    await using server = await startServerProcess();
    const script = fileURLToPath(new URL('fixtures/soak.ts', import.meta.url));
    const args = [
      '--expose-gc',
      '--import',
      'tsx',
      script,
      `http://127.0.0.1:${server.port}/mcp`,
      String(CYCLES),
    ];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect(stderr).toBe('');
    const { samples, unhandled } = JSON.parse(stdout) as {
      readonly samples: readonly SoakSample[];
      readonly unhandled: readonly string[];
    };
    // The first cycles load and compile what all need.
    const steady = samples.slice(5);
    const heap = slope(steady);
    const heaps = samples.map(({ heapUsed }) => (heapUsed / 1e6).toFixed(1));
    console.info(
      `R25: ${CYCLES} cycles, heap ${heaps.join(' ')} MB, ${(heap / 1e6).toFixed(2)} MB per 500 cycles`,
    );
    console.info(`R25: descriptors ${samples.map(({ descriptors }) => descriptors).join(' ')}`);
    console.info(`R25: ${JSON.stringify(samples.at(-1)?.resources)}`);
    expect(unhandled).toEqual([]);
    expect(new Set(samples.map(({ children }) => children)).size).toBe(1);
    const [first, last] = [samples[1], samples.at(-1)];
    // Fewer cycles have no slope yet, only what they left.
    const left = (last?.heapUsed ?? 0) - (steady[0]?.heapUsed ?? 0);
    expect(CYCLES === 2000 ? heap : left).toBeLessThan(1e6);
    expect((last?.descriptors ?? 0) - (first?.descriptors ?? 0)).toBeLessThanOrEqual(4);
    await until('every session has ended', async () => {
      const { opened, closed } = await server.ask('measure');
      return opened === CYCLES && closed === CYCLES;
    });
  },
  SCALE_LIMIT_MS * 2,
);
