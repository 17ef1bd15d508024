/** A server that is told to stop while calls are running: every one of them is answered. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const kitchen = new EventEmitter();
let brewing = 0;
const brew = createTool({
  id: 'brew',
  description: 'Makes a cup of tea.',
  inputSchema: z.object({ cup: z.number() }),
  outputSchema: z.object({ ready: z.number() }),
  execute: async ({ cup }) => {
    brewing += 1;
    if (brewing === 3) kitchen.emit('busy');
    await once(kitchen, 'boils');
    return { ready: cup };
  },
});
const server = new MCPServer({ id: 'tea', name: 'Tea', version: '1.0.0', tools: { brew } });

const web = createServer((req, res) => {
  void server.startHTTP({ url: new URL(req.url ?? '/', 'http://localhost'), httpPath: '/mcp', req, res });
});
await once(web.listen(0, '127.0.0.1'), 'listening');
const { port } = web.address() as { port: number };

// #region drain
process.once('SIGTERM', () => {
  void server.close({ drainMs: 20_000 }).then(() => web.close());
});
// #endregion drain

const mcp = new MCPClient({ servers: { tea: { url: `http://127.0.0.1:${port}/mcp` } } });
const { tea_brew: tool } = await mcp.listTools();
assert.ok(tool);
const busy = once(kitchen, 'busy');
const cups = [1, 2, 3].map(cup => tool.execute({ cup }));
await busy;

process.kill(process.pid, 'SIGTERM');
await once(process, 'SIGTERM');
const late = await fetch(`http://127.0.0.1:${port}/mcp`, {
  method: 'POST',
  headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
});
assert.deepEqual([late.status, late.headers.get('retry-after')], [503, '5']);

const closed = once(web, 'close');
kitchen.emit('boils');
assert.deepEqual(await Promise.all(cups), [{ ready: 1 }, { ready: 2 }, { ready: 3 }]);
// Nothing of the server is left: the port is free, and once its client is gone the process ends by itself.
await closed;
await mcp.disconnect();
