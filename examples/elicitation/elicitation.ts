/** A tool asks the user of the client that called it, and goes on with the answer. */
import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';

// #region ask
const book = createTool({
  id: 'book',
  description: 'Books a table.',
  inputSchema: z.object({ restaurant: z.string() }),
  execute: async ({ restaurant }, context) => {
    const answer = await context.mcp?.elicitation.sendRequest({
      message: `For how many people, at ${restaurant}?`, // say why you ask, and never for a secret
      requestedSchema: {
        type: 'object',
        properties: { people: { type: 'integer', title: 'People', minimum: 1, maximum: 12 } },
        required: ['people'],
      },
    });
    if (answer?.action !== 'accept') return 'Nothing was booked.'; // declined, or closed without an answer
    return `Booked for ${String(answer.content?.['people'])}.`;
  },
});
// #endregion ask

const server = new MCPServer({ id: 'tables', name: 'Tables', version: '1.0.0', tools: { book } });
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { tables: { url } } });
const { tables_book: remote } = await mcp.listTools();
const call = async (): Promise<unknown> => {
  const result = await remote?.execute({ restaurant: 'Lagoon' });
  return (result as { content: { text: string }[] }).content[0]?.text;
};

assert.equal(await call(), 'Nothing was booked.', 'without a handler every request is declined');

// #region answer
const stop = await mcp.elicitation.onRequest('tables', async request => {
  if (request.mode === 'url') return { action: 'decline' };
  const people = await askUser(request.message, request.requestedSchema); // a form, a terminal, …
  return people === undefined ? { action: 'decline' } : { action: 'accept', content: { people } };
});
// #endregion answer

let wanted: number | undefined = 4;
async function askUser(message: string, _form: unknown): Promise<number | undefined> {
  assert.equal(message, 'For how many people, at Lagoon?');
  return wanted;
}

assert.equal(await call(), 'Booked for 4.');
wanted = undefined;
assert.equal(await call(), 'Nothing was booked.');
wanted = 40;
await assert.rejects(call(), { code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED' }, 'the server checks the answer');

stop();
await mcp.disconnect();
await server.close();
