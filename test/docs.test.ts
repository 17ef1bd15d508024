/**
 * Documents that cannot lie: code in them is code that runs, links lead somewhere, every error code is explained.
 *
 * A fence below `<!-- region: FILE#NAME -->` equals that region of the file: what lies between `// #region NAME` and
 * `// #endregion NAME`. A region may come in several pieces, which are joined; the package is imported by its name.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { verifies } from './requirements/requirements.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const FENCE = /<!-- region: (?<file>\S+)#(?<name>\S+) -->\s*```\w+\n(?<code>.*?)^```$/gms;
const OUR_PATH = "'../../src/index.ts'";
const OUR_NAME = "'@mastra/mcp'";

const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8');
const below = await readdir(path.join(root, 'docs'), { recursive: true });
const documents = ['README.md', ...below.map(file => `docs/${file}`)].filter(file => file.endsWith('.md'));

/** The pieces of a region, each without the indentation that its lines share, with one empty line between them. */
function regionOf(source: string, name: string): string {
  const pieces: string[][] = [];
  let piece: string[] | undefined;
  for (const line of source.split('\n')) {
    const marker = /^\s*\/\/ #(?<end>end)?region (?<region>\S+)/.exec(line)?.groups;
    if (marker === undefined) piece?.push(line);
    else if (marker['region'] === name) {
      if (marker['end'] === undefined) pieces.push((piece = []));
      else piece = undefined;
    }
  }
  if (pieces.length === 0) return `(no region ${name})`;
  return `${pieces.map(withoutIndent).join('\n\n')}\n`.replaceAll(OUR_PATH, OUR_NAME);
}

function withoutIndent(lines: readonly string[]): string {
  const indents = lines.filter(line => line.trim() !== '').map(line => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines
    .map(line => line.slice(indent))
    .join('\n')
    .trim();
}

/** What GitHub calls the headings of a document in links. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

describe.each(documents)('%s', file => {
  test('shows code as it is in the examples', async () => {
    const text = await read(file);
    const fences = [...text.matchAll(FENCE)].map(match => match.groups ?? {});
    expect(fences, 'each region comment stands directly above its fence').toHaveLength(
      text.split('<!-- region:').length - 1,
    );
    expect(text.match(/^```[jt]s$/gm) ?? [], 'each fence of code has one').toHaveLength(fences.length);
    for (const { file: source = '', name = '', code } of fences) {
      expect(code, `${source}#${name}`).toBe(regionOf(await read(source), name));
    }
  });

  test('links to what exists', async () => {
    const dead: string[] = [];
    for (const [, link = ''] of (await read(file)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [target = '', anchor] = link.split('#');
      const resolved = target === '' ? file : path.join(path.dirname(file), target);
      if (!existsSync(path.join(root, resolved))) dead.push(link);
      else if (anchor !== undefined && !anchorsOf(await read(resolved)).includes(anchor)) dead.push(link);
    }
    expect(dead).toEqual([]);
  });
});

test('every document can be reached from the index', async () => {
  const reached = new Set(['docs/index.md']);
  for (const file of reached) {
    for (const [, link = ''] of (await read(file)).matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g)) {
      reached.add(path.join(path.dirname(file), link));
    }
  }
  expect([...reached]).toEqual(expect.arrayContaining(documents.filter(file => file !== 'README.md')));
});

test('every error code is explained, and none that does not exist', async () => {
  const inSource = (await read('src/shared/errors.ts')).matchAll(/'(MCP_(?:CLIENT|SERVER)_\w+)'/g);
  const explained = `${await read('docs/client/errors.md')}${await read('docs/server/errors.md')}`;
  const inDocuments = explained.matchAll(/`(MCP_(?:CLIENT|SERVER)_\w+)`/g);
  const codes = (matches: Iterable<RegExpMatchArray>): string[] =>
    [...new Set([...matches].map(match => match[1] ?? ''))].toSorted();
  expect(codes(inDocuments)).toEqual(codes(inSource));
});

/** Text of a document on one line, without what makes it look good. */
const plain = async (file: string): Promise<string> =>
  (await read(file)).replaceAll(/[*`]/g, '').replaceAll(/\s+/g, ' ');

verifies('S019', 'the documents warn of server definitions from untrusted sources', async () => {
  expect(await plain('docs/client/connecting.md')).toContain(
    'command, args and env of an untrusted configuration file are untrusted code',
  );
  expect(await plain('docs/client/processes.md')).toContain('env is forwarded as it is, and command is run');
});

verifies('S060', 'the documents call annotations untrusted wherever they explain them', async () => {
  expect(await plain('docs/client/approval.md')).toContain('Annotations are untrusted');
  expect(await plain('docs/client/tools.md')).toContain('claims of the server, not a security boundary');
});

verifies('S067', 'the documents warn of forwarded instructions', async () => {
  expect(await plain('docs/client/instructions.md')).toContain(
    'The text enters the system prompt as the server wrote it, only cut',
  );
});

verifies('S075', 'the documents call results untrusted input', async () => {
  expect(await plain('docs/client/tools.md')).toContain('Results are untrusted input');
});

verifies('S123', 'the documents say how to answer questions of servers with care', async () => {
  const text = await plain('docs/client/elicitation.md');
  for (const advice of [
    'Set the handler before calling tools that ask',
    'Show which server asks, why it says it does, and what it will get',
    'Never accept on the user’s behalf what is sensitive',
    'Check what was typed against requestedSchema: fields in required, types, formats, choices',
    'Let the user decline, and cancel',
  ]) {
    expect(text).toContain(advice.replace('’', "'"));
  }
});

verifies('S218', 'the documents say how to ask and to answer with care', async () => {
  expect(await plain('docs/client/elicitation.md')).toContain('Never accept on the user');
  const asking = await plain('docs/server/asking.md');
  expect(asking).toContain('Never ask for passwords, card or social security numbers');
  expect(asking).toContain('Say why you ask');
  expect(asking).toContain('A declined question is an answer, not a reason to ask again');
});

verifies('X26', 'the documents name every transport of a server and say how each is reached', async () => {
  const serving = await plain('docs/server/serving.md');
  for (const way of [
    'listen({',
    'startHTTP({',
    'fetch(request',
    'startSSE({',
    'startHonoSSE({',
    'startStdio()',
  ])
    expect(serving).toContain(way);
  expect(await plain('docs/server/serverless.md')).toContain('serverless: true');
  expect(await plain('docs/server/sse.md')).toContain('The transport of revision 2024-11-05');
});

verifies(
  ['X28', 'X31'],
  'the documents say where context comes from, and that a tool needs whole URLs',
  async () => {
    const context = await plain('docs/server/context.md');
    expect(context).toContain('The second parameter of execute, context, tells a tool about its call');
    expect(context).toContain("fetch('/api/data') fails on a server");
  },
);

verifies('M6', 'the documents warn of passing tokens on', async () => {
  const oauth = await plain('docs/server/oauth.md');
  expect(oauth).toContain('Never pass a token on. authInfo.token was issued for this server');
  expect(oauth).toContain('An API behind it needs a token of its own');
});
