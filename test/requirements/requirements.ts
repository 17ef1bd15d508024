/** The test wrapper that cites requirement rows; the rows are in `rows.ts`, `coverage.test.ts` finds the uncited. */
import { test } from 'vitest';
import { rows } from './rows.ts';

/**
 * A test that cites the requirement rows it proves.
 *
 * @throws Error when a row is not in the manifest.
 */
export function verifies(
  ids: string | readonly string[],
  title: string,
  body: () => unknown,
  timeout?: number,
): void {
  const list = typeof ids === 'string' ? [ids] : ids;
  for (const id of list) {
    if (!(id in rows)) throw new Error(`Unknown requirement row ${JSON.stringify(id)} cited by "${title}"`);
  }
  test(
    `[${list.join(' ')}] ${title}`,
    async () => {
      await body();
    },
    timeout,
  );
}
