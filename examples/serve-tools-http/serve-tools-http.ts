/** Mastra tools for any MCP client, over Streamable HTTP. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { MCPClient } from '../../src/index.ts';
// #region server
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/index.ts';

const count_words = createTool({
  id: 'count_words',
  description: 'Counts the words of a text.',
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.object({ words: z.number() }),
  execute: async ({ text }) => ({ words: text.split(/\s+/).length }),
});

const server = new MCPServer({
  id: 'texts',
  name: 'Texts',
  version: '1.0.0',
  tools: { count_words },
});

const { url } = await server.listen({ port: 0 }); // 0 is any free port
console.log(`MCP clients connect to ${url.href}`);
// #endregion server

const mcp = new MCPClient({ servers: { texts: { url } } });
const { texts_count_words: remote } = await mcp.listTools();
assert.equal(remote?.description, 'Counts the words of a text.');
assert.deepEqual(await remote.execute({ text: 'to be or not' }), { words: 4 });
assert.equal(mcp.getServerStatus()['texts']?.serverInfo?.name, 'Texts');

// #region node
// In a node:http server, or an Express handler, that serves other things as well:
const web = createServer((req, res) => {
  if (req.url?.startsWith('/mcp')) {
    void server.startHTTP({ url: new URL(req.url, 'http://localhost'), httpPath: '/mcp', req, res });
  } else {
    res.end('Hello');
  }
});
// #endregion node
await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
const { port } = web.address() as { port: number };
const other = new MCPClient({ servers: { texts: { url: `http://127.0.0.1:${port}/mcp` } } });
assert.deepEqual(Object.keys(await other.listTools()), ['texts_count_words']);
assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'Hello');

await Promise.all([mcp.disconnect(), other.disconnect()]);
// #region close
await server.close({ drainMs: 5000 }); // running calls get five seconds
// #endregion close
web.close();
