/** The project that Studio opens: a server of its own, and two of other people. Told by its environment where they are. */
import { readFileSync } from 'node:fs';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { MCPClient, MCPServer } from '@mastra/mcp';
import { z } from 'zod';

const { STUDIO_EVERYTHING, STUDIO_MAP, STUDIO_PAGE } = process.env;

const greet = createTool({
  id: 'greet',
  description: 'Greets a person',
  inputSchema: z.object({ name: z.string().describe('Who to greet'), loud: z.boolean().optional() }),
  outputSchema: z.object({ text: z.string() }),
  execute: async ({ name, loud }) => ({ text: loud === true ? `HELLO ${name}!` : `Hello ${name}` }),
});
const locate = createTool({
  id: 'locate',
  description: 'Says where a place is',
  inputSchema: z.object({ place: z.string() }),
  mcp: { _meta: { ui: { resourceUri: 'ui://desk/locate' } } },
  execute: async ({ place }) => ({
    content: [{ type: 'text', text: `${place} is on the desk` }],
    structuredContent: { place, on: 'desk' },
  }),
});
const desk = new MCPServer({
  id: 'desk',
  name: 'Desk',
  version: '1.0.0',
  description: 'A server of the project',
  tools: { greet, locate },
  appResources: { 'ui://desk/locate': { name: 'Desk', html: readFileSync(STUDIO_PAGE, 'utf8') } },
});

const mcp = new MCPClient({
  servers: {
    everything: { command: process.execPath, args: [STUDIO_EVERYTHING, 'stdio'] },
    map: { url: STUDIO_MAP },
  },
});

export const mastra = new Mastra({
  // Read by the command line as well, which sees nothing but this expression.
  server: { host: '127.0.0.1', port: Number(process.env.STUDIO_PORT) },
  mcpServers: { desk, ...mcp.toMCPServerProxies() },
});
