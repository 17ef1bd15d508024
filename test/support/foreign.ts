/** The packages of other people in test/foreign, which the suites run against. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnce } from './npm-install.ts';

const folder = fileURLToPath(new URL('../foreign', import.meta.url));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string; readonly optional?: boolean }>>;
}

const readLock = async (name: string): Promise<Lock> =>
  JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Lock;

/** Whether node_modules holds what the lock file says; npm notes at the end of an installation what it did. */
async function isComplete(): Promise<boolean> {
  const wanted = await readLock('package-lock.json');
  const found = await readLock('node_modules/.package-lock.json').catch(() => undefined);
  return Object.entries(wanted.packages).every(
    ([name, { integrity, optional }]) =>
      name === '' || optional === true || found?.packages[name]?.integrity === integrity,
  );
}

/**
 * Path of the installed packages of test/foreign, installed by `npm ci` on first need.
 *
 * Resolves to `undefined`, with the reason printed, when they are missing and no registry can be reached.
 */
export async function ensureForeign(): Promise<string | undefined> {
  const installed = await installOnce({ folder, npm: ['ci', '--ignore-scripts'], isComplete });
  return installed ? path.join(folder, 'node_modules') : undefined;
}
