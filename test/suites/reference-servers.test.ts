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
    // With pages declared, server-everything has a tool more: the recipe of 15 declares forms only.
    expect(counts).toEqual({ everything: 16, filesystem: 14, memory: 9, thinking: 1, http: 14, sse: 14 });
  });

  test('lists every resource, template and prompt', async () => {
    const count = (listed: Readonly<Record<string, readonly unknown[]>>): object =>
      Object.fromEntries(Object.entries(listed).map(([name, entries]) => [name, entries.length]));
    const everywhere = (entries: number): object => ({ everything: entries, http: entries, sse: entries });
    const nothing = { filesystem: 0, memory: 0, thinking: 0 };
    expect(count(await mcp.resources.list())).toEqual({ ...nothing, ...everywhere(7), memory: 1 });
    expect(count(await mcp.resources.templates())).toEqual({ ...nothing, ...everywhere(2) });
    expect(count(await mcp.prompts.list())).toEqual({ ...nothing, ...everywhere(4) });
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

  describe.each(['everything', 'http', 'sse'])('server-everything as %s', name => {
    test('reads resources and templates', async () => {
      const [first] = (await mcp.resources.list())[name] ?? [];
      const uri = first?.uri ?? '';
      expect((await mcp.resources.read(name, uri)).contents).toMatchObject([{ uri }]);
      const text = 'demo://resource/dynamic/text/1';
      expect((await mcp.resources.read(name, text)).contents[0]).toHaveProperty('text');
    });

    test('fills in a prompt and completes its argument', async () => {
      const args = { city: 'Oslo', state: 'x' };
      const { messages } = await mcp.prompts.get({ serverName: name, name: 'args-prompt', args });
      expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining('Oslo') });
      const { values } = await mcp.completions.complete({
        serverName: name,
        ref: { type: 'ref/prompt', name: 'completable-prompt' },
        argument: { name: 'department', value: 'E' },
      });
      expect(values).toEqual(['Engineering']);
    });

    test('subscribes, and sets the level of logs', async () => {
      expect(await mcp.resources.subscribe(name, 'demo://resource/dynamic/text/1')).toEqual({});
      expect(await mcp.resources.unsubscribe(name, 'demo://resource/dynamic/text/1')).toEqual({});
      await mcp.logging.setLevel(name, 'error');
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

  test('answers for its model, once it has one', async () => {
    expect(toolsets['http']).not.toHaveProperty('trigger-sampling-request');
    await mcp.sampling.onRequest('http', () => ({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'forty-two' },
    }));
    const { http: tools } = await mcp.listToolsets();
    const result = await tools?.['trigger-sampling-request']?.execute({ prompt: 'p', maxTokens: 10 });
    expect(JSON.stringify(result)).toContain('forty-two');
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
