import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';

verifies(
  ['R8', 'D04'],
  'a call whose socket is reset before the answer runs once and may have run',
  async () => {
    await using server = await startHttp(answerPlainly);
    await using proxy = await startFaultProxy(server.port);
    // Each connection carries one answer only, so that the fault meets the call and nothing else.
    await using client = openClient({
      shop: { url: `${proxy.origin}/mcp`, requestInit: { headers: { connection: 'close' } } },
    });
    const echo = await executeOf(client, 'shop_echo');
    proxy.fault = { resetAfterBytes: 0 };
    expect(await rejection(echo({}))).toMatchObject({
      code: 'MCP_CLIENT_CONNECTION_LOST',
      serverName: 'shop',
      mayHaveExecuted: true,
    });
    expect(server.count('POST', 'tools/call')).toBe(1);

    proxy.fault = {};
    expect(textOf(await echo({ n: 2 }))).toBe('{"n":2}');
    expect(server.count('POST', 'tools/call')).toBe(2);
  },
);

verifies(['R8', 'D04'], 'a read-only call is sent once more, not without end', async () => {
  await using server = await startHttp(answerPlainly);
  await using proxy = await startFaultProxy(server.port);
  await using client = openClient({
    shop: { url: `${proxy.origin}/mcp`, requestInit: { headers: { connection: 'close' } } },
  });
  const read = await executeOf(client, 'shop_read');
  proxy.fault = { resetAfterBytes: 0 };
  expect(await rejection(read({}))).toMatchObject({ mayHaveExecuted: true });
  expect(server.count('POST', 'tools/call')).toBe(2);
});

for (const fault of [{ resetAfterBytes: 250 }, { endAfterBytes: 250 }]) {
  verifies(
    ['R8', 'D04'],
    `an answer cut in its middle (${Object.keys(fault).join()}) is no answer`,
    async () => {
      await using server = await startHttp(answerPlainly);
      await using proxy = await startFaultProxy(server.port);
      await using client = openClient({
        shop: { url: `${proxy.origin}/mcp`, requestInit: { headers: { connection: 'close' } } },
      });
      const echo = await executeOf(client, 'shop_echo');
      proxy.fault = fault;
      const { code, ...error } = await rejection(echo({ text: 'x'.repeat(2000) }));
      // To Node 20 the end of such a connection, however it comes, is the end of the body: half an answer.
      expect(['MCP_CLIENT_CONNECTION_LOST', 'MCP_CLIENT_RESPONSE_INVALID']).toContain(code);
      expect(error).toMatchObject({ mayHaveExecuted: true });
      expect(server.count('POST', 'tools/call')).toBe(1);
    },
  );
}
