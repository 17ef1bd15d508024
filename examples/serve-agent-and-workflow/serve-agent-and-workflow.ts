/** An agent is served as the tool `ask_<key>`, a workflow as `run_<key>`. */
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const { model } = scriptedModel([{ text: 'The Sea At Night' }]);

// #region server
const editor = new Agent({
  id: 'editor',
  name: 'Editor',
  description: 'Finds a title for a text.', // required: it is how a client knows what to ask
  instructions: 'Answer with a title.',
  model,
});

const publish = createWorkflow({
  id: 'publish',
  description: 'Publishes a page under a title.', // required
  inputSchema: z.object({ title: z.string() }),
  outputSchema: z.object({ path: z.string() }),
})
  .map(async ({ inputData }) => ({ path: `/${inputData.title.toLowerCase().replaceAll(' ', '-')}` }))
  .commit();

const server = new MCPServer({
  id: 'newsroom',
  name: 'Newsroom',
  version: '1.0.0',
  agents: { editor },
  workflows: { publish },
});
// #endregion server

const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { newsroom: { url } } });
const { newsroom_ask_editor: ask, newsroom_run_publish: run } = await mcp.listTools();
assert.equal(ask?.description, "Ask agent 'Editor' a question. Agent description: Finds a title for a text.");
assert.equal(
  run?.description,
  "Run workflow 'publish'. Workflow description: Publishes a page under a title.",
);

const answer = await ask.execute({ message: 'A title for: the sea lay dark …' });
assert.deepEqual(answer, { content: [{ type: 'text', text: 'The Sea At Night' }] });

const page = await run.execute({ title: 'The Sea At Night' });
assert.deepEqual((page as { structuredContent: unknown }).structuredContent, { path: '/the-sea-at-night' });

// #region host
// The host itself gets what `generate` and the workflow gave, not its form for clients.
const { usage } = await server.executeTool('ask_editor', { message: 'A title for: dawn …' });
const { path } = await server.executeTool('run_publish', { title: 'Dawn' });
// #endregion host
assert.equal(usage.totalTokens, 2);
assert.equal(path, '/dawn');

await mcp.disconnect();
await server.close();
