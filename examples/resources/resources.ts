/** Resources: listed ones, a family of them as a template, and clients that are told of changes. The client is the SDK's. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
// #region resources
import { MCPServer } from '../../src/index.ts';
import type { MCPServerResources } from '../../src/index.ts';
// #endregion resources

// #region resources
const files = new Map([
  ['file://data/123.txt', 'This is the content of the data file.'],
  ['file://data/456.txt', 'And this is that of another one.'],
]);

const resources: MCPServerResources = {
  listResources: async () => [{ uri: 'file://data/123.txt', name: 'Data File', mimeType: 'text/plain' }],
  resourceTemplates: async () => [
    {
      uriTemplate: 'file://data/{id}',
      name: 'Data File',
      description: 'A file containing data.',
      mimeType: 'text/plain',
    },
  ],
  getResourceContent: async ({ uri }) => {
    if (uri === 'file://data/logo') return { blob: 'iVBORw0KGgo=', mimeType: 'image/png' }; // Base64
    const text = files.get(uri);
    return text === undefined ? undefined : { text }; // undefined: there is no such resource
  },
};

const server = new MCPServer({
  id: 'resourceful-server',
  name: 'Resourceful Server',
  version: '1.0.0',
  resources,
});
// #endregion resources

const client = new Client({ name: 'example', version: '1.0.0' });
const told: string[] = [];
let onTold = (): void => undefined;
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
  told.push(params.uri);
});
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
  told.push('the list');
  onTold();
});
const [near, far] = InMemoryTransport.createLinkedPair();
await server.getServer().connect(far);
await client.connect(near);

assert.deepEqual(
  (await client.listResources()).resources.map(({ uri }) => uri),
  ['file://data/123.txt'],
);
assert.equal((await client.listResourceTemplates()).resourceTemplates[0]?.uriTemplate, 'file://data/{id}');
const read = async (uri: string): Promise<unknown> => (await client.readResource({ uri })).contents;
assert.deepEqual(await read('file://data/123.txt'), [
  { uri: 'file://data/123.txt', mimeType: 'text/plain', text: 'This is the content of the data file.' },
]);
assert.deepEqual(
  await read('file://data/456.txt'),
  [{ uri: 'file://data/456.txt', mimeType: 'text/plain', text: 'And this is that of another one.' }],
  'a URI that is not listed is read as well, with the media type of the template it fits',
);
assert.deepEqual(await read('file://data/logo'), [
  { uri: 'file://data/logo', mimeType: 'image/png', blob: 'iVBORw0KGgo=' },
]);
await assert.rejects(read('file://data/789.txt'), { code: -32002 });

await client.subscribeResource({ uri: 'file://data/123.txt' });
const everything = new Promise<void>(resolve => (onTold = resolve));
// #region updated
files.set('file://data/123.txt', 'This is the new content.');
await server.resources.notifyUpdated({ uri: 'file://data/123.txt' }); // to the clients that subscribed to it
// #endregion updated
await server.resources.notifyUpdated({ uri: 'file://data/456.txt' });
// #region list
files.set('file://data/789.txt', 'A third file.');
await server.resources.notifyListChanged(); // to every client
// #endregion list
await everything;
assert.deepEqual(told, ['file://data/123.txt', 'the list']);

// #region host
const { contents } = await server.readResource('file://data/789.txt');
await assert.rejects(server.readResource('file://data/none.txt'), {
  code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
  message: 'Resource not found: file://data/none.txt',
  details: { status: 404 },
});
// #endregion host
assert.deepEqual(contents, [{ uri: 'file://data/789.txt', mimeType: 'text/plain', text: 'A third file.' }]);

await client.close();
await server.close();
