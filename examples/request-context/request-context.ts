/** Two users, one client: each call carries the token of the user it is made for, and the server knows who calls. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Agent } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPClient, MCPServer } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const tokens = new Map([
  ['service-token', 'service'],
  ['token-of-ada', 'ada'],
  ['token-of-bob', 'bob'],
]);

// #region server
const whoami = createTool({
  id: 'whoami',
  description: 'Says who calls.',
  outputSchema: z.object({ user: z.string() }),
  execute: async (_input, context) => {
    // #region caller
    const extra = context.mcp?.extra ?? context.requestContext?.get('mcp.extra');
    const user = extra?.authInfo?.extra?.['subject'];
    // #endregion caller
    return { user: String(user) };
  },
});
const server = new MCPServer({ id: 'people', name: 'People', version: '1.0.0', tools: { whoami } });

const web = createServer((req, res) => {
  const token = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const subject = tokens.get(token); // your check of the token
  if (subject === undefined) return void res.writeHead(401).end();
  Object.assign(req, { auth: { token, clientId: 'my-app', scopes: [], extra: { subject } } });
  // Sessions belong to who opened them. Here the user changes from call to call, so there are none.
  const options = { serverless: true };
  void server.startHTTP({ url: new URL('http://localhost/mcp'), httpPath: '/mcp', req, res, options });
});
// #endregion server
await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
const { port } = web.address() as { port: number };

// #region client
const mcp = new MCPClient({
  servers: {
    people: {
      url: `http://127.0.0.1:${port}/mcp`,
      fetch: (url, init, requestContext) => {
        const headers = new Headers(init?.headers);
        // `null` where no call is behind the request: connecting and listing.
        const token = requestContext?.get('token') as string | undefined;
        headers.set('authorization', `Bearer ${token ?? 'service-token'}`);
        return fetch(url, { ...init, headers });
      },
    },
  },
});
// #endregion client

const tools = await mcp.listTools();
const ask = async (name: string): Promise<string> => {
  const { model } = scriptedModel([{ call: 'people_whoami' }, results => ({ text: String(results[0]) })]);
  const agent = new Agent({ id: name, name, instructions: 'Find out who asks.', model, tools });
  // #region generate
  const requestContext = new RequestContext([['token', `token-of-${name}`]]);
  const { text } = await agent.generate('Who am I?', { requestContext });
  // #endregion generate
  return text;
};
assert.deepEqual(await Promise.all([ask('ada'), ask('bob')]), ['{"user":"ada"}', '{"user":"bob"}']);

await mcp.disconnect();
await server.close();
web.close();
