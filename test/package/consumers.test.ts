/** The published package in the hands of its users: as ESM and as CJS, on other versions of Node.js and TypeScript. */
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureForeign } from '../support/foreign.ts';
import { ensureNode } from '../support/node-binary.ts';
import { type Consumer, createConsumer } from './consumer.ts';

const run = promisify(execFile);
const foreign = await ensureForeign();
const node24 = await ensureNode(24);
const ownTypeScript = fileURLToPath(new URL('../../node_modules/typescript', import.meta.url));

let consumer: Consumer;

beforeAll(async () => {
  consumer = await createConsumer();
  const source = path.join(consumer.folder, 'consumer.mts');
  await cp(source, source.replace('.mts', '.cts'));
});

afterAll(async () => {
  await consumer[Symbol.asyncDispose]();
});

describe.each([
  ['this version of Node.js', process.execPath],
  ['Node.js 24', node24],
])('on %s', (_, node) => {
  test.skipIf(node === undefined).each(['consumer.mjs', 'consumer.cjs'])(
    '%s serves a tool, calls it and ends by itself',
    async file => {
      const options = {
        cwd: consumer.folder,
        timeout: 60_000,
        env: { ...process.env, MASTRA_TELEMETRY_DISABLED: '1' },
      };
      const { stdout, stderr } = await run(node ?? '', ['--trace-uncaught', file], options);
      expect({ stdout, stderr }).toEqual({ stdout: 'done\n', stderr: '' });
    },
  );
});

/** Lines that a compiler prints for the consumer's sources; none when they are right. */
async function compile(typescript: string, options: readonly string[]): Promise<readonly string[]> {
  const files = ['consumer.mts', 'consumer.cts'];
  const all = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', ...options, ...files];
  const print = (result: { stdout: string }): readonly string[] => result.stdout.split('\n').filter(Boolean);
  const tsc = path.join(typescript, 'bin/tsc');
  return run(process.execPath, [tsc, ...all], { cwd: consumer.folder, maxBuffer: 2 ** 26 }).then(
    print,
    print,
  );
}

test.skipIf(foreign === undefined).each([
  ['5.9.3', `${foreign}/typescript-5.9`, ['--module', 'nodenext']],
  ['6.0.3', ownTypeScript, ['--module', 'nodenext']],
  ['7.0.2', `${foreign}/typescript-7.0`, ['--module', 'nodenext']],
  [
    '7.0.2, for a bundler,',
    `${foreign}/typescript-7.0`,
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ],
])('TypeScript %s accepts the code of a consumer', async (_, typescript, options) => {
  expect(await compile(typescript, ['--skipLibCheck', ...options])).toEqual([]);
});

test.skipIf(foreign === undefined)('no error lies in our own declarations', async () => {
  const lines = await compile(`${foreign}/typescript-7.0`, ['--module', 'nodenext']);
  expect(lines.filter(line => line.startsWith('node_modules/@mastra/mcp/'))).toEqual([]);
});
