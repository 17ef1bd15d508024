import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { answerPlainly, rpcResult, sendJson, startHttp } from '../support/http-server.ts';

for (const [what, id] of [
  ['with a TAB', 'a\tb'],
  ['with a space', 'a b'],
  ['of 513 characters', 'x'.repeat(513)],
  ['of 8 KB', 'x'.repeat(8192)],
  ['of 64 KB', 'x'.repeat(65_536)],
] as const) {
  verifies('C10', `a session id ${what} is refused, and nothing is sent with it`, async () => {
    await using server = await startHttp((request, response) =>
      request.message?.method === 'initialize'
        ? sendJson(response, 200, rpcResult(request.message), { 'mcp-session-id': id })
        : answerPlainly(request, response),
    );
    await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
    const error = await rejection(client.ping('shop'));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', mayHaveExecuted: false });
    expect(error.message).not.toContain(id);
    expect(client.sessionIds).toEqual({});
    expect(server.requests.map(({ message }) => message?.method)).toEqual(['initialize']);
  });
}

verifies('C10', 'a protocol version that is none is refused, and no header is made of it', async () => {
  const protocolVersion = '2025-11-25\r\nx-evil: 1';
  await using server = await startHttp((request, response) => {
    if (request.message?.method !== 'initialize') return answerPlainly(request, response);
    const { result } = rpcResult(request.message) as { result: object };
    return sendJson(response, 200, { jsonrpc: '2.0', id: 0, result: { ...result, protocolVersion } });
  });
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  expect(await rejection(client.ping('shop'))).toMatchObject({
    code: 'MCP_CLIENT_PROTOCOL_VERSION_UNSUPPORTED',
    supportedVersions: [protocolVersion],
  });
  expect(server.requests).toHaveLength(1);
});
