/** What is in the published package, and what is not. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Consumer, createConsumer } from './consumer.ts';

let consumer: Consumer;

beforeAll(async () => {
  consumer = await createConsumer();
});

afterAll(async () => {
  await consumer[Symbol.asyncDispose]();
});

test('holds the build, the documents and nothing else', () => {
  expect(consumer.packed.filter(file => !file.startsWith('dist/')).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  expect(
    consumer.packed.filter(file => !/\.(mjs|cjs|d\.mts|d\.cts)$/.test(file) && file.startsWith('dist/')),
  ).toEqual([]);
});

test('bundles no dependency and loads only what it declares', async () => {
  const root = path.join(consumer.folder, 'node_modules/@mastra/mcp');
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(path.join(root, 'package.json'), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>>;
  const declared = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const problems: string[] = [];

  for (const file of consumer.packed.filter(name => name.startsWith('dist/'))) {
    const code = await readFile(path.join(root, file), 'utf8');
    if (/#region .*node_modules/.test(code)) problems.push(`${file} holds code of a dependency`);
    for (const [, specifier = ''] of code.matchAll(/(?:from|import\(|require\()\s*["']([^"'.][^"']*)["']/g)) {
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (!specifier.startsWith('node:') && !declared.has(name)) problems.push(`${file} loads ${specifier}`);
    }
  }
  expect(problems).toEqual([]);
});
