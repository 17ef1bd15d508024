// Target "raw": the MCP SDK v1, low level (Server, Client and its own transports), no validation of arguments.
// It is the base of every ratio.
import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answerCall, wireTool, wireTools, zodInput } from '../tools.mjs';

const IDENTITY = { name: 'bench', version: '1.0.0' };

/** The user's part of constructing a server: not measured. */
export const prepareTools = count => Array.from({ length: count }, () => zodInput());

export function construct(inputs) {
  const tools = wireTools(inputs.map((input, i) => wireTool(i, { input })));
  return { tools, connectMemory: transport => makeServer(tools).connect(transport) };
}

function makeServer(tools) {
  const server = new Server(IDENTITY, { capabilities: { tools: { listChanged: true }, logging: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, request => answerCall(request.params));
  return server;
}

export function serve({ tools: count = 0 } = {}) {
  const { tools, connectMemory } = construct(prepareTools(count));
  const sessions = new Map();
  return {
    connectMemory,
    startStdio: () => makeServer(tools).connect(new StdioServerTransport()),
    async handle(req, res, url) {
      if (url.pathname === '/serverless') {
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
        await makeServer(tools).connect(transport);
        return transport.handleRequest(req, res);
      }
      let transport = sessions.get(req.headers['mcp-session-id']);
      if (!transport) {
        transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: id => sessions.set(id, transport),
        });
        transport.onclose = () => sessions.delete(transport.sessionId);
        await makeServer(tools).connect(transport);
      }
      return transport.handleRequest(req, res);
    },
  };
}

export async function connect({ url, command, args }) {
  const client = new Client(IDENTITY, { capabilities: {} });
  const stdio = () => new StdioClientTransport({ command, args });
  await client.connect(url ? new StreamableHTTPClientTransport(new URL(url)) : stdio());
  return {
    call: (name, input) => client.callTool({ name, arguments: input }),
    list: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
}
