/** What a client gets of a tool that fails, and what the host itself gets. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const divide = createTool({
  id: 'divide',
  description: 'Divides.',
  inputSchema: z.object({ by: z.number() }),
  execute: async ({ by }) => {
    if (by === 0) throw new Error('Division by zero');
    return 1 / by;
  },
});
const server = new MCPServer({ id: 'sums', name: 'Sums', version: '1.0.0', tools: { divide } });
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({
  servers: { strict: { url }, lenient: { url, onToolError: 'return' } },
});
const { strict_divide: strict, lenient_divide: lenient } = await mcp.listTools();

// #region throw
await assert.rejects(async () => strict?.execute({ by: 0 }), {
  code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
  message: 'Division by zero',
  toolName: 'divide',
  serverName: 'strict',
  mayHaveExecuted: true,
});
// #endregion throw

// #region return
assert.deepEqual(await lenient?.execute({ by: 0 }), {
  isError: true,
  content: [{ type: 'text', text: 'Division by zero' }],
});
// #endregion return

// #region host
await assert.rejects(server.executeTool('divide', { by: 0 }), { code: 'MCP_SERVER_TOOL_EXECUTE_FAILED' });
await assert.rejects(server.executeTool('multiply', {}), {
  code: 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
  details: { status: 404 },
});
// #endregion host

await mcp.disconnect();
await server.close();
