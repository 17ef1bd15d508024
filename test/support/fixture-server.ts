/** The MCPServer that stories over every transport share; `node --import tsx fixture-server.ts` serves it on stdio. */
import { createTool } from '@mastra/core/tools';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';

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

export function createFixtureServer(config: FixtureConfig = {}): MCPServer {
  return new MCPServer({
    id: 'fixture',
    name: 'Fixture',
    version: '3.2.1',
    instructions: 'A server for tests.',
    tools: { add, echo, steps, fail, picture, ask, hang },
    ...config,
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await createFixtureServer().startStdio();
}
