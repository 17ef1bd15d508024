/** The MCPServer that stories over every transport share; `node --import tsx fixture-server.ts` serves it on stdio. */
import { createTool } from '@mastra/core/tools';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerPrompts, MCPServerResources, MCPToolContext } from '../../src/server/index.ts';

type FixtureConfig = Partial<ConstructorParameters<typeof MCPServer>[0]>;

const add = createTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  mcp: { annotations: { readOnlyHint: true } },
  execute: async ({ a, b }) => ({ sum: a + b }),
});

const echo = createTool({
  id: 'echo',
  description: 'Gives the text back',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
});

const steps = createTool({
  id: 'steps',
  description: 'Reports progress and a log message for each step',
  inputSchema: z.object({ count: z.number() }),
  execute: async ({ count }, { mcp }) => {
    for (let step = 1; step <= count; step += 1) {
      await mcp?.progress?.({ progress: step, total: count, message: `step ${step}` });
      await mcp?.log?.('info', `step ${step}`, { step });
    }
    return `${count} steps`;
  },
});

const fail = createTool({
  id: 'fail',
  description: 'Always fails',
  inputSchema: z.object({}),
  execute: async () => {
    throw new Error('The till is empty');
  },
});

const picture = createTool({
  id: 'picture',
  description: 'Gives an image',
  inputSchema: z.object({}),
  execute: async () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
});

const ask = createTool({
  id: 'ask',
  description: 'Asks the caller for a colour',
  inputSchema: z.object({}),
  execute: async (_input, { mcp }) => {
    const answer = await mcp?.elicitation.sendRequest({
      message: 'Which colour?',
      requestedSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
    });
    return `${answer?.action}: ${String(answer?.content?.['colour'])}`;
  },
});

const hang = createTool({
  id: 'hang',
  description: 'Runs until it is cancelled',
  inputSchema: z.object({}),
  execute: async (_input, { mcp }) => {
    const signal = mcp?.extra.signal;
    await new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve(), { once: true }));
    return 'cancelled';
  },
});

const mcpOf = (context: { readonly mcp?: unknown }): MCPToolContext => context.mcp as MCPToolContext;

const page = createTool({
  id: 'page',
  description: 'Asks the caller to open a page',
  inputSchema: z.object({ url: z.string() }),
  execute: async ({ url }, context) => {
    const { action } = await mcpOf(context).elicitation.sendRequest({ mode: 'url', message: 'Log in', url });
    return action;
  },
});

const think = createTool({
  id: 'think',
  description: 'Asks the model of the caller',
  inputSchema: z.object({}),
  execute: async (_input, context) => {
    const text = { type: 'text', text: 'What is 6 times 7?' } as const;
    const { content } = await mcpOf(context).sampling.sendRequest({
      messages: [{ role: 'user', content: text }],
      maxTokens: 10,
    });
    return JSON.stringify(content);
  },
});

const folders = createTool({
  id: 'folders',
  description: 'Lists the folders of the caller',
  inputSchema: z.object({}),
  execute: async (_input, context) => {
    const { roots } = await mcpOf(context).roots.list();
    return roots.map(({ uri }) => uri).join(', ');
  },
});

const resources: MCPServerResources = {
  listResources: () => [
    { uri: 'fixture://readme', name: 'Readme', mimeType: 'text/markdown' },
    { uri: 'fixture://dot', name: 'Dot', mimeType: 'image/png' },
  ],
  resourceTemplates: () => [
    { uriTemplate: 'fixture://users/{id}', name: 'User', mimeType: 'application/json' },
  ],
  getResourceContent: ({ uri }) => {
    const id = /^fixture:\/\/users\/(?<id>\w+)$/.exec(uri)?.groups?.['id'];
    if (id !== undefined) return { text: JSON.stringify({ id }) };
    if (uri === 'fixture://readme') return { text: '# Fixture' };
    return uri === 'fixture://dot' ? { blob: 'iVBORw0KGgo=' } : undefined;
  },
};

const prompts: MCPServerPrompts = {
  listPrompts: () => [
    { name: 'greet', description: 'Greets somebody', arguments: [{ name: 'who', required: true }] },
    { name: 'part', description: 'Says goodbye', version: 'v1' },
    { name: 'part', description: 'Says goodbye warmly', version: 'v2' },
  ],
  getPromptMessages: ({ name, version, args }) => {
    const text = name === 'greet' ? `Say hello to ${args['who']}` : `Say goodbye, ${version}`;
    return [{ role: 'user', content: { type: 'text', text } }];
  },
};

/** Its tool `touch` tells all clients that something changed, the rest asks or serves only the caller. */
export function createFixtureServer(config: FixtureConfig = {}): MCPServer {
  const touch = createTool({
    id: 'touch',
    description: 'Says that the readme changed, or lists, or logs',
    inputSchema: z.object({ what: z.enum(['readme', 'lists', 'log']).default('readme') }),
    execute: async ({ what }) => {
      if (what === 'readme') await server.resources.notifyUpdated({ uri: 'fixture://readme' });
      if (what === 'log') {
        await server.sendLoggingMessage({ level: 'info', data: 'quiet' });
        await server.sendLoggingMessage({ level: 'error', data: 'loud' });
      }
      if (what === 'lists') {
        await server.resources.notifyListChanged();
        await server.prompts.notifyListChanged();
        await server.toolActions.notifyListChanged();
      }
      return 'touched';
    },
  });
  const server: MCPServer = new MCPServer({
    id: 'fixture',
    name: 'Fixture',
    version: '3.2.1',
    instructions: 'A server for tests.',
    tools: { add, echo, steps, fail, picture, ask, hang, page, think, folders, touch },
    resources,
    prompts,
    completions: {
      complete: ({ argument: { value } }) => ['Ada', 'Alan', 'Grace'].filter(name => name.startsWith(value)),
    },
    ...config,
  });
  return server;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await createFixtureServer().startStdio();
}
