import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { until } from '../support/processes.ts';

verifies(
  'B03',
  'a legacy event stream that is cut again and again is replaced by one, and no listing is empty',
  async () => {
    await using server = await startLegacySse();
    const client = openClient({ old: { url: `${server.origin}/sse`, transport: 'sse' } });
    const echo = await executeOf(client, 'old_echo');
    for (let cut = 1; cut <= 3; cut += 1) {
      server.streams[0]?.end();
      await until('the cut was noticed', () => client.getServerStatus()['old']?.state !== 'ready');
      expect(Object.keys(await client.listTools())).toEqual(['old_echo', 'old_read']);
      expect(textOf(await echo({ cut }))).toBe(`{"cut":${cut}}`);
      expect(server.streams).toHaveLength(1);
      expect(server.count('GET')).toBe(1 + cut);
      expect(server.count('POST', 'initialize')).toBe(1 + cut);
    }
    await client.disconnect();
    await until('no stream is left', () => server.streams.length === 0);
  },
);

verifies('B03', 'a call in flight when the stream is cut fails at once and is not repeated', async () => {
  await using server = await startLegacySse({
    onMessage: ({ method }) => (method === 'tools/call' ? 'handled' : undefined),
  });
  await using client = openClient({ old: { url: `${server.origin}/sse`, transport: 'sse' } });
  const echo = await executeOf(client, 'old_echo');
  const outcome = echo({}).catch((error: unknown) => error);
  await until('the call arrived', () => server.count('POST', 'tools/call') === 1);
  server.streams[0]?.end();
  expect(await outcome).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST', mayHaveExecuted: true });
  expect(server.count('POST', 'tools/call')).toBe(1);
});
