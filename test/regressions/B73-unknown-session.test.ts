import { describe, expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw } from '../server/http-harness.ts';

const create = (): MCPServer => new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: {} });

describe('a session id that the server does not know', () => {
  verifies(
    ['B73', 'S173'],
    'is 404 with the id of the request, so that the client can begin anew',
    async () => {
      await using before = create();
      const old = await before.listen({ port: 0 });
      const port = Number(old.url.port);
      const session = await connectRaw(port).open();
      await before.close();
      // The server starts again, at the same place and with nothing in its memory.
      await using after = create();
      await after.listen({ port });
      using client = connectRaw(port);
      for (const id of [7, 'seven', 0]) {
        const answer = await client.post(callTool(id, 'x'), session);
        expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32000 } });
      }
      for (const method of ['GET', 'DELETE']) {
        const answer = await client.send({ method, headers: session });
        expect([method, answer.status]).toEqual([method, 404]);
        expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } });
      }
      const notice = { jsonrpc: '2.0', method: 'notifications/initialized' };
      expect((await client.post(notice, session)).status).toBe(404);
      const anew = await client.open();
      expect((await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, anew)).status).toBe(200);
    },
  );
});

verifies(['B73', 'S173'], 'a request without a session id is 400, which is another thing', async () => {
  await using server = create();
  const { url } = await server.listen({ port: 0 });
  using client = connectRaw(Number(url.port));
  const answer = await client.post(callTool(7, 'x'));
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32000 } });
  for (const method of ['GET', 'DELETE']) {
    const other = await client.send({ method });
    expect([method, other.status]).toEqual([method, 400]);
    await other.text();
  }
});
