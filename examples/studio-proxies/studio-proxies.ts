/** Servers of other people in a Mastra instance, as Studio sees them: one with an MCP App, and one that runs as a child process. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
// #region register
import { Mastra } from '@mastra/core/mastra';
import { MCPClient } from '../../src/index.ts';
// #endregion register
import { MCPServer } from '../../src/index.ts';

// Stands for a server on the internet.
const locate = createTool({
  id: 'locate',
  description: 'Finds a place',
  inputSchema: z.object({ place: z.string() }),
  mcp: { _meta: { ui: { resourceUri: 'ui://map/page' } } },
  execute: async ({ place }) => {
    if (place === 'Atlantis') throw new Error('Nobody knows where it is');
    return { content: [{ type: 'text', text: `${place} is on the map` }], structuredContent: { place } };
  },
});
const html = '<!doctype html><p>A map</p>';
const remote = new MCPServer({
  name: 'Map',
  version: '4.5.6',
  tools: { locate },
  appResources: { 'ui://map/page': { name: 'Page', html, meta: { prefersBorder: true } } },
});
const { url: mapUrl } = await remote.listen({ port: 0 });

// #region register
const mcp = new MCPClient({
  servers: {
    everything: { command: 'node_modules/.bin/mcp-server-everything', args: ['stdio'] },
    map: { url: mapUrl },
  },
});

export const mastra: Mastra = new Mastra({
  mcpServers: { ...mcp.toMCPServerProxies() },
});
// #endregion register
assert.equal(mcp.getServerStatus()['everything']?.state, 'idle'); // nobody was connected

// #region use
const map = mastra.getMCPServerById('map');

const tools = await map?.getToolListInfo();
const found = await map?.executeTool('locate', { place: 'Ulm' }); // or 'map_locate'
const page = await map?.readResource('ui://map/page');
// #endregion use
assert.deepEqual(
  tools?.tools.map(({ name, _meta }) => [name, _meta?.['ui']]),
  [['map_locate', { resourceUri: 'ui://map/page' }]],
);
assert.deepEqual(found, {
  content: [{ type: 'text', text: 'Ulm is on the map' }],
  structuredContent: { place: 'Ulm' },
});
assert.deepEqual(page?.contents, [
  {
    uri: 'ui://map/page',
    mimeType: 'text/html;profile=mcp-app',
    text: html,
    _meta: { ui: { prefersBorder: true } },
  },
]);

// #region failed
const failed = await map?.executeTool('locate', { place: 'Atlantis' });
console.log(failed.isError, failed.content); // what the tool said
// #endregion failed
assert.equal(failed.isError, true);
await assert.rejects(async () => map?.executeTool('travel', {}), { details: { status: 404 } });

const everything = mastra.getMCPServerById('everything');
assert.deepEqual(await everything?.executeTool('echo', { message: 'hi' }), {
  content: [{ type: 'text', text: 'Echo: hi' }],
});
const names = await Promise.all([everything, map].map(async server => server?.getToolListInfo()));
assert.deepEqual(
  names.flatMap(listing => listing?.tools.map(({ name }) => name)),
  Object.keys(await mcp.listTools()), // an agent knows them under the same names
);

// #region disconnect
await mcp.disconnect(); // ends the connections; Mastra does not
// #endregion disconnect
await remote.close();
