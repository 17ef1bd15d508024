/** What a tool knows about its call, and what it can tell its caller while it runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const stopped = new EventTarget();
// #region tool
const crawl = createTool({
  id: 'crawl',
  description: 'Reads pages.',
  inputSchema: z.object({ pages: z.number() }),
  execute: async ({ pages }, context) => {
    const { extra, log, progress } = context.mcp!;
    await log?.('info', 'Crawl started', { pages });
    for (let page = 1; page <= pages; page += 1) {
      if (extra.signal.aborted) break; // the caller cancelled, left, or the server closes
      await readPage(page, extra.signal);
      await progress?.({ progress: page, total: pages, message: `Page ${page}` });
    }
    return `Read by session ${extra.sessionId}`;
  },
});
// #endregion tool

async function readPage(page: number, signal: AbortSignal): Promise<void> {
  if (page < 100) return;
  await once(signal, 'abort');
  stopped.dispatchEvent(new Event('stopped'));
}

const server = new MCPServer({ id: 'crawler', name: 'Crawler', version: '1.0.0', tools: { crawl } });
const { url } = await server.listen({ port: 0 });
const told: string[] = [];
const mcp = new MCPClient({
  servers: {
    crawler: {
      url,
      logger: ({ level, details }) => told.push(`${level} ${JSON.stringify(details?.['data'])}`),
    },
  },
});
await mcp.progress.onUpdate('crawler', ({ progress, total, message }) => {
  told.push(`${progress}/${total} ${message}`);
});

const { crawler_crawl: remote } = await mcp.listTools();
assert.deepEqual(await remote?.execute({ pages: 2 }), {
  content: [{ type: 'text', text: `Read by session ${mcp.sessionIds['crawler']}` }],
});
assert.deepEqual(told, ['info {"message":"Crawl started","pages":2}', '1/2 Page 1', '2/2 Page 2']);

const abort = new AbortController();
const ended = once(stopped, 'stopped');
await mcp.progress.onUpdate('crawler', ({ progress }) => {
  if (progress === 99) abort.abort();
});
const call = remote?.execute({ pages: 100 }, { abortSignal: abort.signal });
await assert.rejects(async () => call, { code: 'MCP_CLIENT_REQUEST_ABORTED' });
await ended; // the signal reached the tool

await mcp.disconnect();
await server.close();
