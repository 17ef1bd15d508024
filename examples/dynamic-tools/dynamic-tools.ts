/** Tools come and go while a server runs. */
import assert from 'node:assert/strict';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { MCPClient, MCPServer } from '../../src/index.ts';

const tool = (id: string): ReturnType<typeof createTool> =>
  createTool({ id, description: `Answers ${id}.`, execute: async () => id });

const server = new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { open: tool('open') } });
const mastra = new Mastra({ mcpServers: { desk: server }, logger: false });
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { desk: { url } } });
assert.deepEqual(Object.keys(await mcp.listTools()), ['desk_open']);

// #region add
// Every connected client is told that the list changed.
await server.toolActions.add({ search: tool('search') });
// #endregion add
const tools = await mcp.listTools();
assert.deepEqual(Object.keys(tools), ['desk_open', 'desk_search']);
assert.ok(Object.hasOwn(mastra.listTools() ?? {}, 'search'), 'Mastra knows it as well');

// #region remove
await server.toolActions.remove(['search']);
// #endregion remove
assert.deepEqual(Object.keys(await mcp.listTools()), ['desk_open']);
assert.ok(!Object.hasOwn(mastra.listTools() ?? {}, 'search'));
await assert.rejects(async () => tools['desk_search']?.execute({}), {
  code: 'MCP_CLIENT_REQUEST_FAILED',
  rpcCode: -32602,
});

await mcp.disconnect();
await server.close();
