/** The samples of the reference, put right, over every kind of connection, with a client that others wrote. */
import { createTool } from '@mastra/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type {
  MCPServerPrompts,
  MCPServerResourceContent,
  MCPServerResources,
  Prompt,
  PromptMessage,
  Resource,
  ResourceTemplate,
} from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { until } from '../support/processes.ts';
import { serveHttp } from '../support/serve-http.ts';

const myResources: Resource[] = [{ uri: 'file://data/123.txt', name: 'Data File', mimeType: 'text/plain' }];

const myResourceContents: Record<string, MCPServerResourceContent> = {
  'file://data/123.txt': { text: 'This is the content of the data file.' },
  'file://data/logo': { blob: 'iVBORw0KGgo=', mimeType: 'image/png' },
};

const myResourceTemplates: ResourceTemplate[] = [
  {
    uriTemplate: 'file://data/{id}',
    name: 'Data File',
    description: 'A file containing data.',
    mimeType: 'text/plain',
  },
];

const resources: MCPServerResources = {
  listResources: async () => myResources,
  getResourceContent: async ({ uri }) => {
    const content = Object.hasOwn(myResourceContents, uri) ? myResourceContents[uri] : undefined;
    if (content) return content;
    if (uri === 'file://data/456') return { text: 'Made from the template.' };
    return undefined;
  },
  resourceTemplates: async () => myResourceTemplates,
};

const myPrompts: Prompt[] = [
  {
    name: 'analyze-code',
    description: 'Analyze code for improvements',
    version: 'v1',
    arguments: [{ name: 'code', required: true }],
  },
  {
    name: 'analyze-code',
    description: 'Analyze code for improvements (new logic)',
    version: 'v2',
    arguments: [{ name: 'code', required: true }],
  },
];

const ask = (text: string): PromptMessage => ({ role: 'user', content: { type: 'text', text } });

const prompts: MCPServerPrompts = {
  listPrompts: async () => myPrompts,
  getPromptMessages: async ({ name, version, args }) => {
    const prompt = myPrompts.find(candidate => candidate.name === name && candidate.version === version);
    if (!prompt) throw new Error('Prompt version not found');
    if (version === 'v2')
      return { prompt, messages: [ask(`Analyze this code with the new logic: ${args['code']}`)] };
    return [ask(`Analyze this code: ${args['code']}`)];
  },
};

const calculator = createTool({
  id: 'calculatorWithUI',
  description: 'An interactive calculator',
  inputSchema: z.object({ num1: z.number(), num2: z.number(), operation: z.enum(['add', 'subtract']) }),
  mcp: { _meta: { ui: { resourceUri: 'ui://calculator/main' } } },
  execute: async ({ num1, num2, operation }) => ({
    content: [{ type: 'text', text: 'An interactive calculator is displayed.' }],
    structuredContent: { result: operation === 'add' ? num1 + num2 : num1 - num2 },
  }),
});

const createServer = (): MCPServer =>
  new MCPServer({
    id: 'sample-server',
    name: 'Sample Server',
    version: '1.0.0',
    tools: { calculator },
    resources,
    prompts,
    completions: {
      complete: ({ ref, argument }) =>
        ref.type === 'ref/prompt'
          ? ['javascript', 'java'].filter(code => code.startsWith(argument.value))
          : [],
    },
    appResources: {
      'ui://calculator/main': {
        name: 'Interactive Calculator',
        html: '<html><body>Calculator</body></html>',
      },
    },
  });

interface Joined extends AsyncDisposable {
  readonly server: MCPServer;
  readonly client: Client;
  /** Notifications in their order. */
  readonly heard: readonly string[];
}

const KINDS = ['in memory', 'over HTTP', 'without sessions'] as const;
type Kind = (typeof KINDS)[number];

async function join(kind: Kind): Promise<Joined> {
  const server = createServer();
  const client = new Client({ name: 'others', version: '1.0.0' });
  const heard: string[] = [];
  const hear = (what: string) => (): void => void heard.push(what);
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.push(params.uri),
  );
  client.setNotificationHandler(ResourceListChangedNotificationSchema, hear('resources'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, hear('prompts'));
  if (kind === 'in memory') {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.getServer().connect(far);
    await client.connect(near);
    return { server, client, heard, [Symbol.asyncDispose]: () => server.close() };
  }
  const host = await serveHttp(server, kind === 'without sessions' ? { serverless: true } : undefined);
  let isListening = false;
  const transport = new StreamableHTTPClientTransport(host.url, {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      isListening ||= init?.method === 'GET' && response.ok;
      return response;
    },
  });
  await client.connect(transport);
  if (kind === 'over HTTP') await until('the stream for notifications is open', () => isListening);
  return {
    server,
    client,
    heard,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await server.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

describe.each(KINDS)('%s', kind => {
  verifies(
    ['S142', 'S187', 'S188', 'S189', 'S190', 'X16'],
    'the sample of resources is listed and read: listed ones, those of the template, and nothing else',
    async () => {
      await using joined = await join(kind);
      const { client } = joined;
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
        'file://data/123.txt',
        'ui://calculator/main',
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates).toEqual(myResourceTemplates);
      const read = async (uri: string) => (await client.readResource({ uri })).contents;
      expect(await read('file://data/123.txt')).toEqual([
        { uri: 'file://data/123.txt', mimeType: 'text/plain', text: 'This is the content of the data file.' },
      ]);
      expect(await read('file://data/456')).toEqual([
        { uri: 'file://data/456', mimeType: 'text/plain', text: 'Made from the template.' },
      ]);
      expect(await read('file://data/logo')).toEqual([
        { uri: 'file://data/logo', mimeType: 'image/png', blob: 'iVBORw0KGgo=' },
      ]);
      await expect(read('file://data/__proto__')).rejects.toMatchObject({
        code: -32002,
        message: 'MCP error -32002: Resource not found: file://data/__proto__',
      });
    },
  );

  verifies(
    ['S142', 'S194', 'S195', 'S196', 'S198', 'S199', 'X09', 'X17'],
    'the sample of prompts gives v1 unless v2 is asked for',
    async () => {
      await using joined = await join(kind);
      const { client } = joined;
      expect(
        (await client.listPrompts()).prompts.map(({ name, _meta }) => [name, _meta?.['version']]),
      ).toEqual([
        ['analyze-code', 'v1'],
        ['analyze-code@v2', 'v2'],
      ]);
      const args = { code: 'let x' };
      const [oldText, newText] = ['Analyze this code: let x', 'Analyze this code with the new logic: let x'];
      expect(await client.getPrompt({ name: 'analyze-code', arguments: args })).toMatchObject({
        description: 'Analyze code for improvements',
        messages: [ask(oldText)],
      });
      const v2 = { description: 'Analyze code for improvements (new logic)', messages: [ask(newText)] };
      const byMeta = { name: 'analyze-code', arguments: args, _meta: { version: 'v2' } };
      expect(await client.getPrompt({ name: 'analyze-code@v2', arguments: args })).toMatchObject(v2);
      expect(await client.getPrompt(byMeta)).toMatchObject(v2);
      await expect(client.getPrompt({ name: 'analyze-data' })).rejects.toMatchObject({ code: -32602 });
      await expect(client.getPrompt({ name: 'analyze-code' })).rejects.toMatchObject({
        code: -32602,
        message: 'MCP error -32602: The prompt "analyze-code" needs the argument "code"',
      });
      const completing = client.complete({
        ref: { type: 'ref/prompt', name: 'analyze-code' },
        argument: { name: 'code', value: 'javas' },
      });
      expect((await completing).completion).toEqual({ values: ['javascript'], total: 1, hasMore: false });
    },
  );

  verifies(
    ['S237', 'S241', 'S242', 'X22'],
    'the sample of the calculator names its page, which can be read, and returns structured content',
    async () => {
      await using joined = await join(kind);
      const { client } = joined;
      const [tool] = (await client.listTools()).tools;
      const uri = String(Reflect.get(Object(tool?._meta?.['ui']), 'resourceUri'));
      expect((await client.readResource({ uri })).contents).toEqual([
        { uri, mimeType: 'text/html;profile=mcp-app', text: '<html><body>Calculator</body></html>' },
      ]);
      const args = { num1: 5, num2: 3, operation: 'subtract' };
      expect(await client.callTool({ name: 'calculator', arguments: args })).toMatchObject({
        structuredContent: { result: 2 },
      });
    },
  );

  verifies(
    ['S191', 'S192', 'S193', 'S197'],
    'changes are told where there is a session, and not promised where there is none',
    async () => {
      await using joined = await join(kind);
      const { client, server, heard } = joined;
      const uri = 'file://data/123.txt';
      const { resources: declared, prompts: promised } = client.getServerCapabilities() ?? {};
      if (kind === 'without sessions') {
        expect([declared, promised]).toEqual([{}, {}]);
        await expect(client.subscribeResource({ uri })).rejects.toMatchObject({ code: -32601 });
      } else {
        expect([declared, promised]).toEqual([{ subscribe: true, listChanged: true }, { listChanged: true }]);
        await client.subscribeResource({ uri });
      }
      await server.resources.notifyUpdated({ uri });
      await server.resources.notifyUpdated({ uri: 'file://data/456' });
      await server.resources.notifyListChanged();
      await server.prompts.notifyListChanged();
      if (kind === 'without sessions') return;
      await until('everything was told', () => heard.includes('prompts'));
      expect(heard).toEqual([uri, 'resources', 'prompts']);
    },
  );
});
