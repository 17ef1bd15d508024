/** Resources of a server: listing, reading, and hearing when one changes. */
import assert from 'node:assert/strict';
import { MCPClient, MCPServer } from '../../src/index.ts';

let weather = 'rain';
const server = new MCPServer({
  id: 'weather',
  name: 'Weather',
  version: '1.0.0',
  resources: {
    listResources: () => [{ uri: 'weather://current', name: 'Now', mimeType: 'text/plain' }],
    resourceTemplates: () => [{ uriTemplate: 'weather://{city}/today', name: 'Today' }],
    getResourceContent: ({ uri }) => ({ text: uri === 'weather://current' ? weather : `${uri}: sun` }),
  },
});
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { weather: { url } } });

// #region read
const byServer = await mcp.resources.list(); // { weather: [{ uri, name, mimeType }] }
const templates = await mcp.resources.templates(); // { weather: [{ uriTemplate, name }] }

const { contents } = await mcp.resources.read('weather', 'weather://current');
for (const content of contents) {
  console.log(content.uri, 'text' in content ? content.text : `${content.blob.length} characters of base64`);
}
// #endregion read

assert.deepEqual(
  byServer['weather']?.map(({ uri }) => uri),
  ['weather://current'],
);
assert.deepEqual(
  templates['weather']?.map(({ uriTemplate }) => uriTemplate),
  ['weather://{city}/today'],
);
assert.deepEqual(contents, [{ uri: 'weather://current', mimeType: 'text/plain', text: 'rain' }]);

// #region errors
const { resources, errors, errorDetails, durations } = await mcp.resources.listWithErrors({
  perServerTimeoutMs: 5000,
});
// #endregion errors
assert.deepEqual([Object.keys(resources), errors, errorDetails], [['weather'], {}, {}]);
assert.deepEqual(Object.keys(durations), ['weather']);

const read: string[] = [];
let hear = (): void => undefined;
// #region subscribe
const stop = await mcp.resources.onUpdated('weather', async ({ uri }) => {
  show(await mcp.resources.read('weather', uri));
});
await mcp.resources.subscribe('weather', 'weather://current'); // holds over reconnects
// #endregion subscribe

function show(result: unknown): void {
  read.push(JSON.stringify(result));
  hear();
}

async function change(to: string): Promise<void> {
  const heard = new Promise<void>(resolve => (hear = resolve));
  weather = to;
  // The client opens the stream on which it listens by itself, a moment after it has connected.
  const telling = setInterval(() => void server.resources.notifyUpdated({ uri: 'weather://current' }), 50);
  await heard;
  clearInterval(telling);
}

await change('snow');
await mcp.reconnectServer('weather');
await change('fog');
assert.match(read[0] ?? '', /snow/);
assert.match(read.at(-1) ?? '', /fog/);

// #region unsubscribe
await mcp.resources.unsubscribe('weather', 'weather://current');
stop();
// #endregion unsubscribe

await assert.rejects(mcp.resources.read('wether', 'weather://current'), {
  code: 'MCP_CLIENT_READ_RESOURCE_FAILED',
});
await mcp.disconnect();
await server.close();
