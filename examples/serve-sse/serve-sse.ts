/** Clients that know no Streamable HTTP yet, served beside those that do. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HonoContextLike } from '@mastra/core/mcp';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

const session_of = createTool({
  id: 'session_of',
  description: 'Says which session the caller is in.',
  inputSchema: z.object({}),
  execute: async (_input, { mcp }) => mcp?.extra.sessionId ?? 'none',
});

const server = new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { session_of } });

// #region node
const web = createServer((req, res) => {
  const url = new URL(req.url ?? '/', 'http://localhost');
  // Newer clients use /mcp; older ones open a stream at /sse, and POST to /messages.
  if (url.pathname === '/mcp') void server.startHTTP({ url, httpPath: '/mcp', req, res });
  else void server.startSSE({ url, ssePath: '/sse', messagePath: '/messages', req, res });
});
// #endregion node
await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;

// #region hono
type Context = HonoContextLike & { req: { url: string } }; // Hono's own Context is one
const handle = (context: Context): Promise<Response> =>
  server.startHonoSSE({
    url: new URL(context.req.url),
    ssePath: '/sse',
    messagePath: '/messages',
    context,
  });
// app.all('/sse', handle);
// app.all('/messages', handle);
// #endregion hono

const toContext = (request: Request): Context => ({
  req: Object.assign(
    {
      header: (name: string) => request.headers.get(name) ?? undefined,
      query: (name: string) => new URL(request.url).searchParams.get(name) ?? undefined,
      json: () => request.json(),
    },
    { raw: request, url: request.url },
  ),
  text: (text, status = 200, headers = {}) => new Response(text, { status, headers }),
});

const mcp = new MCPClient({
  servers: {
    old: { url: `${origin}/sse`, transport: 'sse' },
    // Tries Streamable HTTP first, and falls back because POST is not allowed at /sse.
    either: { url: `${origin}/sse` },
    recent: { url: `${origin}/mcp` },
    hono: {
      url: 'http://localhost/sse',
      transport: 'sse',
      fetch: (url, init) => handle(toContext(new Request(url, init))),
    },
  },
});

const tools = await mcp.listTools();
const sessions = await Promise.all(
  ['old', 'either', 'recent', 'hono'].map(async name => {
    const result = await tools[`${name}_session_of`]?.execute({});
    return (result as { content: { text: string }[] }).content[0]?.text ?? '';
  }),
);
assert.equal(new Set(sessions).size, 4, 'each connection is a session of its own');
const status = mcp.getServerStatus();
assert.deepEqual(
  ['old', 'either', 'recent', 'hono'].map(name => status[name]?.transport),
  ['sse', 'sse', 'http', 'sse'],
);

const [old, either, recent, hono] = sessions;
assert.equal(server.getSseTransport(old)?.sessionId, old);
assert.equal(server.getSseTransport(either)?.sessionId, either);
assert.equal(server.getStreamableHTTPTransport()?.sessionId, recent);
assert.equal(server.getSseHonoTransport()?.sessionId, hono);

await mcp.disconnect();
await server.close();
web.close();
