/** Run with `--disallow-code-generation-from-strings`: a client and a server with a zod tool and a JSON Schema tool. */
import { MCPClient } from '../../src/client/index.ts';
import { createFixtureServer } from '../support/fixture-server.ts';

const server = createFixtureServer();
await server.toolActions.add({
  plain: {
    id: 'plain',
    description: 'A tool with a plain JSON Schema',
    inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
    execute: async (input: unknown) => JSON.stringify(input),
  } as never,
});
const client = new MCPClient({
  servers: { s: { url: 'http://127.0.0.1/mcp', fetch: (url, init) => server.fetch(new Request(url, init)) } },
});
const tools = await client.listTools();
const isRefused = (value: unknown): boolean => (value as { error?: unknown }).error === true;
const plain = (await tools['s_plain']?.execute({ q: 'x' })) as { content: [{ text: string }] };
let forbidden = false;
try {
  // Proves that the flag is in force.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  new Function('return 1')();
} catch {
  forbidden = true;
}
console.log(
  JSON.stringify({
    forbidden,
    valid: await tools['s_add']?.execute({ a: 1, b: 2 }),
    invalid: isRefused(await tools['s_add']?.execute({ a: 'x' })),
    plain: plain.content[0].text,
    plainInvalid: isRefused(await tools['s_plain']?.execute({ q: 1 })),
  }),
);
await client.disconnect();
await server.close();
