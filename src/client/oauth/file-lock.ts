/**
 * A lock between processes: a file that only one of them can create.
 *
 * Owns waiting for it, taking it over from a process that died, and giving it back. Works on one machine; a network file
 * system must create files exclusively.
 */
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A holder older than this is taken for dead, whatever its process: nothing done under a lock may take as long. */
const MAX_HOLD_MS = 120_000;
/** A lock file without content for this long was left by a process that died while writing it. */
const MAX_WRITE_MS = 5000;
const POLL_MS = 20;

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

/**
 * Runs `work` while holding the lock.
 *
 * @throws Error when the lock is not free within `limitMs`, or what `work` throws.
 */
export async function withFileLock<T>(path: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
  const deadline = performance.now() + limitMs;
  while (!(await take(path, own))) {
    if (await isAbandoned(path)) continue;
    if (performance.now() > deadline)
      throw new Error(`The lock ${JSON.stringify(path)} was not free in time`);
    await sleep(POLL_MS * (1 + Math.random()));
  }
  try {
    return await work();
  } finally {
    // Only ours: another process may have taken it over, had this one stood still for too long.
    if ((await readFile(path, 'utf8').catch(() => '')) === own) await unlink(path).catch(() => undefined);
  }
}

async function take(path: string, own: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(own);
  } finally {
    await file.close();
  }
  return true;
}

/** Whether the lock has become free because its holder is gone; removes what that one left. */
async function isAbandoned(path: string): Promise<boolean> {
  const found = await readFile(path, 'utf8').catch(() => undefined);
  const facts = await stat(path).catch(() => undefined);
  if (found === undefined || facts === undefined) return true;
  const ageMs = Date.now() - facts.mtimeMs;
  if (!isDead(found, ageMs)) return false;
  // Renaming succeeds for one of those who wait; the next holder may already have been faster than all of them.
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return true;
  }
  if ((await readFile(aside, 'utf8').catch(() => '')) !== found) {
    await link(aside, path).catch(() => undefined);
  }
  await unlink(aside).catch(() => undefined);
  return true;
}

function isDead(holder: string, ageMs: number): boolean {
  if (ageMs > MAX_HOLD_MS) return true;
  const { pid, host } = parse(holder);
  if (pid === undefined) return ageMs > MAX_WRITE_MS;
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function parse(holder: string): { readonly pid?: number; readonly host?: string } {
  try {
    return JSON.parse(holder) as { pid?: number; host?: string };
  } catch {
    return {};
  }
}
