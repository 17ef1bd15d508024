/** A served tool that needs approval asks the user of the calling client before it runs. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const sent: string[] = [];

// #region tool
const send = createTool({
  id: 'send',
  description: 'Sends a letter.',
  inputSchema: z.object({ to: z.string(), password: z.string() }),
  requireApproval: true, // or a function of the arguments
  execute: async ({ to }) => {
    sent.push(to);
    return `Sent to ${to}.`;
  },
});
const server = new MCPServer({ id: 'post', name: 'Post', version: '1.0.0', tools: { send } });
// #endregion tool

const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { post: { url } } });
const { post_send: remote } = await mcp.listTools();

// #region client
let answer = true;
await mcp.elicitation.onRequest('post', async ({ message }) => {
  console.log(message); // tool, server and arguments, with secrets masked
  return { action: 'accept', content: { approve: answer } };
});
// #endregion client

const letter = { to: 'Ada', password: 'hunter2' };
assert.deepEqual(await remote?.execute(letter), { content: [{ type: 'text', text: 'Sent to Ada.' }] });

answer = false;
await assert.rejects(async () => remote?.execute(letter), { code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED' });
assert.deepEqual(sent, ['Ada']);

// The host's own calls are not asked about.
await server.executeTool('send', { to: 'Bob', password: '' });
assert.deepEqual(sent, ['Ada', 'Bob']);

await mcp.disconnect();
await server.close();
