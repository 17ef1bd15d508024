/** The official runners, as they are published: run against a URL, and what they say about each scenario. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `0.1` is 0.1.16, `0.2` is 0.2.0-alpha.12; the lock file of test/foreign pins both. */
export type RunnerVersion = '0.1' | '0.2';

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface ConformanceRun {
  readonly exitCode: number;
  /** What was checked, by the name of the scenario. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

export interface ConformanceOptions {
  readonly node: string;
  /** The packages of test/foreign. */
  readonly foreign: string;
  readonly version: RunnerVersion;
  readonly url: string;
  /** Which scenarios, in the words of the runner. */
  readonly args: readonly string[];
}

/** Its mock servers bind every interface unless told otherwise. */
const loopback = fileURLToPath(new URL('../support/loopback.mjs', import.meta.url));
const RUN_LIMIT_MS = 120_000;

/** Runs server scenarios, one after the other. Rejects when the runner does not end or leaves no results. */
export async function runServerScenarios(options: ConformanceOptions): Promise<ConformanceRun> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    const { url, args } = options;
    const exitCode = await run(options, ['server', '--url', url, ...args], folder);
    const scenarios = await readResults(folder);
    if (scenarios.size === 0) throw new Error(`The runner left no results; it ended with ${exitCode}`);
    return { exitCode, scenarios };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface ClientConformanceOptions extends Omit<ConformanceOptions, 'url'> {
  readonly scenario: string;
  /** Program to be run as the client, with its arguments; none may hold a space. */
  readonly command: readonly string[];
}

/** Runs one client scenario; together they would starve each other of time. Rejects as `runServerScenarios` does. */
export async function runClientScenario(options: ClientConformanceOptions): Promise<ConformanceRun> {
  const { scenario, command, args, ...rest } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    const script = ['client', '--command', command.join(' '), '--scenario', scenario];
    const exitCode = await run(rest, [...script, ...args], folder);
    // Scenarios called `auth/…` are a folder deeper.
    const results = path.join(folder, path.dirname(scenario));
    const [entry = ''] = await readdir(results).catch(() => []);
    const checks = await readFile(path.join(results, entry, 'checks.json'), 'utf8').catch(() => '[]');
    return { exitCode, scenarios: new Map([[scenario, JSON.parse(checks) as Check[]]]) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the checks that failed say, by scenario. Empty when everything is right. */
export function failuresOf(
  { scenarios }: ConformanceRun,
  status: Check['status'] = 'FAILURE',
): Record<string, string[]> {
  const failed: Record<string, string[]> = {};
  for (const [name, checks] of scenarios) {
    const texts = checks
      .filter(check => check.status === status)
      .map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`);
    if (texts.length > 0) failed[name] = texts;
  }
  return failed;
}

function run(
  { node, foreign, version }: Pick<ConformanceOptions, 'node' | 'foreign' | 'version'>,
  args: readonly string[],
  folder: string,
): Promise<number> {
  const script = path.join(foreign, `conformance-${version}/dist/index.js`);
  const all = ['--import', loopback, script, ...args, '--output-dir', folder];
  return new Promise((resolve, reject) => {
    execFile(node, all, { timeout: RUN_LIMIT_MS, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve(0);
      else if (typeof error.code === 'number') resolve(error.code);
      else reject(new Error(`The runner was ended: ${stdout.slice(-2000)}${stderr.slice(-2000)}`));
    });
  });
}

/** One folder per scenario, called `server-<scenario>-<time>`. */
async function readResults(folder: string): Promise<Map<string, readonly Check[]>> {
  const scenarios = new Map<string, readonly Check[]>();
  for (const entry of await readdir(folder)) {
    const name = /^server-(?<scenario>.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(entry)?.groups?.['scenario'];
    if (name === undefined) continue;
    const checks = await readFile(path.join(folder, entry, 'checks.json'), 'utf8');
    scenarios.set(name, JSON.parse(checks) as Check[]);
  }
  return scenarios;
}
