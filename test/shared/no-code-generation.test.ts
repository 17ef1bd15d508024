import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';

const script = `
  const { toStandardSchema, validateJson } = await import('./src/shared/schema.ts');
  const { createTool } = await import('@mastra/core/tools');
  try { new Function('return 1'); throw new Error('code generation is allowed'); } catch (error) {
    if (error.name !== 'EvalError') throw error;
  }
  const schema = { type: 'object', properties: { q: { type: 'string', pattern: '^a', format: 'email' } } };
  const tool = createTool({ id: 't', description: 't', inputSchema: toStandardSchema(schema), execute: async i => i });
  const results = [await tool.execute({ q: 'a@b.cd' }, {}), await tool.execute({ q: 'x' }, {}), validateJson(schema, { q: 1 })];
  process.stdout.write(JSON.stringify(results));
`;

verifies(
  ['B26', 'D20'],
  'validates where code generation is forbidden',
  async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--disallow-code-generation-from-strings', '--import', 'tsx', '--input-type=module', '--eval', script],
      { cwd: new URL('../..', import.meta.url), env: { ...process.env, MASTRA_TELEMETRY_DISABLED: '1' } },
    );
    expect(JSON.parse(stdout)).toEqual([
      { q: 'a@b.cd' },
      expect.objectContaining({ error: true, message: expect.stringContaining('q: ') as unknown }),
      [expect.objectContaining({ path: '/q' })],
    ]);
  },
  60_000,
);
