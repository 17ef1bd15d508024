/** Every example runs. An example is `examples/<story>/<story>.ts`; it checks its own results and ends by itself. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const LIMIT_MS = 180_000;

const folders = (await readdir(`${root}/examples`)).filter(name => name !== 'support');
const toEntry = (story: string): string => `examples/${story}/${story}.ts`;

test('every folder of examples is a story', () => {
  expect(folders.filter(story => !existsSync(root + toEntry(story)))).toEqual([]);
});

test.each(folders)(
  '%s runs and finds what it expects',
  async story => {
    const example = run(process.execPath, ['--import', 'tsx', toEntry(story)], {
      cwd: root,
      timeout: LIMIT_MS,
      env: { ...process.env, MASTRA_TELEMETRY_DISABLED: '1', MODEL: undefined },
    });
    await expect(example).resolves.toBeDefined();
  },
  LIMIT_MS + 10_000,
);
