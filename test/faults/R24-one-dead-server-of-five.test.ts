import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { serverProgram } from '../support/node-program.ts';

/** Enough for a process to start on a busy machine. */
const LIMIT = 6000;
/** Half a second by the row; three times that here. */
const SLACK = 1500;

verifies(
  ['R24', 'D01', 'S070', 'S075'],
  'one dead server of five costs the listing its own limit and nobody else anything',
  async () => {
    await using http = await startHttp(answerPlainly);
    await using legacy = await startLegacySse();
    await using proxy = await startFaultProxy(http.port);
    proxy.fault = { blackhole: true };
    await using client = openClient({
      web: { url: `${http.origin}/mcp` },
      // In the middle, so that an order of waiting would show.
      dead: { url: `${proxy.origin}/mcp`, connectTimeout: 60_000 },
      legacy: { url: `${legacy.origin}/sse`, transport: 'sse' },
      child: serverProgram(),
      other: serverProgram(),
    });
    const started = performance.now();
    const listed = await client.listToolsWithErrors({ perServerTimeoutMs: LIMIT });
    const took = performance.now() - started;
    expect(Object.keys(listed.tools)).toEqual([
      'web_echo',
      'web_read',
      'legacy_echo',
      'legacy_read',
      'child_echo',
      'other_echo',
    ]);
    expect(Object.keys(listed.errors)).toEqual(['dead']);
    expect(listed.errorDetails['dead']?.error).toMatchObject({
      code: 'MCP_CLIENT_REQUEST_TIMEOUT',
      serverName: 'dead',
    });
    expect(took).toBeGreaterThanOrEqual(LIMIT - 10);
    expect(took).toBeLessThan(LIMIT + SLACK);
    const { dead, ...others } = listed.durations;
    expect(Math.max(...Object.values(others))).toBeLessThan(dead ?? 0);

    // Without the limit `connectTimeout` bounds it; what is connected answers once more, without connecting.
    const again = openClient({
      dead: { url: `${proxy.origin}/mcp`, connectTimeout: 300 },
      child: serverProgram(),
    });
    const { tools, errorDetails } = await again.listToolsWithErrors();
    await again.disconnect();
    expect(Object.keys(tools)).toEqual(['child_echo']);
    expect(errorDetails['dead']?.error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_TIMEOUT' });
  },
);
