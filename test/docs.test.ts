/**
 * Code in the documents is code that runs: a fence below `<!-- region: FILE#NAME -->` equals that region of the file,
 * which lies between `// #region NAME` and `// #endregion NAME`.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const FENCE = /<!-- region: (?<file>\S+)#(?<name>\S+) -->\s*```\w+\n(?<code>.*?)^```$/gms;

async function documents(): Promise<readonly string[]> {
  const below = await readdir(path.join(root, 'docs'), { recursive: true });
  return ['README.md', ...below.map(file => `docs/${file}`)].filter(file => file.endsWith('.md'));
}

/** The lines of a region, without the indentation that all of them share. */
function regionOf(source: string, name: string): string {
  const lines = source.split('\n');
  const start = lines.findIndex(line => line.trim() === `// #region ${name}`);
  const end = lines.findIndex(line => line.trim() === `// #endregion ${name}`);
  if (start === -1 || end < start) return `(no region ${name})`;
  const body = lines.slice(start + 1, end);
  const indents = body.filter(line => line.trim() !== '').map(line => line.search(/\S/));
  const indent = Math.min(...indents);
  return body.map(line => `${line.slice(indent)}\n`).join('');
}

test.each(await documents())('%s shows code as it is in the examples', async file => {
  const text = await readFile(path.join(root, file), 'utf8');
  const fences = [...text.matchAll(FENCE)].map(match => match.groups ?? {});
  expect(fences.length, 'a region comment stands directly above its fence').toBe(
    text.split('<!-- region:').length - 1,
  );
  for (const { file: source = '', name = '', code } of fences) {
    expect(code).toBe(regionOf(await readFile(path.join(root, source), 'utf8'), name));
  }
});
