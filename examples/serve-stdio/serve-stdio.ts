/** A client starts the program in `server.ts` and calls its tool. */
import assert from 'node:assert/strict';
import { MCPClient } from '../../src/index.ts';

const mcp = new MCPClient({
  servers: {
    clock: {
      command: process.execPath,
      args: ['--import', 'tsx', 'examples/serve-stdio/server.ts'],
      connectTimeout: 60_000, // the program is compiled while it starts
    },
  },
});

const { clock_now: now } = await mcp.listTools();
const answer = await now?.execute({});
const { time } = answer as { time: string };
assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
await mcp.disconnect();
