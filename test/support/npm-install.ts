/** Installs what only some tests need, once, on first need. Packages of the repository itself come by `npm ci`. */
import { execFile } from 'node:child_process';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** What npm answers when no registry can be reached. */
const OFFLINE = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENETUNREACH',
  'ENOTCACHED',
]);
const LIMIT_MS = 600_000;

export interface Installation {
  readonly folder: string;
  /** Arguments of npm, run for `folder`. */
  readonly npm: readonly string[];
  readonly isComplete: () => Promise<boolean>;
}

/**
 * Runs npm unless the installation is complete. Test files that run at the same time share one run.
 *
 * Resolves to `false`, with the reason printed, when no registry can be reached and this is not CI.
 *
 * @throws Error when npm fails for any other reason.
 */
export async function installOnce(installation: Installation): Promise<boolean> {
  if (await installation.isComplete()) return true;
  const lock = path.join(installation.folder, '.installing');
  await mkdir(installation.folder, { recursive: true });
  if (!(await acquire(lock))) {
    await released(lock);
    return installation.isComplete();
  }
  try {
    await npm([...installation.npm, '--prefix', installation.folder]);
    return true;
  } catch (error) {
    const code = /npm error code (\w+)/.exec(String(error))?.[1] ?? '';
    if (!OFFLINE.has(code) || process.env['CI'] !== undefined) throw error;
    console.warn(`Skipped: npm reaches no registry (${code}) to install ${installation.folder}`);
    return false;
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Takes the lock; one left behind by a run that was killed counts for nothing. */
async function acquire(lock: string): Promise<boolean> {
  const made = await mkdir(lock).then(
    () => true,
    () => false,
  );
  if (made) return true;
  const age = await stat(lock).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  if (age < LIMIT_MS) return false;
  await rm(lock, { recursive: true, force: true });
  return acquire(lock);
}

async function released(lock: string): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end;) {
    if (
      await stat(lock).then(
        () => false,
        () => true,
      )
    )
      return;
    await wait(250);
  }
}

/**
 * What npm prints on standard output.
 *
 * @throws Error with what it printed on standard error.
 */
export function npm(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const quiet = ['--no-audit', '--no-fund'];
    execFile(
      'npm',
      [...args, ...quiet],
      { timeout: LIMIT_MS, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`npm ${args.join(' ')} failed\n${stderr}`, { cause: error }));
      },
    );
  });
}
