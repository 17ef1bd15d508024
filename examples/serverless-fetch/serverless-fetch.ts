/** A server for runtimes that hand over web-standard requests, without sessions and without a socket of its own. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const resize = createTool({
  id: 'resize',
  description: 'Resizes pictures.',
  inputSchema: z.object({ count: z.number() }),
  outputSchema: z.object({ resized: z.number() }),
  execute: async ({ count }, context) => {
    for (let done = 1; done <= count; done += 1)
      await context.mcp?.progress?.({ progress: done, total: count });
    return { resized: count };
  },
});

// #region handler
const server = new MCPServer({ id: 'pictures', name: 'Pictures', version: '1.0.0', tools: { resize } });

export default {
  fetch: (request: Request): Promise<Response> =>
    server.fetch(request, { options: { serverless: true, serverlessStreaming: true } }),
};
// #endregion handler

// #region plain
const plain = (request: Request): Promise<Response> =>
  server.fetch(request, { options: { serverless: true } }); // one JSON answer, progress is not sent
// #endregion plain

// #region in-process
// The same call without a network: a client whose requests go straight to the server.
const mcp = new MCPClient({
  servers: {
    pictures: {
      url: 'https://pictures.example/mcp',
      fetch: (url, init) =>
        server.fetch(new Request(url, init), { options: { serverless: true, serverlessStreaming: true } }),
    },
    plain: {
      url: 'https://pictures.example/mcp',
      fetch: (url, init) => plain(new Request(url, init)),
    },
  },
});
// #endregion in-process

const seen: string[] = [];
await mcp.progress.onUpdate('pictures', ({ progress }) => seen.push(`streamed ${progress}`));
await mcp.progress.onUpdate('plain', ({ progress }) => seen.push(`plain ${progress}`));
const tools = await mcp.listTools();
assert.deepEqual(await tools['pictures_resize']?.execute({ count: 3 }), { resized: 3 });
assert.deepEqual(await tools['plain_resize']?.execute({ count: 3 }), { resized: 3 });
assert.deepEqual(seen, ['streamed 1', 'streamed 2', 'streamed 3']);

await mcp.disconnect();
await server.close();
