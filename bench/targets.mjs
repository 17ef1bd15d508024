// Which builds can be measured, where they are found, and what to do when one is missing.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startChild } from './child.mjs';

/** A mistake of the caller or a missing installation: said in one line, without a stack. */
export class UsageError extends Error {}

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const BASE = { name: 'raw', kind: 'raw' };
export const FLOOR = { name: 'floor', kind: 'floor' };

const urlOf = path => pathToFileURL(resolve(path)).href;
const build = file => ({ kind: 'mastra', module: urlOf(file), home: urlOf(file) });

/** The targets of `--targets`, base first; `published` is the folder in which 1.18.0 is installed. */
export function parseTargets(text, published) {
  const known = {
    raw: BASE,
    floor: FLOOR,
    ours: build(resolve(ROOT, 'dist/index.mjs')),
    published: { ...build(resolve(published, 'package.json')), module: '@mastra/mcp-published' },
  };
  const targets = text.split(',').map(item => {
    const [name, source = name] = item.split(/=(.*)/s);
    if (!Object.hasOwn(known, source) && !existsSync(source))
      throw new UsageError(`--targets: ${item} is neither a known target nor a file`);
    return { ...(known[source] ?? build(source)), name };
  });
  return [BASE, ...targets.filter(target => target.name !== BASE.name)];
}

/** @throws UsageError with the remedy when a target cannot be loaded. */
export async function requireTarget(target) {
  const remedy = { ours: 'run `npm run build` first', published: 'run `npm ci --prefix test/foreign` first' };
  try {
    await (await startChild(target)).stop();
  } catch (error) {
    const hint = remedy[target.name] ?? 'see bench/README.md';
    const reason = error.message.replace(/\n\s+at .*/g, '');
    throw new UsageError(`target ${target.name} cannot be loaded (${hint}): ${reason}`);
  }
}
