import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';

verifies(
  ['R5', 'D01'],
  'a refused connection fails within a moment, names its cause, and does not try SSE',
  async () => {
    const gone = await startHttp(answerPlainly);
    await gone.close();
    await using client = openClient({ shop: { url: `${gone.origin}/mcp` } });
    await rejection(client.ping('shop'));
    const started = performance.now();
    const error = await rejection(client.ping('shop'));
    expect(performance.now() - started).toBeLessThan(300);
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_CONNECT_FAILED',
      serverName: 'shop',
      mayHaveExecuted: false,
      attempts: [{ transport: 'http' }],
    });
    expect(error.message).toContain('ECONNREFUSED');

    await using back = await startHttp(answerPlainly, gone.port);
    await client.ping('shop');
    expect(back.count('POST', 'initialize')).toBe(1);
  },
);

verifies('R5', 'once the server is back, the next call of an old tool works and runs once', async () => {
  const first = await startHttp(answerPlainly);
  await using client = openClient({ shop: { url: `${first.origin}/mcp` } });
  const echo = await executeOf(client, 'shop_echo');
  await first.close();
  await rejection(echo({ n: 1 }));
  await using second = await startHttp(answerPlainly, first.port);
  expect(textOf(await echo({ n: 2 }))).toBe('{"n":2}');
  expect(second.count('POST', 'tools/call')).toBe(1);
});
