/** Every requirement row is cited by a test or says why it is not built. Reads the sources of the tests, runs none. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rows } from './rows.ts';

const tests = fileURLToPath(new URL('..', import.meta.url));
const CITATION = /\bverifies\(\s*(?<ids>'[^']+'|\[[^\]]+\])/g;

async function citations(): Promise<ReadonlyMap<string, string>> {
  const cited = new Map<string, string>();
  for (const file of await readdir(tests, { recursive: true })) {
    if (!file.endsWith('.test.ts') || file.startsWith('foreign')) continue;
    const source = await readFile(path.join(tests, file), 'utf8');
    for (const { groups } of source.matchAll(CITATION)) {
      for (const [, id] of (groups?.['ids'] ?? '').matchAll(/'([^']+)'/g)) cited.set(id ?? '', file);
    }
  }
  return cited;
}

test('every requirement row is cited by a test or deferred with a reason, never both', async () => {
  const cited = await citations();
  const deferred = Object.keys(rows).filter(id => rows[id]?.deferred !== undefined);

  expect(Object.keys(rows).filter(id => !cited.has(id) && !deferred.includes(id))).toEqual([]);
  expect(deferred.filter(id => cited.has(id) || rows[id]?.deferred?.trim() === '')).toEqual([]);
});

test('no test cites a row that does not exist', async () => {
  expect([...(await citations())].filter(([id]) => !(id in rows))).toEqual([]);
});
