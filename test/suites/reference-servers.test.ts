/** Our client against servers nobody here wrote: the same tools and results that other clients get from them. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MCPClient } from '../../src/index.ts';
import { ensureForeign } from '../support/foreign.ts';
import { type RunningServer, referenceServer, startEverything } from '../support/reference-server.ts';

const foreign = await ensureForeign();
const node = process.execPath;

type Toolsets = Awaited<ReturnType<MCPClient['listToolsetsWithErrors']>>['toolsets'];

describe.skipIf(foreign === undefined)('the client against the reference servers', () => {
  let folder = '';
  let mcp: MCPClient;
  let running: readonly RunningServer[] = [];
  let toolsets: Toolsets;
  let errors: unknown;

  const call = (server: string, tool: string, args: Record<string, unknown>): unknown =>
    toolsets[server]?.[tool]?.execute?.(args, {});

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'reference-servers-')));
    await writeFile(path.join(folder, 'a.txt'), 'hello');
    running = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    const installed = (name: string): string =>
      `${foreign}/@modelcontextprotocol/server-${name}/dist/index.js`;
    mcp = new MCPClient({
      id: 'reference-servers',
      timeout: 20_000,
      servers: {
        everything: {
          command: node,
          args: [referenceServer('everything'), 'stdio'],
          capabilities: { elicitation: { form: {} } },
          roots: [{ uri: pathToFileURL(folder).href, name: 'tmp' }],
        },
        filesystem: { command: node, args: [referenceServer('filesystem'), folder] },
        memory: {
          command: node,
          args: [installed('memory')],
          env: { MEMORY_FILE_PATH: path.join(folder, 'memory.json') },
        },
        thinking: { command: node, args: [installed('sequential-thinking')] },
        http: { url: new URL(`${running[0]?.origin}/mcp`) },
        sse: { url: new URL(`${running[1]?.origin}/sse`) },
      },
    });
    await mcp.elicitation.onRequest('everything', () =>
      Promise.resolve({ action: 'accept', content: { name: 'x' } }),
    );
    ({ toolsets, errors } = await mcp.listToolsetsWithErrors());
  }, 60_000);

  afterAll(async () => {
    await mcp?.disconnect();
    await Promise.all(running.map(server => server[Symbol.asyncDispose]()));
    await rm(folder, { recursive: true, force: true });
  });

  test('lists every tool of all six connections without an error', () => {
    expect(errors).toEqual({});
    const counts = Object.fromEntries(
      Object.entries(toolsets).map(([name, tools]) => [name, Object.keys(tools).length]),
    );
    expect(counts).toEqual({ everything: 15, filesystem: 14, memory: 9, thinking: 1, http: 14, sse: 14 });
  });

  test('declares elicitation everywhere and roots only where there are some', () => {
    const asking = ['get-roots-list', 'trigger-elicitation-request'];
    const offered = (name: string): readonly string[] =>
      Object.keys(toolsets[name] ?? {}).filter(tool => asking.includes(tool));
    expect(offered('everything').toSorted()).toEqual(asking);
    expect(offered('http')).toEqual(['trigger-elicitation-request']);
    expect(offered('sse')).toEqual(['trigger-elicitation-request']);
  });

  describe.each(['everything', 'http', 'sse'])('server-everything as %s', name => {
    test('returns text', async () => {
      expect(await call(name, 'echo', { message: 'hi' })).toMatchObject({
        content: [{ type: 'text', text: 'Echo: hi' }],
      });
      expect(await call(name, 'get-sum', { a: 2, b: 3 })).toMatchObject({
        content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }],
      });
    });

    test('returns structured content as the value itself', async () => {
      expect(await call(name, 'get-structured-content', { location: 'New York' })).toEqual({
        temperature: 33,
        conditions: 'Cloudy',
        humidity: 82,
      });
    });

    test('returns an image', async () => {
      expect(await call(name, 'get-tiny-image', {})).toMatchObject({
        content: [
          { type: 'text' },
          { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) },
          { type: 'text' },
        ],
      });
    });

    test('returns resource links', async () => {
      expect(await call(name, 'get-resource-links', { count: 2 })).toMatchObject({
        content: [{ type: 'text' }, { type: 'resource_link' }, { type: 'resource_link' }],
      });
    });

    test('waits for a long operation', async () => {
      expect(await call(name, 'trigger-long-running-operation', { duration: 1, steps: 2 })).toMatchObject({
        content: [{ text: 'Long running operation completed. Duration: 1 seconds, Steps: 2.' }],
      });
    });
  });

  test('answers an elicitation', async () => {
    expect(await call('everything', 'trigger-elicitation-request', {})).toMatchObject({
      content: [{}, { text: 'User inputs:\n- Name: x' }, {}],
    });
  });

  test.each(['http', 'sse'])('declines an elicitation that nobody handles, over %s', async name => {
    expect(await call(name, 'trigger-elicitation-request', {})).toMatchObject({
      content: [{ text: expect.stringContaining('declined') }, {}],
    });
  });

  test('answers a request for its roots', async () => {
    expect(await call('everything', 'get-roots-list', {})).toMatchObject({
      content: [{ text: expect.stringContaining(`URI: ${pathToFileURL(folder).href}`) }],
    });
  });

  test('reads files through server-filesystem', async () => {
    expect(await call('filesystem', 'read_text_file', { path: path.join(folder, 'a.txt') })).toEqual({
      content: 'hello',
    });
    expect(await call('filesystem', 'list_allowed_directories', {})).toEqual({
      content: `Allowed directories:\n${folder}`,
    });
  });

  test('stores entities in server-memory', async () => {
    const entities = [{ name: 'a', entityType: 't', observations: ['o'] }];
    expect(await call('memory', 'create_entities', { entities })).toEqual({ entities });
  });

  test('thinks with server-sequential-thinking', async () => {
    const thought = { thought: 't', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    expect(await call('thinking', 'sequentialthinking', thought)).toEqual({
      thoughtNumber: 1,
      totalThoughts: 1,
      nextThoughtNeeded: false,
      branches: [],
      thoughtHistoryLength: 1,
    });
  });
});
