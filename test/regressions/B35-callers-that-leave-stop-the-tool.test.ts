import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTool } from '@mastra/core/tools';
import { afterEach, describe, expect } from 'vitest';
import { z } from 'zod';
import {
  InMemoryEventStore,
  MCPServer,
  type StreamableHTTPServerTransportOptions,
} from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { until } from '../support/processes.ts';
import { serveHttp } from '../support/serve-http.ts';

const script = fileURLToPath(new URL('inputs/B35-raw-client-drop.mjs', import.meta.url));

/** What became of the calls of a tool that takes three seconds, in the order of the calls. */
interface Outcomes {
  readonly server: MCPServer;
  readonly list: ('running' | 'aborted' | 'finished')[];
}

function slowServer(): Outcomes {
  const list: Outcomes['list'] = [];
  const slow = createTool({
    id: 'slow',
    description: 'Takes its time',
    inputSchema: z.object({ ms: z.number() }),
    execute: async ({ ms }, { mcp }) => {
      const at = list.push('running') - 1;
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, ms);
        mcp?.extra.signal.addEventListener('abort', () => {
          list[at] = 'aborted';
          clearTimeout(timer);
          resolve();
        });
      });
      if (list[at] === 'running') list[at] = 'finished';
      return 'done';
    },
  });
  return { server: new MCPServer({ name: 'S', version: '1.0.0', tools: { slow } }), list };
}

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const item of open.splice(0)) await item[Symbol.asyncDispose]();
});

/** Drops one call after 300 ms and cancels a second one. */
async function dropAndCancel(
  outcomes: Outcomes,
  options: StreamableHTTPServerTransportOptions,
): Promise<string> {
  const listener = await serveHttp(outcomes.server, options);
  open.push(listener, outcomes.server);
  const { stdout } = await promisify(execFile)(process.execPath, [script, listener.url.href], {
    timeout: 30_000,
  });
  return stdout;
}

describe.each([
  ['sessions', {}],
  ['JSON answers', { enableJsonResponse: true }],
  ['serverless', { serverless: true }],
  ['a serverless stream', { serverless: true, serverlessStreaming: true }],
] as const)('with %s', (_name, options) => {
  verifies(
    ['B35', 'D14', 'S236'],
    'a dropped connection aborts the tool',
    async () => {
      const outcomes = slowServer();
      await dropAndCancel(outcomes, options);
      expect(outcomes.list[0]).toBe('aborted');
    },
    40_000,
  );
});

verifies(
  ['B35', 'D14'],
  'a cancel notice aborts the tool and the call gets no result',
  async () => {
    const outcomes = slowServer();
    const stdout = await dropAndCancel(outcomes, {});
    expect(outcomes.list[1]).toBe('aborted');
    expect(stdout).not.toContain('done');
  },
  40_000,
);

verifies(
  ['B35', 'S172'],
  'with an event store the dropped call runs on',
  async () => {
    const outcomes = slowServer();
    await dropAndCancel(outcomes, { eventStore: new InMemoryEventStore() });
    await until('the call is finished', () => outcomes.list[0] !== 'running');
    expect(outcomes.list[0]).toBe('finished');
  },
  40_000,
);
