/** The second process of the demo: an MCPServer of this package with a tool, an agent and a workflow, over HTTP. */
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';
import { MCPServer } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const count_words = createTool({
  id: 'count_words',
  description: 'Counts the words of a text.',
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.object({ words: z.number() }),
  execute: ({ text }) => Promise.resolve({ words: text.split(/\s+/).filter(Boolean).length }),
});

const editor = new Agent({
  id: 'editor',
  name: 'Editor',
  description: 'Finds a title for a text.',
  instructions: 'Answer with a title of at most five words and nothing else.',
  model: process.env['MODEL'] ?? scriptedModel([{ text: 'The Documents At A Glance' }]).model,
});

const Title = z.object({ title: z.string() });
const Page = z.object({ path: z.string() });
const publish = createWorkflow({
  id: 'publish',
  description: 'Publishes a page under a title and returns its path.',
  inputSchema: Title,
  outputSchema: Page,
})
  .then(
    createStep({
      id: 'to-path',
      inputSchema: Title,
      outputSchema: Page,
      execute: ({ inputData }) =>
        Promise.resolve({ path: `/pages/${inputData.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}` }),
    }),
  )
  .commit();

const server = new MCPServer({
  id: 'newsroom',
  name: 'Newsroom',
  version: '1.0.0',
  tools: { count_words },
  agents: { editor },
  workflows: { publish },
});

const { url } = await server.listen({ port: 0 });
console.error(`listening at ${String(url)}`);
process.once('SIGTERM', () => void server.close());
