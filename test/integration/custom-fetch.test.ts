import { expect } from 'vitest';
import type { MastraFetchLike } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { answerPlainly, rpcResult, sendJson, startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { until } from '../support/processes.ts';
import { startEverything } from '../support/reference-server.ts';

verifies(
  ['S020', 'D01'],
  'the url is a URL or a string; a server that speaks only SSE is found by fallback',
  async () => {
    await using modern = await startHttp(answerPlainly);
    await using legacy = await startLegacySse();
    await using client = openClient({
      text: { url: `${modern.origin}/mcp` },
      object: { url: new URL(`${modern.origin}/mcp`) },
      legacy: { url: `${legacy.origin}/sse` },
    });
    expect(Object.keys(await client.listToolsets())).toEqual(['text', 'object', 'legacy']);
    const { text, object, legacy: old } = client.getServerStatus();
    expect([text?.transport, object?.transport, old?.transport]).toEqual(['http', 'http', 'sse']);
    expect(legacy.requests.slice(0, 2).map(({ method }) => method)).toEqual(['POST', 'GET']);
  },
);

verifies(
  ['S023', 'S028'],
  'a custom fetch makes every request of its server, on both transports',
  async () => {
    await using modern = await startHttp((request, response) => {
      if (request.message?.method !== 'initialize') return answerPlainly(request, response);
      return sendJson(response, 200, rpcResult(request.message), { 'mcp-session-id': 's' });
    });
    await using legacy = await startLegacySse();
    const seen: string[] = [];
    const custom: MastraFetchLike = (url, init) => {
      const { origin } = new URL(url);
      seen.push(`${origin === modern.origin ? 'modern' : 'legacy'} ${init?.method ?? 'GET'}`);
      return fetch(url, init);
    };
    const client = openClient({
      modern: { url: `${modern.origin}/mcp`, fetch: custom },
      legacy: { url: `${legacy.origin}/sse`, transport: 'sse', fetch: custom },
    });
    await client.listTools();
    await until('the stream was asked for', () => modern.count('GET') === 1);
    await client.disconnect();
    expect(seen).toHaveLength(modern.requests.length + legacy.requests.length);
    expect(new Set(seen)).toEqual(
      new Set(['modern POST', 'modern GET', 'modern DELETE', 'legacy GET', 'legacy POST']),
    );
  },
);

verifies(
  ['S029'],
  'a fetch that always throws is called once per use, and never in the background',
  async () => {
    let calls = 0;
    const throwing: MastraFetchLike = () => {
      calls += 1;
      throw new Error('no token yet');
    };
    await using client = openClient({ shop: { url: 'http://shop.test/mcp', fetch: throwing } });
    const error = await rejection(client.ping('shop'));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', attempts: [{ transport: 'http' }] });
    await rejection(client.ping('shop'));
    await new Promise(resolve => setTimeout(resolve, 500));
    expect(calls).toBe(2);
  },
);

verifies(['S031'], 'an answer that is not 2xx is an error of the listing and of the call', async () => {
  let failing = false;
  await using server = await startHttp((request, response) =>
    failing ? sendJson(response, 503, { reason: 'maintenance' }) : answerPlainly(request, response),
  );
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  const echo = await executeOf(client, 'shop_echo');
  failing = true;
  expect(await rejection(echo({}))).toMatchObject({ code: 'MCP_CLIENT_REQUEST_FAILED', httpStatus: 503 });
  const { tools, errorDetails } = await client.listToolsWithErrors();
  expect(tools).toEqual({});
  expect(errorDetails['shop']?.error).toMatchObject({ method: 'tools/list', httpStatus: 503 });
  expect(errorDetails['shop']?.error?.message).toContain('maintenance');
});

verifies(
  ['S030', 'S032'],
  'the pattern of waiting for a token and answering 405 works with a real server',
  async () => {
    await using everything = await startEverything('streamableHttp');
    const requests: { method: string; authorization: string | null }[] = [];
    let token: string | undefined;
    const waitForToken = async (): Promise<string | undefined> => token;
    const patient: MastraFetchLike = async (url, init) => {
      if (init?.method === 'GET') {
        requests.push({ method: 'GET', authorization: null });
        return new Response(null, { status: 405 });
      }
      const headers = new Headers(init?.headers);
      const current = await waitForToken();
      if (current !== undefined) headers.set('authorization', `Bearer ${current}`);
      requests.push({ method: init?.method ?? 'GET', authorization: headers.get('authorization') });
      return await fetch(url, { ...init, headers });
    };
    await using client = openClient({ every: { url: `${everything.origin}/mcp`, fetch: patient } });
    const echo = await executeOf(client, 'every_echo');
    token = 't';
    expect(textOf(await echo({ message: 'hi' }))).toContain('hi');
    expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(requests[0]?.authorization).toBeNull();
    expect(requests.at(-1)?.authorization).toBe('Bearer t');
  },
);
