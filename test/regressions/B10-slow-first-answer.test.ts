import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { startHttpInput } from '../support/http-input.ts';

verifies(
  ['B10', 'D01'],
  'an answer after four seconds is waited for, with one attempt and no fallback',
  async () => {
    await using server = await startHttpInput('B10-slow-first-byte.mjs', { DELAY: '4000' });
    await using client = openClient({ shop: { url: server.url } });
    expect(Object.keys(await client.listTools())).toEqual(['shop_echo']);
    const stats = await server.stats();
    expect(stats['POST initialize']).toBe(1);
    // The standalone stream, which comes after the handshake.
    expect(stats['GET ']).toBe(1);
  },
);

verifies(
  ['B10', 'D01'],
  'above connectTimeout the error names the one attempt, without a fallback to SSE',
  async () => {
    await using server = await startHttpInput('B10-slow-first-byte.mjs', { DELAY: '4000' });
    await using client = openClient({ shop: { url: server.url, connectTimeout: 500 } });
    const started = performance.now();
    const error = await rejection(client.ping('shop'));
    expect(performance.now() - started).toBeLessThan(1500);
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_CONNECT_TIMEOUT',
      serverName: 'shop',
      mayHaveExecuted: false,
      attempts: [{ transport: 'http' }],
    });
    expect(error.message).toContain('500 ms');
    expect(await server.stats()).toEqual({ 'POST initialize': 1 });
  },
);
