import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { describe, expect } from 'vitest';
import type { MastraFetchLike } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import {
  answerPlainly,
  sendJson,
  startEvents,
  startHttp,
  type HttpTestServer,
} from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';

/** Puts the user of the request context into a header. */
const asUser: MastraFetchLike = async (url, init, requestContext) => {
  const headers = new Headers(init?.headers);
  const user = requestContext?.get('user');
  if (typeof user === 'string') headers.set('x-user', user);
  await delay(Math.random() * 10);
  return await fetch(url, { ...init, headers });
};

const pause = (): Promise<void> => delay(Math.random() * 20);
const whoIs = (id: unknown, user: string | string[] = 'nobody'): object => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: String(user) }] },
});

/** Streamable HTTP that answers calls with the user of their header, whatever the path. */
function startWhoIs(answers: 'json' | 'stream'): Promise<HttpTestServer> {
  return startHttp(async (request, response) => {
    const { message } = request;
    if (message?.method !== 'tools/call') return answerPlainly(request, response);
    const answer = whoIs(message.id, request.headers['x-user']);
    await pause();
    if (answers === 'json') return sendJson(response, 200, answer);
    startEvents(response)(answer);
    return response.end();
  });
}

function startLegacyWhoIs(): Promise<HttpTestServer> {
  return startLegacySse({
    onMessage: ({ id, method }, { request, stream }) => {
      if (method !== 'tools/call') return undefined;
      const answer = whoIs(id, request.headers['x-user']);
      void pause().then(() => stream.write(`data: ${JSON.stringify(answer)}\n\n`));
      return 'handled';
    },
  });
}

const servers = [
  ['Streamable HTTP with JSON answers', () => startWhoIs('json')],
  ['Streamable HTTP with event streams', () => startWhoIs('stream')],
  ['HTTP+SSE', startLegacyWhoIs],
] as const;

describe.each(servers)('over %s', (_name, start) => {
  verifies(
    ['S025', 'S026', 'S027', 'S028'],
    '50 interleaved calls with their own contexts never mix',
    async () => {
      await using server = await start();
      await using client = openClient({ who: { url: `${server.origin}/sse`, fetch: asUser } });
      const whoAmI = await executeOf(client, 'who_echo');
      const users = Array.from({ length: 50 }, (_, n) => `user-${n}`);
      const answers = await Promise.all(
        users.map(async user => {
          await pause();
          return textOf(await whoAmI({}, { requestContext: new RequestContext([['user', user]]) }));
        }),
      );
      expect(answers).toEqual(users);
      expect(textOf(await whoAmI({}))).toBe('nobody');
      const ofNoCall = server.requests.filter(({ message }) => message?.method !== 'tools/call');
      expect(ofNoCall.length).toBeGreaterThanOrEqual(4);
      expect(ofNoCall.filter(({ headers }) => headers['x-user'] !== undefined)).toEqual([]);
    },
  );
});

verifies('S027', 'contexts of interleaved agent runs reach the fetch of their own calls', async () => {
  await using server = await startWhoIs('json');
  await using client = openClient({ who: { url: `${server.origin}/mcp`, fetch: asUser } });
  const tools = await client.listTools();
  const users = Array.from({ length: 10 }, (_, n) => `user-${n}`);
  await Promise.all(
    users.map(async user => {
      const { model } = scriptedModel([{ call: 'who_echo', args: { for: user }, id: 'c' }, { text: 'done' }]);
      const agent = new Agent({ id: user, name: user, instructions: 'x', model, tools });
      await agent.generate('go', { requestContext: new RequestContext([['user', user]]) });
    }),
  );
  const calls = server.requests.filter(({ message }) => message?.method === 'tools/call');
  const byUser = calls.map(({ message, headers }) => [headers['x-user'], message?.params?.['arguments']]);
  expect(calls).toHaveLength(users.length);
  expect(Object.fromEntries(byUser)).toEqual(Object.fromEntries(users.map(user => [user, { for: user }])));
});

verifies('S026', 'a call that finds no connection makes one outside of its context', async () => {
  await using server = await startWhoIs('json');
  await using client = openClient({ who: { url: `${server.origin}/mcp`, fetch: asUser } });
  const whoAmI = await executeOf(client, 'who_echo');
  await client.disconnect('who');
  const before = server.requests.length;
  const requestContext = new RequestContext([['user', 'u']]);
  expect(textOf(await whoAmI({}, { requestContext }))).toBe('u');
  const sent = server.requests.slice(before);
  expect(sent.map(({ message }) => message?.method)).toContain('initialize');
  expect(sent.filter(({ headers }) => headers['x-user'] !== undefined)).toHaveLength(1);
});
