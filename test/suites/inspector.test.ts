/** The command line of the official inspector against our server. It needs a newer Node.js than we do. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureForeign } from '../support/foreign.ts';
import { nodeSince } from '../support/node-binary.ts';
import { startServerFile } from '../support/server-file.ts';
import type { ServerFile } from '../support/server-file.ts';

const run = promisify(execFile);
const foreign = await ensureForeign();
const node = await nodeSince(22, 19);
const SERVER = '../suites/fixtures/full-server.ts';

/** Holds the inspector's configuration, and is the home in which it may keep things. */
let folder: string;
let server: ServerFile;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'inspector-'));
  server = await startServerFile(SERVER, ['http']);
  const [http, sse] = server.urls;
  const script = fileURLToPath(new URL(SERVER, new URL('../support/', import.meta.url)));
  const mcpServers = {
    stdio: { command: process.execPath, args: ['--import', 'tsx', script, 'stdio'] },
    http: { type: 'streamable-http', url: http },
    sse: { type: 'sse', url: sse },
  };
  await writeFile(path.join(folder, 'servers.json'), JSON.stringify({ mcpServers }));
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Runs one method and gives what the inspector prints: the result, or what it found out about an app. */
async function inspect(name: string, method: string, ...args: readonly string[]): Promise<unknown> {
  const script = `${foreign}/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
  const config = ['--config', path.join(folder, 'servers.json'), '--server', name];
  const all = [script, '--cli', ...config, '--quiet', '--format', 'json', '--method', method, ...args];
  const env = { ...process.env, HOME: folder, MCP_INSPECTOR_SECRET_STORE: 'memory' };
  const { stdout } = await run(node ?? '', all, { env, timeout: 60_000 });
  const printed = JSON.parse(stdout) as { readonly result?: unknown; readonly appInfo?: unknown };
  return printed.result ?? printed.appInfo;
}

describe.skipIf(foreign === undefined || node === undefined).each(['stdio', 'http', 'sse'])(
  'the inspector over %s',
  name => {
    test('finds no fault with the schemas of the tools', async () => {
      // --strict makes it fail for a schema that some client cannot read.
      expect(await inspect(name, 'tools/list', '--strict')).toMatchObject({
        tools: expect.arrayContaining([
          expect.objectContaining({ name: 'add', annotations: { readOnlyHint: true } }),
          expect.objectContaining({ name: 'dashboard' }),
        ]),
      });
    });

    test('calls tools', async () => {
      const call = (tool: string, ...args: readonly string[]): Promise<unknown> =>
        inspect(name, 'tools/call', '--tool-name', tool, ...args);
      const [sum, picture] = await Promise.all([call('add', '--tool-arg', 'a=2', 'b=3'), call('picture')]);
      expect(sum).toMatchObject({ structuredContent: { sum: 5 } });
      expect(picture).toMatchObject({ content: [{ type: 'image', data: 'aGk=' }] });
    });

    test('lists and reads resources', async () => {
      const [listed, templates, read] = await Promise.all([
        inspect(name, 'resources/list'),
        inspect(name, 'resources/templates/list'),
        inspect(name, 'resources/read', '--uri', 'fixture://users/7'),
      ]);
      expect(listed).toMatchObject({
        resources: expect.arrayContaining([expect.objectContaining({ uri: 'fixture://readme' })]),
      });
      expect(templates).toMatchObject({ resourceTemplates: [{ uriTemplate: 'fixture://users/{id}' }] });
      expect(read).toMatchObject({
        contents: [{ uri: 'fixture://users/7', mimeType: 'application/json', text: '{"id":"7"}' }],
      });
    });

    test('lists and fills in prompts', async () => {
      const [listed, filled] = await Promise.all([
        inspect(name, 'prompts/list'),
        inspect(name, 'prompts/get', '--prompt-name', 'greet', '--prompt-args', 'who=Ada'),
      ]);
      expect(listed).toMatchObject({
        prompts: [
          { name: 'greet', arguments: [{ name: 'who', required: true }] },
          { name: 'part', _meta: { version: 'v1' } },
          { name: 'part@v2', _meta: { version: 'v2' } },
        ],
      });
      expect(filled).toMatchObject({
        messages: [{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }],
      });
    });

    test('finds the app of a tool', async () => {
      expect(await inspect(name, 'tools/call', '--tool-name', 'dashboard', '--app-info')).toMatchObject({
        hasApp: true,
        resourceUri: 'ui://fixture/dashboard',
        resourceMimeType: 'text/html;profile=mcp-app',
      });
    });
  },
);
