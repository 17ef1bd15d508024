/** A client that lends servers its model, with the consent of its user, and names the folders they may work in. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { MCPClient, MCPServer } from '../../src/index.ts';
import type { MCPToolContext } from '../../src/index.ts';

const title = createTool({
  id: 'title',
  description: 'Finds a title.',
  execute: async (_input, context) => {
    const { content } = await (context.mcp as MCPToolContext).sampling.sendRequest({
      messages: [{ role: 'user', content: { type: 'text', text: 'A title for a story about rain' } }],
      maxTokens: 20,
    });
    return content.type === 'text' ? content.text : '';
  },
});
const folders = createTool({
  id: 'folders',
  description: 'Lists the folders.',
  execute: async (_input, context) => {
    const { roots } = await (context.mcp as MCPToolContext).roots.list();
    return roots.map(({ uri }) => uri).join(', ');
  },
});
const server = new MCPServer({ id: 'writer', name: 'Writer', version: '1.0.0', tools: { title, folders } });
const { url } = await server.listen({ port: 0 });

let mayAsk = true;
const askUser = (question: string): Promise<boolean> => {
  assert.match(question, /^writer wants to ask your model/);
  return Promise.resolve(mayAsk);
};
const runModel = (messages: readonly unknown[], maxTokens: number): Promise<string> => {
  assert.equal(messages.length, 1);
  assert.equal(maxTokens, 20);
  return Promise.resolve('Wet Streets');
};
let project = '/home/ann/books';

const mcp = new MCPClient({ servers: { writer: { url } } });
// #region sampling
await mcp.sampling.onRequest('writer', async ({ messages, maxTokens }, { serverName }) => {
  const allowed = await askUser(`${serverName} wants to ask your model: ${JSON.stringify(messages)}`);
  if (!allowed) throw Object.assign(new Error('User rejected sampling request'), { code: -1 });
  const text = await runModel(messages, Math.min(maxTokens, 1000));
  return { role: 'assistant', model: 'mine', content: { type: 'text', text } };
});
// #endregion sampling

// #region roots
await mcp.roots.onRequest('writer', () => [{ uri: `file://${project}`, name: 'Project' }]);
// #endregion roots

const { writer_title: findTitle, writer_folders: listFolders } = await mcp.listTools();
const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('');

assert.equal(textOf(await findTitle?.execute({})), 'Wet Streets');
mayAsk = false;
await assert.rejects(findTitle?.execute({}) ?? Promise.resolve(), {
  code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
});

assert.equal(textOf(await listFolders?.execute({})), 'file:///home/ann/books');
// #region changed
project = '/home/ann/poems';
await mcp.roots.notifyListChanged('writer'); // the server asks again
// #endregion changed
assert.equal(textOf(await listFolders?.execute({})), 'file:///home/ann/poems');

await mcp.disconnect();
await server.close();
