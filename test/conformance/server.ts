/**
 * The server of the official scenarios: an MCPServer with default options, and an event store where there are sessions.
 *
 * `node --import tsx server.ts [--serverless]` prints `LISTENING <url>` and serves until it is killed.
 */
import { InMemoryEventStore, MCPServer } from '../../src/server/index.ts';
import { completions, prompts, resources } from './resources-and-prompts.ts';
import { tools } from './tools.ts';

const server = new MCPServer({
  name: 'Conformance',
  version: '1.0.0',
  tools,
  resources,
  prompts,
  completions,
});

const options = process.argv.includes('--serverless')
  ? { serverless: true, serverlessStreaming: true }
  : { eventStore: new InMemoryEventStore(), retryInterval: 500 };
const { url } = await server.listen({ port: 0, options });
console.log(`LISTENING ${url.href}\n`);
