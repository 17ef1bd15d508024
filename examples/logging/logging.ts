/** Log messages of a tool to its caller, and of the server to all clients, each from the level it wants. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPServer } from '../../src/index.ts';

// #region tool
const backup = createTool({
  id: 'backup',
  description: 'Makes a backup.',
  execute: async (_input, context) => {
    await context.mcp?.log?.('info', 'Backup started'); // to the caller of this call alone
    await context.mcp?.log?.('warning', 'Disk is nearly full', { freeMb: 12 });
    return 'done';
  },
});
// #endregion tool

const server = new MCPServer({ id: 'keeper', name: 'Keeper', version: '1.0.0', tools: { backup } });
const { url } = await server.listen({ port: 0 });

async function connect(): Promise<{ client: Client; told: string[]; heard: () => Promise<void> }> {
  const client = new Client({ name: 'example', version: '1.0.0' });
  const told: string[] = [];
  let hear = (): void => undefined;
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    told.push(`${params.level} ${params.logger}: ${JSON.stringify(params.data)}`);
    hear();
  });
  await client.connect(new StreamableHTTPClientTransport(url));
  await client.ping();
  return { client, told, heard: () => new Promise(resolve => (hear = resolve)) };
}

const all = await connect();
const quiet = await connect();
await quiet.client.setLoggingLevel('warning');

await all.client.callTool({ name: 'backup' });
await quiet.client.callTool({ name: 'backup' });
const warning = 'warning Keeper: {"message":"Disk is nearly full","freeMb":12}';
assert.deepEqual(all.told, ['info Keeper: {"message":"Backup started"}', warning]);
assert.deepEqual(quiet.told, [warning]);

const everybody = Promise.all([all.heard(), quiet.heard()]);
// #region server
await server.sendLoggingMessage({ level: 'error', logger: 'disk', data: { message: 'Disk is full' } });
// #endregion server
await everybody;
assert.equal(all.told.at(-1), 'error disk: {"message":"Disk is full"}');
assert.equal(quiet.told.at(-1), all.told.at(-1));

await server.sendLoggingMessage({ level: 'info', data: 'Tidied up' });
await Promise.all([all.client.ping(), quiet.client.ping()]);
assert.equal(quiet.told.length, 2, 'below the level it wants');

await all.client.close();
await quiet.client.close();
await server.close();
