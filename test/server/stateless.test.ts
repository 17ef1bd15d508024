import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { adapters, callTool, initialize, startHarness } from './http-harness.ts';

const modes = [
  { name: 'serverless', options: { serverless: true } },
  { name: 'serverless with streaming', options: { serverless: true, serverlessStreaming: true } },
  { name: 'without a session id generator', options: { sessionIdGenerator: undefined } },
];

describe.each(adapters)('Stateless over %s', adapter => {
  describe.each(modes)('$name', ({ options }) => {
    verifies(
      ['S163', 'S166', 'S169'],
      'answers every POST on its own, without initialize and without a session',
      async () => {
        await using server = await startHarness(adapter, { options });
        const answers = await Promise.all([
          server.post(initialize()),
          server.post(callTool(1, 'echo', { text: 'a' })),
          server.post(callTool(1, 'echo', { text: 'b' }), { 'mcp-session-id': 'ignored' }),
          server.post({ jsonrpc: '2.0', id: 0, method: 'tools/list' }),
        ]);
        for (const answer of answers) {
          expect(answer.headers['mcp-session-id']).toBeUndefined();
          expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
        }
        const bodies = await Promise.all(answers.map(answer => answer.json()));
        expect(bodies.map(body => body.id)).toEqual([1, 1, 1, 0]);
        expect(bodies.slice(1, 3).map(body => body.result?.content?.[0]?.text)).toEqual(['a', 'b']);
        expect((await server.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
        expect(server.http.sessions.size).toBe(0);
      },
    );

    verifies(['S166', 'S169'], 'has no GET and no DELETE', async () => {
      await using server = await startHarness(adapter, { options });
      for (const method of ['GET', 'DELETE']) {
        const answer = await server.send({ method });
        expect([method, answer.status, answer.headers['allow']]).toEqual([method, 405, 'POST']);
      }
    });

    verifies(['B35', 'D14'], 'aborts the call when its client leaves', async () => {
      await using server = await startHarness(adapter, { options });
      const request = server.post(callTool(0, 'wait')).catch(() => undefined);
      const waiting = await server.tools.waiting();
      server.dropConnections();
      await waiting.aborted;
      await request;
    });

    verifies('D21', 'refuses a claimed revision that it does not serve', async () => {
      await using server = await startHarness(adapter, { options });
      const answer = await server.post(callTool(1, 'echo'), { 'mcp-protocol-version': '2026-07-28' });
      expect([answer.status, (await answer.json()).error?.code]).toEqual([400, -32022]);
      expect(
        (await (await server.post({ jsonrpc: '2.0', id: 1, method: 'server/discover' })).json()).error?.code,
      ).toBe(-32601);
    });

    test('takes batches where no newer revision is named', async () => {
      await using server = await startHarness(adapter, { options });
      const batch = [callTool(1, 'echo'), callTool(2, 'echo')];
      const answer = await server.post(batch);
      expect((JSON.parse(await answer.text()) as { id: number }[]).map(({ id }) => id)).toEqual([1, 2]);
      expect((await server.post(batch, { 'mcp-protocol-version': '2025-11-25' })).status).toBe(400);
    });

    test('fails at once when a tool asks the client', async () => {
      await using server = await startHarness(adapter, { options });
      const answer = await (await server.post(callTool(1, 'ask'))).json();
      expect(answer.error?.code).toBe(-32603);
    });

    verifies('D14', 'lets running calls finish while the server drains', async () => {
      await using server = await startHarness(adapter, { options });
      const running = server.post(callTool(1, 'wait'));
      const waiting = await server.tools.waiting();
      const closing = server.http.close({ drainMs: 5000 });
      expect((await server.post(callTool(2, 'echo'))).status).toBe(503);
      waiting.finish();
      await closing;
      expect((await (await running).json()).id).toBe(1);
    });
  });

  verifies('S165', 'buffers one JSON answer, and progress never arrives', async () => {
    await using server = await startHarness(adapter, { openAfterMs: 1, options: { serverless: true } });
    const answer = await server.post(callTool(1, 'progress', { times: 2 }, { progressToken: 1 }), {
      accept: 'application/json',
    });
    expect(answer.headers['content-type']).toBe('application/json');
    expect(await answer.json()).toMatchObject({ id: 1, result: {} });
  });

  verifies(['S164', 'S169'], 'streams progress before the result where it may', async () => {
    for (const options of [
      { serverless: true, serverlessStreaming: true },
      { sessionIdGenerator: undefined },
    ]) {
      await using server = await startHarness(adapter, { options });
      const answer = await server.post(callTool(1, 'progress', { times: 2 }, { progressToken: 1 }));
      expect(answer.headers['content-type']).toBe('text/event-stream');
      expect((await answer.messages()).map(message => message.params?.['progress'] ?? message.id)).toEqual([
        1, 2, 1,
      ]);
    }
  });

  verifies('D12', 'serverless wins over session options beside it, and says so once', async () => {
    const opened: string[] = [];
    await using server = await startHarness(adapter, {
      options: {
        serverless: true,
        sessionIdGenerator: () => 'id',
        onsessioninitialized: id => void opened.push(id),
      },
    });
    for (let round = 0; round < 3; round += 1)
      expect((await server.post(initialize())).headers['mcp-session-id']).toBeUndefined();
    expect(opened).toEqual([]);
    expect(server.logs.filter(line => line.includes('serverless'))).toHaveLength(1);
  });
});
