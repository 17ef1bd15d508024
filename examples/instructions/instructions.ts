/** What a server says about its use reaches the system prompt of an agent, where the client allows it. */
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { MCPClient } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';

// #region forward
const mcp = new MCPClient({
  servers: {
    everything: {
      command: 'node_modules/.bin/mcp-server-everything',
      args: ['stdio'],
      forwardInstructions: true,
      instructionsMaxLength: 200,
    },
  },
});
// #endregion forward

const { model, systemPrompt } = scriptedModel([{ text: 'Understood.' }]);
const agent = new Agent({
  id: 'guest',
  name: 'Guest',
  instructions: 'Be brief.',
  model,
  tools: await mcp.listTools(),
});

// #region review
const { everything: instructions } = mcp.getServerInstructions();
console.log(instructions);
// #endregion review
assert.ok(instructions !== undefined && instructions.length > 200);

await agent.generate('Hello');
assert.equal(
  systemPrompt(),
  `Be brief.\n## Guidance from MCP server "everything"\n\n${instructions.trim().slice(0, 200)}`,
);
await mcp.disconnect();
