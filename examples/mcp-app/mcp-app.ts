/** A tool with a page that shows its result, as MCP Apps. The client is the SDK's, and reads the page as a host would. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
// #region tool
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
// #endregion tool
// #region server
import { fileURLToPath } from 'node:url';
import { MCPServer } from '../../src/index.ts';
// #endregion server

// #region tool
const calculatorTool = createTool({
  id: 'calculatorWithUI',
  description: 'An interactive calculator',
  inputSchema: z.object({
    num1: z.number(),
    num2: z.number(),
    operation: z.enum(['add', 'subtract']),
  }),
  mcp: { _meta: { ui: { resourceUri: 'ui://calculator/main' } } }, // the page to show
  execute: async ({ num1, num2, operation }) => {
    const result = operation === 'add' ? num1 + num2 : num1 - num2;
    return {
      content: [{ type: 'text', text: `The result is ${result}.` }], // for the model, and hosts without pages
      structuredContent: { result }, // for the page
    };
  },
});
// #endregion tool

// #region server
const server = new MCPServer({
  id: 'app-server',
  name: 'App Server',
  version: '1.0.0',
  tools: { calculatorTool },
  appResources: {
    'ui://calculator/main': {
      name: 'Interactive Calculator',
      htmlPath: fileURLToPath(new URL('calculator.html', import.meta.url)),
      meta: { csp: { connectDomains: ['https://api.example.com'] }, prefersBorder: true },
    },
  },
});
// #endregion server

const { url } = await server.listen({ port: 0 });
const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(url));

// What a host does: the tool names its page, the page is read, and gets the result of the call.
const [tool] = (await client.listTools()).tools;
const uri = 'ui://calculator/main';
assert.deepEqual(tool?._meta, { ui: { resourceUri: uri }, 'ui/resourceUri': uri }); // older hosts read the latter
const [page] = (await client.readResource({ uri })).contents;
assert.ok(page !== undefined && 'text' in page && page.text.includes('<h2>Calculator</h2>'));
assert.equal(page.mimeType, 'text/html;profile=mcp-app');
assert.deepEqual(page._meta, {
  ui: { csp: { connectDomains: ['https://api.example.com'] }, prefersBorder: true },
});

const call = { name: 'calculatorTool', arguments: { num1: 20, num2: 22, operation: 'add' } };
assert.deepEqual(await client.callTool(call), {
  content: [{ type: 'text', text: 'The result is 42.' }],
  structuredContent: { result: 42 },
});

await client.close();
await server.close();
