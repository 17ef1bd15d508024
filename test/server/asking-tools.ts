/** Tools that ask and tell their caller everything there is; `node --import tsx asking-tools.ts` serves them on stdio. */
import { pathToFileURL } from 'node:url';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { LoggingLevel, MCPToolContext } from '../../src/server/index.ts';

const mcpOf = (context: { readonly mcp?: unknown }): MCPToolContext => context.mcp as MCPToolContext;

/** A server whose `everything` asks its caller one question of each kind, and whose `announce` tells all clients. */
export function createAskingServer(): MCPServer {
  const everything = createTool({
    id: 'everything',
    description: 'Asks one question of each kind',
    execute: async (_input, context) => {
      const { elicitation, sampling, roots } = mcpOf(context);
      const properties = { name: { type: 'string' } };
      const form = await elicitation.sendRequest({
        message: 'Who?',
        requestedSchema: { type: 'object', properties },
      });
      const url = 'https://example.com/login';
      const page = await elicitation.sendRequest({
        mode: 'url',
        message: 'Log in',
        url,
        elicitationId: 'login',
      });
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
      const { model } = await sampling.sendRequest({ messages, maxTokens: 9 });
      const listed = await roots.list();
      return { form, page, model, roots: listed.roots.map(root => root.uri) };
    },
  });
  const announce = createTool({
    id: 'announce',
    description: 'Tells all clients, at two levels, that a page is done, and that its tools changed',
    inputSchema: z.object({ levels: z.array(z.string()) }),
    execute: async ({ levels }) => {
      for (const level of levels)
        await server.sendLoggingMessage({ level: level as LoggingLevel, data: level });
      await server.toolActions.notifyListChanged();
      return server.elicitation.complete({ elicitationId: 'login' });
    },
  });
  const server: MCPServer = new MCPServer({
    name: 'Asking',
    version: '1.0.0',
    tools: { everything, announce },
  });
  return server;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await createAskingServer().startStdio();
}
