import { expect } from 'vitest';
import type { MastraMCPServerDefinition } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';

const CONNECT_TIMEOUT = 6000;
/** Half a second, three times. */
const SLACK = 1500;

verifies(
  ['D01', 'S009'],
  'of 20 servers one that accepts and never answers is reported by name, and the tools of the 19 are there in time',
  async () => {
    await using server = await startHttp(answerPlainly);
    await using silent = await startFaultProxy(server.port);
    silent.fault = { blackhole: true };
    const definitions: Record<string, MastraMCPServerDefinition> = {
      silent: { url: `${silent.origin}/mcp`, connectTimeout: CONNECT_TIMEOUT },
    };
    for (let n = 1; n < 20; n += 1) {
      definitions[`healthy${n}`] = { url: `${server.origin}/${n}`, connectTimeout: CONNECT_TIMEOUT };
    }
    await using client = openClient(definitions);
    const started = performance.now();
    const { tools, errors, errorDetails, durations } = await client.listToolsWithErrors();
    expect(performance.now() - started).toBeLessThan(CONNECT_TIMEOUT + SLACK);

    expect(Object.keys(tools)).toHaveLength(19 * 2);
    expect(Object.keys(errors)).toEqual(['silent']);
    expect(errors['silent']).toContain('"silent"');
    expect(errorDetails['silent']?.error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_TIMEOUT' });
    const { silent: waited = 0, ...others } = durations;
    expect(waited).toBeGreaterThanOrEqual(CONNECT_TIMEOUT - 10);
    expect(Math.max(...Object.values(others))).toBeLessThan(CONNECT_TIMEOUT);
  },
);
