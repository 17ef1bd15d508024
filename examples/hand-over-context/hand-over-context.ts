/** A tool hands the request context of its call on to an agent, whose own tools then know who calls. */
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { Script } from '../support/scripted-model.ts';

const orders = createTool({
  id: 'orders',
  description: 'Lists the orders of the customer.',
  execute: async (_input, { requestContext }) => {
    const { userId }: { userId: string } = requestContext.get('user');
    const shop: string = requestContext.get('shop');
    return `${userId} ordered a lamp from ${shop}`;
  },
});
const lookUp: Script = [{ call: 'orders' }, results => ({ text: String(results[0]) })];
const { model } = scriptedModel([...lookUp, ...lookUp]);
const clerk = new Agent({
  id: 'clerk',
  name: 'Clerk',
  instructions: 'Look it up.',
  model,
  tools: { orders },
});

// #region tool
const support = createTool({
  id: 'support',
  description: 'Answers questions about orders.',
  inputSchema: z.object({ question: z.string() }),
  execute: async ({ question }, context) => {
    const authInfo = context.mcp?.extra.authInfo; // what your HTTP layer verified
    if (authInfo?.extra?.['user'] === undefined) throw new Error('Sign in first');

    const agent = context.mastra?.getAgentById('clerk');
    if (agent === undefined) throw new Error('There is no agent "clerk"');

    // The context of this very call: `user`, `authInfo` and `mcp.extra` are in it, and what you add stays in this call.
    const { requestContext, abortSignal } = context;
    requestContext.set('shop', 'the old town');
    const { text } = await agent.generate(question, {
      requestContext,
      ...(abortSignal === undefined ? {} : { abortSignal }), // the agent stops when the caller leaves
    });
    return text;
  },
});
// #endregion tool

const server = new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { support } });
new Mastra({ agents: { clerk }, mcpServers: { shop: server }, logger: false });

const clientOf = (userId: string | undefined): MCPClient => {
  const extra = userId === undefined ? {} : { user: { userId } };
  const authInfo = { token: `token-of-${userId}`, clientId: 'app', scopes: [], extra };
  const url = 'https://shop.example/mcp';
  const fetch = (to: string | URL, init?: RequestInit): Promise<Response> =>
    server.fetch(new Request(to, init), { authInfo });
  return new MCPClient({ id: `client-of-${userId}`, servers: { shop: { url, fetch } } });
};
const ask = async (userId: string | undefined): Promise<unknown> => {
  await using client = clientOf(userId);
  const { shop_support: remote } = await client.listTools();
  return await remote?.execute({ question: 'Where is my order?' });
};
const textOf = (answer: unknown): string =>
  (answer as { content: { text: string }[] }).content[0]?.text ?? '';

assert.equal(textOf(await ask('ada')), 'ada ordered a lamp from the old town');
assert.equal(textOf(await ask('bob')), 'bob ordered a lamp from the old town');
await assert.rejects(ask(undefined), { message: 'Sign in first' });
await server.close();
