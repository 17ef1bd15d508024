import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';

verifies(
  'B08',
  'after a server was away, the next use connects anew; while away nothing looks empty',
  async () => {
    const first = await startHttp(answerPlainly);
    const { port } = first;
    await using client = openClient({ shop: { url: `${first.origin}/mcp` } });
    const echo = await executeOf(client, 'shop_echo');
    await first.close();

    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await rejection(echo({}))).toMatchObject({ serverName: 'shop' });
      const { tools, errors, errorDetails } = await client.listToolsWithErrors();
      expect(tools).toEqual({});
      expect(Object.keys(errors)).toEqual(['shop']);
      expect(errorDetails['shop']?.error).toMatchObject({
        code: 'MCP_CLIENT_CONNECT_FAILED',
        attempts: [{ transport: 'http', cause: { facts: { networkCode: 'ECONNREFUSED' } } }],
      });
      await expect(client.reconnectServer('shop')).rejects.toMatchObject({
        code: 'MCP_CLIENT_CONNECT_FAILED',
      });
    }

    await using second = await startHttp(answerPlainly, port);
    expect(textOf(await echo({ back: true }))).toBe('{"back":true}');
    expect(Object.keys(await client.listTools())).toEqual(['shop_echo', 'shop_read']);
    expect(second.count('POST', 'initialize')).toBe(1);
    expect(second.count('POST', 'tools/call')).toBe(1);
  },
);
