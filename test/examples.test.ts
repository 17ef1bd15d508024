/** Every example runs. An example is `examples/<story>/<story>.ts`; it checks its own results and ends by itself. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const stories = (await readdir(`${root}/examples`, { withFileTypes: true })).filter(entry =>
  entry.isDirectory(),
);

test.each(stories.map(story => story.name))(
  '%s runs and finds what it expects',
  async story => {
    const example = run(process.execPath, ['--import', 'tsx', `examples/${story}/${story}.ts`], {
      cwd: root,
    });
    await expect(example).resolves.toBeDefined();
  },
  120_000,
);
