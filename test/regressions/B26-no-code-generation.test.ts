import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';

verifies(
  ['B26', 'D20'],
  'listing and calling works where code generation is forbidden, on both sides',
  async () => {
    const script = fileURLToPath(new URL('no-code-generation-main.ts', import.meta.url));
    const args = ['--import', 'tsx', '--disallow-code-generation-from-strings', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
      forbidden: true,
      valid: { sum: 3 },
      invalid: true,
      plain: '{"q":"x"}',
      plainInvalid: true,
    });
  },
  90_000,
);
