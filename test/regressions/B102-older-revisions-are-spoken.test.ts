import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { createFixtureServer } from '../support/fixture-server.ts';
import { answerPlainly, rpcResult, sendJson, startHttp } from '../support/http-server.ts';
import { post, send } from '../support/raw-http.ts';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

for (const revision of REVISIONS) {
  verifies(['B102', 'D21'], `a client of ${revision} is served, with sessions`, async () => {
    await using server = createFixtureServer();
    const { href: url } = (await server.listen({ port: 0 })).url;
    const clientInfo = { name: 'old', version: '1' };
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    const opened = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
    expect(opened.answer).toMatchObject({ result: { protocolVersion: revision } });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    expect(session['mcp-session-id']).not.toBe('');
    const headers = revision >= '2025-06-18' ? { ...session, 'mcp-protocol-version': revision } : session;
    await send(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    const call = { name: 'echo', arguments: { text: revision } };
    const called = await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call }, headers);
    expect(called.answer).toMatchObject({ result: { content: [{ text: revision }] } });
    expect((await post(url, { jsonrpc: '2.0', id: 3, method: 'ping' }, headers)).answer).toMatchObject({
      result: {},
    });
  });

  verifies(['B102', 'D01'], `a server of ${revision} is used as it is`, async () => {
    await using server = await startHttp((request, response) => {
      if (request.message?.method !== 'initialize') return answerPlainly(request, response);
      const { result } = rpcResult(request.message) as { result: object };
      const answer = { ...result, protocolVersion: revision };
      return sendJson(response, 200, { jsonrpc: '2.0', id: request.message.id, result: answer });
    });
    await using client = openClient({ old: { url: `${server.origin}/mcp` } });
    expect(textOf(await (await executeOf(client, 'old_echo'))({ a: 1 }))).toBe('{"a":1}');
    expect(client.getServerStatus()['old']).toMatchObject({ state: 'ready', protocolVersion: revision });
    expect(server.requests.at(-1)?.headers['mcp-protocol-version']).toBe(revision);
  });
}

verifies(['B102', 'D21'], 'a newer client learns at once, and politely, what is spoken here', async () => {
  await using server = createFixtureServer();
  const { href: url } = (await server.listen({ port: 0 })).url;
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const probe = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
  const claimed = await post(url, probe);
  expect([claimed.status, claimed.answer?.error]).toMatchObject([
    400,
    { code: -32022, data: { requested: '2026-07-28', supported: expect.arrayContaining([...REVISIONS]) } },
  ]);
});

verifies(
  ['B102', 'D01'],
  'a server that speaks only newer revisions is told apart, with what it offers, after one request',
  async () => {
    const data = { supported: ['2026-07-28'], requested: '2025-11-25' };
    await using server = await startHttp((request, response) => {
      const error = { code: -32022, message: 'Unsupported protocol version', data };
      return sendJson(response, 400, { jsonrpc: '2.0', id: request.message?.id, error });
    });
    await using client = openClient({ next: { url: `${server.origin}/mcp` } });
    expect(await rejection(client.ping('next'))).toMatchObject({
      code: 'MCP_CLIENT_PROTOCOL_VERSION_UNSUPPORTED',
      supportedVersions: ['2026-07-28'],
      mayHaveExecuted: false,
    });
    // 400 is a reason to try HTTP+SSE, but not when the server says why.
    expect(server.requests.map(({ method }) => method)).toEqual(['POST']);
  },
);
