/** Prompts of a server: listing, filling in, completing what is typed. */
import assert from 'node:assert/strict';
import { MCPClient, MCPServer } from '../../src/index.ts';
import type { PromptMessage } from '../../src/index.ts';

const cities = ['London', 'Lisbon', 'Oslo'];
const ask = (text: string): PromptMessage => ({ role: 'user', content: { type: 'text', text } });
const server = new MCPServer({
  id: 'weather',
  name: 'Weather',
  version: '1.0.0',
  prompts: {
    listPrompts: () => [
      { name: 'current', version: 'v1', arguments: [{ name: 'location', required: true }] },
      { name: 'current', version: 'v2', arguments: [{ name: 'location', required: true }] },
    ],
    getPromptMessages: ({ version, args }) => [ask(`${version}: the weather in ${args['location']}`)],
  },
  completions: { complete: ({ argument }) => cities.filter(city => city.startsWith(argument.value)) },
});
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { weather: { url } } });

// #region get
const byServer = await mcp.prompts.list(); // { weather: [{ name, description, arguments, version }] }

const { prompt, messages } = await mcp.prompts.get({
  serverName: 'weather',
  name: 'current',
  args: { location: 'London' },
  version: 'v2', // only for servers that have versions
});
// #endregion get

assert.deepEqual(
  byServer['weather']?.map(({ version }) => version),
  ['v1', 'v2'],
);
assert.deepEqual(prompt, { name: 'current', version: 'v2' });
assert.deepEqual(messages, [ask('v2: the weather in London')]);

// #region complete
const { values, hasMore } = await mcp.completions.complete({
  serverName: 'weather',
  ref: { type: 'ref/prompt', name: 'current' }, // or { type: 'ref/resource', uri: 'weather://{city}' }
  argument: { name: 'location', value: 'L' },
});
// #endregion complete

assert.deepEqual([values, hasMore], [['London', 'Lisbon'], false]);
await assert.rejects(mcp.prompts.get({ serverName: 'wether', name: 'current' }), {
  code: 'MCP_CLIENT_GET_PROMPT_FAILED',
});
await mcp.disconnect();
await server.close();
