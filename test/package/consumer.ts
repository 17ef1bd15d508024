/** A project that has the packed package installed, beside the dependencies that this repository has. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npm } from '../support/npm-install.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const run = promisify(execFile);

export interface Consumer extends AsyncDisposable {
  readonly folder: string;
  /** Paths of the files in the published package. */
  readonly packed: readonly string[];
}

export interface ConsumerInit {
  /** What the project is made of. */
  readonly files: string;
  /** Folders of packages; of one that is in several, the first counts. */
  readonly packages: readonly string[];
}

/** Packs what was built and installs it in a folder of its own, with the files of the project beside it. */
export async function createConsumer({
  files = fixtures,
  packages = [path.join(root, 'node_modules')],
}: Partial<ConsumerInit> = {}): Promise<Consumer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-consumer-'));
  const modules = path.join(folder, 'node_modules');
  const installed = path.join(modules, '@mastra/mcp');
  await mkdir(installed, { recursive: true });
  for (const from of packages) await linkDependencies(from, modules);
  await cp(files, folder, { recursive: true });

  const [packed] = JSON.parse(
    await npm(['pack', root, '--json', '--ignore-scripts', '--pack-destination', folder]),
  ) as readonly { readonly filename: string; readonly files: readonly { readonly path: string }[] }[];
  if (packed === undefined) throw new Error('npm packed nothing');
  await run('tar', ['-xzf', path.join(folder, packed.filename), '-C', installed, '--strip-components=1']);
  return {
    folder,
    packed: packed.files.map(file => file.path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Links every package of `from` that is not there yet into `to`. */
async function linkDependencies(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (name.startsWith('.')) continue;
    if (name.startsWith('@')) {
      await mkdir(path.join(to, name), { recursive: true });
      await linkDependencies(path.join(from, name), path.join(to, name));
    } else if (!existsSync(path.join(to, name))) {
      await symlink(path.join(from, name), path.join(to, name));
    }
  }
}
