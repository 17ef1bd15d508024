/** Tools that ask their client: its model, its roots, and its user to open a page. The client is the SDK's. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createTool } from '@mastra/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { MCPServer, urlElicitationRequired } from '../../src/index.ts';
import type { MCPToolContext } from '../../src/index.ts';

// #region model
const summarise = createTool({
  id: 'summarise',
  description: 'Summarises a text.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }, context) => {
    const mcp = context.mcp as MCPToolContext; // core's type has neither `sampling` nor `roots`
    const { content } = await mcp.sampling.sendRequest({
      messages: [{ role: 'user', content: { type: 'text', text: `In one word: ${text}` } }],
      maxTokens: 20,
    });
    return content.type === 'text' ? content.text : 'No text came back.';
  },
});
// #endregion model

// #region roots
const folders = createTool({
  id: 'folders',
  description: 'Names the folders the client works in.',
  execute: async (_input, context) => {
    const { roots } = await (context.mcp as MCPToolContext).roots.list();
    return roots.map(({ uri }) => fileURLToPath(uri)).join(', ');
  },
});
// #endregion roots

// #region page
const connect = createTool({
  id: 'connect',
  description: 'Connects a bank account.',
  execute: async (_input, context) => {
    const elicitationId = startLogin(context.mcp?.extra.authInfo); // remembers for whom it is, on your side
    const { action } = await (context.mcp as MCPToolContext).elicitation.sendRequest({
      mode: 'url',
      message: 'Log in at your bank, so that balances can be read.',
      url: `https://bank.example/login?state=${elicitationId}`,
      elicitationId,
    });
    return action === 'accept' ? 'The page was opened.' : 'Nothing was connected.'; // opened, not yet logged in
  },
});
// #endregion page

// #region required
const balance = createTool({
  id: 'balance',
  description: 'Reads the balance.',
  execute: async (_input, context) => {
    if (isLoggedIn()) return '12.50';
    const elicitationId = startLogin(context.mcp?.extra.authInfo);
    throw urlElicitationRequired([
      {
        message: 'Log in at your bank first.',
        url: `https://bank.example/login?state=${elicitationId}`,
        elicitationId,
      },
    ]);
  },
});
// #endregion required

const started: string[] = [];
const done = new Set<string>();
const isLoggedIn = (): boolean => done.size > 0;
function startLogin(_user: unknown): string {
  const id = randomUUID();
  started.push(id);
  return id;
}

const server = new MCPServer({
  id: 'clerk',
  name: 'Clerk',
  version: '1.0.0',
  tools: { summarise, folders, connect, balance },
});
const { url } = await server.listen({ port: 0 });

// #region complete
/** Your login page calls this when the user is through. */
async function onLoginDone(elicitationId: string): Promise<void> {
  done.add(elicitationId);
  await server.elicitation.complete({ elicitationId }); // false when no client that is connected was asked
}
// #endregion complete

const client = new Client(
  { name: 'example', version: '1.0.0' },
  { capabilities: { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } } },
);
client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
  assert.equal(params.maxTokens, 20);
  return { model: 'scripted', role: 'assistant', content: { type: 'text', text: 'Weather' } };
});
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home/ann/books' }] }));
const pages: string[] = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  assert.equal(params.mode, 'url');
  pages.push(params.url);
  return { action: 'accept' };
});
const completions = new EventTarget();
client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
  completions.dispatchEvent(new CustomEvent('done', { detail: params.elicitationId }));
});
await client.connect(new StreamableHTTPClientTransport(url));
const call = async (name: string, args: Record<string, unknown> = {}): Promise<unknown> => {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[])[0]?.text;
};

assert.equal(await call('summarise', { text: 'Rain, then sun.' }), 'Weather');
assert.equal(await call('folders'), '/home/ann/books');

await assert.rejects(call('balance'), { code: -32042 }, 'the client learns which page to open first');
assert.equal(await call('connect'), 'The page was opened.');
assert.deepEqual(pages, [`https://bank.example/login?state=${started[1]}`]);

const told = once(completions, 'done');
await onLoginDone(started[1] ?? '');
const [event] = (await told) as [CustomEvent<string>];
assert.equal(event.detail, started[1], 'the client hears that it may go on');
assert.equal(await call('balance'), '12.50');

// A client that declared nothing is not asked, and the model reads why.
const plain = new Client({ name: 'plain', version: '1.0.0' });
await plain.connect(new StreamableHTTPClientTransport(url));
const refused = await plain.callTool({ name: 'folders' });
assert.deepEqual(refused, {
  isError: true,
  content: [
    { type: 'text', text: 'The client does not support roots, so the request for its roots was not sent' },
  ],
});

await plain.close();
await client.close();
await server.close();
