/** Each user sees and calls only the tools that the FGA provider of the Mastra instance allows them. */
import assert from 'node:assert/strict';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { MCPClient, MCPServer } from '../../src/index.ts';

const tool = (id: string): ReturnType<typeof createTool> =>
  createTool({ id, description: `Does ${id}.`, execute: async () => `${id} done` });

// #region server
const server = new MCPServer({
  id: 'bank',
  name: 'Bank',
  version: '1.0.0',
  tools: { balance: tool('balance'), transfer: tool('transfer') },
  // From what your HTTP layer verified to the user the provider knows.
  mapAuthInfoToUser: ({ authInfo }) => (authInfo as Auth | undefined)?.extra.subject,
  fga: { resourceMapping: { tool: { fgaResourceType: 'bank-tool' } } },
});
// #endregion server

interface Auth {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly extra: { readonly subject: string };
}

const asked: string[] = [];
const isAllowed = (user: unknown, { type, id }: { type: string; id: string }): boolean => {
  asked.push(`${String(user)} ${type} ${id}`);
  return user === 'ada' || id.includes('balance');
};
const mastra = new Mastra({
  logger: false,
  mcpServers: { bank: server },
  server: {
    fga: {
      check: async (user: unknown, { resource }: { resource: { type: string; id: string } }) =>
        isAllowed(user, resource),
      require: async (user: unknown, { resource }: { resource: { type: string; id: string } }) => {
        if (!isAllowed(user, resource)) throw Object.assign(new Error('denied'), { status: 403 });
      },
      filterAccessible: async <T>(_user: unknown, resources: T[]) => resources,
    },
  },
});
assert.equal(mastra.getMCPServer('bank'), server);

const clientOf = (subject: string): MCPClient => {
  const authInfo: Auth = { token: `${subject}-token`, clientId: 'app', scopes: [], extra: { subject } };
  const fetchBank = (url: string | URL, init?: RequestInit): Promise<Response> =>
    server.fetch(new Request(url, init), { authInfo });
  return new MCPClient({
    id: subject,
    servers: { bank: { url: 'https://bank.example/mcp', fetch: fetchBank } },
  });
};

const [ada, bob] = [clientOf('ada'), clientOf('bob')];
assert.deepEqual(Object.keys(await ada.listTools()), ['bank_balance', 'bank_transfer']);
assert.deepEqual(Object.keys(await bob.listTools()), ['bank_balance']);
assert.ok(asked.includes('bob bank-tool ["bank","transfer"]'));

asked.length = 0;
const { bank_transfer: transfer } = await ada.listTools();
asked.length = 0;
await transfer?.execute({});
assert.deepEqual(asked, ['ada bank-tool ["bank","transfer"]'], 'exactly one check per call');

// A tool that is denied is answered like one that does not exist.
const known = bob.toolFromDefinition({
  serverName: 'bank',
  definition: { name: 'transfer', inputSchema: { type: 'object' } },
});
await assert.rejects(async () => known.execute({}), { rpcCode: -32602, message: /Unknown tool: transfer/ });

await Promise.all([ada.disconnect(), bob.disconnect()]);
await server.close();
