/** Clients that other people wrote, used as their documentation says, against our server over every transport. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ProgressNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureForeign } from '../support/foreign.ts';
import { until } from '../support/processes.ts';
import { startServerFile } from '../support/server-file.ts';
import type { ServerFile } from '../support/server-file.ts';

const foreign = await ensureForeign();
const SERVER = 'fixtures/full-server.ts';
const program = {
  command: process.execPath,
  args: ['--import', 'tsx', fileURLToPath(new URL(SERVER, import.meta.url)), 'stdio'],
};
const TOOLS = 'add ask dashboard echo fail folders hang page picture steps think touch'.split(' ');

let server: ServerFile;
let urls: Readonly<Record<'http' | 'sse', URL>>;

beforeAll(async () => {
  server = await startServerFile(`../suites/${SERVER}`, ['http']);
  const [http = '', sse = ''] = server.urls;
  urls = { http: new URL(http), sse: new URL(sse) };
});

afterAll(() => server[Symbol.asyncDispose]());

const wires = ['stdio', 'http', 'sse'] as const;
type WireName = (typeof wires)[number];

describe.each(wires)('the client of the SDK over %s', wire => {
  const toTransport: Readonly<Record<WireName, () => Transport>> = {
    stdio: () => new StdioClientTransport({ ...program, stderr: 'ignore' }),
    http: () => new StreamableHTTPClientTransport(urls.http),
    sse: () => new SSEClientTransport(urls.sse),
  };
  let client: Client;

  beforeAll(async () => {
    client = new Client({ name: 'other', version: '1.0.0' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: 'accept',
      content: { colour: params.message === 'Which colour?' ? 'red' : 'none' },
    }));
    await client.connect(toTransport[wire]());
  });

  afterAll(() => client.close());

  test('reads who the server is and what it can do', () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'Fixture', version: '3.2.1' });
    expect(client.getInstructions()).toBe('A server for tests.');
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
  });

  test('lists and calls tools', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(TOOLS);
    // It checks the structured content against the schema that was listed.
    expect(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })).toMatchObject({
      structuredContent: { sum: 5 },
    });
    expect(await client.callTool({ name: 'fail' })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'no_such' })).rejects.toMatchObject({ code: -32602 });
  });

  test('lists, reads and watches resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['fixture://readme', 'fixture://dot', 'ui://fixture/dashboard']),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['fixture://users/{id}']);
    expect(await client.readResource({ uri: 'fixture://users/7' })).toEqual({
      contents: [{ uri: 'fixture://users/7', mimeType: 'application/json', text: '{"id":"7"}' }],
    });
    await expect(client.readResource({ uri: 'fixture://nothing' })).rejects.toMatchObject({ code: -32002 });

    const updated: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    await client.subscribeResource({ uri: 'fixture://readme' });
    // Over HTTP it hears nothing until the stream that it opened by itself is there.
    await until('the client hears of a change', async () => {
      await client.callTool({ name: 'touch' });
      return updated.length > 0;
    });
    expect(new Set(updated)).toEqual(new Set(['fixture://readme']));
    await client.unsubscribeResource({ uri: 'fixture://readme' });
  });

  test('lists, completes and fills in prompts', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([
      { name: 'greet', arguments: [{ name: 'who', required: true }] },
      { name: 'part', _meta: { version: 'v1' } },
      { name: 'part@v2', _meta: { version: 'v2' } },
    ]);
    const ref = { type: 'ref/prompt', name: 'greet' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'who', value: 'A' } });
    expect(completion.values).toEqual(['Ada', 'Alan']);
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }]);
  });

  test('answers an elicitation', async () => {
    expect(await client.callTool({ name: 'ask' })).toMatchObject({
      content: [{ type: 'text', text: 'accept: red' }],
    });
  });

  test('hears of progress and logs, and sets the level of the logs', async () => {
    const logged: unknown[] = [];
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logged.push([params.level, params.logger, params.data]),
    );
    // Its `onprogress` forgets what arrives together with the answer, as everything does from a tool this quick.
    const reported: unknown[] = [];
    client.setNotificationHandler(
      ProgressNotificationSchema,
      ({ params }) =>
        void reported.push([params.progressToken, params.progress, params.total, params.message]),
    );
    const call = () =>
      client.callTool({ name: 'steps', arguments: { count: 2 }, _meta: { progressToken: 'token' } });
    await call();
    await until('all has been handled', () => reported.length + logged.length >= 4);
    expect(reported).toEqual([1, 2].map(step => ['token', step, 2, `step ${step}`]));
    expect(logged).toEqual([1, 2].map(step => ['info', 'Fixture', { message: `step ${step}`, step }]));
    await client.setLoggingLevel('warning');
    await call();
    await until('the second call has been reported', () => reported.length >= 4);
    expect(logged).toHaveLength(2);
  });
});

/** What this file uses of MCPClient 1.18.0, as its documentation has it. */
interface PublishedClient {
  listTools(): Promise<Record<string, { execute(input: object, context: object): Promise<unknown> }>>;
  disconnect(): Promise<void>;
  readonly resources: {
    list(): Promise<Record<string, readonly { uri: string }[]>>;
    templates(): Promise<Record<string, readonly { uriTemplate: string }[]>>;
    read(serverName: string, uri: string): Promise<unknown>;
    subscribe(serverName: string, uri: string): Promise<unknown>;
    onUpdated(serverName: string, handler: (params: { uri: string }) => void): Promise<void>;
  };
  readonly prompts: {
    list(): Promise<Record<string, readonly { name: string }[]>>;
    get(params: { serverName: string; name: string; args?: object }): Promise<unknown>;
  };
  readonly elicitation: {
    onRequest(serverName: string, handler: (request: { message: string }) => unknown): Promise<void>;
  };
  readonly progress: {
    onUpdate(serverName: string, handler: (params: Readonly<Record<string, unknown>>) => void): Promise<void>;
  };
}

describe.skipIf(foreign === undefined).each(wires)('MCPClient 1.18.0 over %s', wire => {
  const logged: unknown[] = [];
  let client: PublishedClient;
  let tools: Awaited<ReturnType<PublishedClient['listTools']>>;

  beforeAll(async () => {
    const { MCPClient } = createRequire(import.meta.url)(`${foreign}/@mastra/mcp-published`) as {
      readonly MCPClient: new (options: object) => PublishedClient;
    };
    const definition = {
      ...(wire === 'stdio' ? program : { url: urls[wire] }),
      enableProgressTracking: true,
      logger: (entry: unknown) => void logged.push(entry),
    };
    client = new MCPClient({ id: `published-${wire}`, servers: { fixture: definition }, timeout: 30_000 });
    await client.elicitation.onRequest('fixture', ({ message }) =>
      Promise.resolve({ action: 'accept', content: { colour: message === 'Which colour?' ? 'red' : '' } }),
    );
    tools = await client.listTools();
  });

  afterAll(() => client?.disconnect());

  const call = (name: string, input: object = {}): unknown => tools[`fixture_${name}`]?.execute(input, {});

  test('lists and calls tools', async () => {
    expect(Object.keys(tools).toSorted()).toEqual(TOOLS.map(name => `fixture_${name}`));
    expect(await call('add', { a: 2, b: 3 })).toEqual({ sum: 5 });
    expect(await call('picture')).toMatchObject({ content: [{ type: 'image', data: 'aGk=' }] });
  });

  test('lists, reads and watches resources', async () => {
    const { fixture } = await client.resources.list();
    expect(fixture?.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['fixture://readme', 'fixture://dot', 'ui://fixture/dashboard']),
    );
    expect((await client.resources.templates())['fixture']).toMatchObject([
      { uriTemplate: 'fixture://users/{id}' },
    ]);
    expect(await client.resources.read('fixture', 'fixture://readme')).toMatchObject({
      contents: [{ uri: 'fixture://readme', mimeType: 'text/markdown', text: '# Fixture' }],
    });
    const updated: string[] = [];
    await client.resources.onUpdated('fixture', ({ uri }) => void updated.push(uri));
    await client.resources.subscribe('fixture', 'fixture://readme');
    await until('the client hears of a change', async () => {
      await call('touch');
      return updated.length > 0;
    });
    expect(new Set(updated)).toEqual(new Set(['fixture://readme']));
  });

  test('lists and fills in prompts', async () => {
    expect((await client.prompts.list())['fixture']?.map(({ name }) => name)).toEqual([
      'greet',
      'part',
      'part@v2',
    ]);
    const request = { serverName: 'fixture', name: 'greet', args: { who: 'Ada' } };
    expect(await client.prompts.get(request)).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }],
    });
  });

  test('answers an elicitation', async () => {
    expect(await call('ask')).toMatchObject({ content: [{ type: 'text', text: 'accept: red' }] });
  });

  test('hears of progress and logs', async () => {
    const progress: unknown[] = [];
    await client.progress.onUpdate('fixture', params => void progress.push(params));
    await call('steps', { count: 2 });
    await until('both reports have arrived', () => progress.length >= 2);
    expect(progress).toMatchObject(
      [1, 2].map(step => ({ progress: step, total: 2, message: `step ${step}` })),
    );
    const told = () => logged.map(entry => JSON.stringify(entry)).filter(text => text.includes('step '));
    await until('both log messages have arrived', () => told().length === 2);
  });
});
