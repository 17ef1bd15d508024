/** An agent uses the tools of an MCP server that runs as a child process. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
// #region agent
import { Agent } from '@mastra/core/agent';
import { MCPClient } from '../../src/index.ts';
// #endregion agent
import { scriptedModel } from '../support/scripted-model.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

// #region agent
const mcp = new MCPClient({
  servers: {
    files: { command: 'node_modules/.bin/mcp-server-filesystem', args: [folder] },
  },
});
// #endregion agent

const { model } = scriptedModel([
  { call: 'files_list_directory', args: { path: folder } },
  results => ({ text: `There is ${results[0]}` }),
]);

// #region agent
const agent = new Agent({
  id: 'librarian',
  name: 'Librarian',
  instructions: 'Answer from the files you can read.',
  model,
  tools: await mcp.listTools(),
});

const { text } = await agent.generate('Which files are there?');
console.log(text);
// #endregion agent
assert.equal(text, 'There is [FILE] client-tools.ts');

const reader = scriptedModel([
  { call: 'list_directory', args: { path: folder } },
  results => ({ text: `${results[0]}` }),
]);
const guest = new Agent({ id: 'guest', name: 'Guest', instructions: 'Answer.', model: reader.model });

// #region toolsets
const stream = await guest.stream('Which files are there?', { toolsets: await mcp.listToolsets() });
for await (const part of stream.textStream) process.stdout.write(part);
// #endregion toolsets
assert.equal(await stream.text, '[FILE] client-tools.ts');

// #region direct
const { files_list_directory: list } = await mcp.listTools();
const result = await list?.execute?.({ path: folder });
console.log(result);
// #endregion direct
assert.deepEqual(result, { content: '[FILE] client-tools.ts' });

// #region disconnect
await mcp.disconnect();
// #endregion disconnect
