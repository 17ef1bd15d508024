/** A server in a Mastra instance: found by id, shown in Studio, and called by the host itself. */
import assert from 'node:assert/strict';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/index.ts';

const greet = createTool({
  id: 'greet-tool',
  description: 'Greets the user.',
  inputSchema: z.object({ greeting: z.string() }),
  execute: async ({ greeting }, { requestContext }) => {
    const { name }: { name: string } = requestContext.get('user');
    return `${greeting}, ${name}!`;
  },
});
const wave = createTool({ id: 'wave-tool', description: 'Waves.', execute: async () => '👋' });

// #region register
const server = new MCPServer({ id: 'greeter', name: 'Greeter', version: '1.0.0', tools: { greet } });
const mastra = new Mastra({ mcpServers: { greetings: server }, logger: false });

mastra.getMCPServer('greetings'); // by the key it is registered under
mastra.getMCPServerById('greeter'); // by its id, as the routes of the REST interface and Studio know it
// #endregion register
assert.equal(mastra.getMCPServer('greetings'), server);
assert.equal(mastra.getMCPServerById('greeter'), server);
assert.deepEqual(Object.keys(mastra.listMCPServers() ?? {}), ['greetings']);

// #region dynamic
await server.toolActions.add({ wave });
mastra.listTools(); // has 'greet-tool' and 'wave-tool': the ids of the tools, not their keys
await server.toolActions.remove(['wave']); // gone from both
// #endregion dynamic
assert.deepEqual(Object.keys(mastra.listTools() ?? {}), ['greet-tool']);

// #region host
const requestContext = new RequestContext([['user', { name: 'Ada' }]]);
const greeting = await server.executeTool('greet', { greeting: 'Hello' }, { requestContext });
// #endregion host
assert.equal(greeting, 'Hello, Ada!');
await assert.rejects(server.executeTool('wave', {}), {
  code: 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
  details: { status: 404 },
});

await server.close(); // Mastra does not
