/**
 * The program of `server-process.ts`: serves a few tools, answers questions about itself, and ends as its host was told
 * to.
 */
import { createTool } from '@mastra/core/tools';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { InMemoryEventStore, MCPServer } from '../../src/server/index.ts';
import type { SessionTransport } from '../../src/server/transports/session-transport.ts';
import type { Broadcast, Measured, Questions, ServerProcessInit } from './server-process.ts';

const init = JSON.parse(process.argv[2] ?? '{}') as ServerProcessInit;

const unhandled: string[] = [];
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, (reason: unknown) => unhandled.push(String(reason)));

const sessions = new Set<string>();
let [opened, closed] = [0, 0];
let peakRss = 0;
const watch = (): void => void (peakRss = Math.max(peakRss, process.memoryUsage.rss()));
setInterval(watch, 5).unref();

const waiting = new Set<() => void>();
const text = z.object({ text: z.string() });
const tools = {
  /** Says the text twice: beside the answer and in it. */
  echo: createTool({
    id: 'echo',
    description: 'Says a text back.',
    inputSchema: text,
    execute: async (input, context) => {
      await context.mcp?.log?.('info', input.text);
      return input.text;
    },
  }),
  wait: createTool({
    id: 'wait',
    description: 'Says a text back when the test says so; with `log` the answer is a stream.',
    inputSchema: text.extend({ log: z.boolean(), times: z.number() }).partial({ log: true, times: true }),
    execute: async (input, context) => {
      if (input.log === true) await context.mcp?.log?.('info', 'waiting');
      return new Promise<string>(resolve => {
        const finish = (): void => {
          waiting.delete(finish);
          resolve(input.text.repeat(input.times ?? 1));
        };
        waiting.add(finish);
        context.abortSignal?.addEventListener('abort', () => waiting.delete(finish));
      });
    },
  }),
};

const server = new MCPServer({
  id: 'process',
  name: 'Process',
  version: '1.0.0',
  tools,
  ...(init.limits === undefined ? {} : { limits: init.limits }),
});
const options = {
  onsessioninitialized: (id: string) => {
    opened += 1;
    sessions.add(id);
  },
  onsessionclosed: (id: string) => {
    closed += 1;
    sessions.delete(id);
  },
  ...(init.eventStore === true ? { eventStore: new InMemoryEventStore() } : {}),
};

async function collect(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    globalThis.gc?.();
  }
}

async function measure(): Promise<Measured> {
  watch();
  await collect();
  const isActive = (id: string): boolean =>
    (server.getStreamableHTTPTransport(id) as SessionTransport | undefined)?.active === true;
  const active = [...sessions].filter(isActive).length;
  const { heapUsed, rss } = process.memoryUsage();
  return { heapUsed, rss, peakRss, opened, closed, active, unhandled };
}

async function broadcast({ count, size }: Broadcast): Promise<Measured> {
  let half: Measured | undefined;
  for (let sent = 1; sent <= count; sent += 1) {
    await server.sendLoggingMessage({ level: 'info', data: { sent, pad: 'x'.repeat(size) } });
    if (sent === Math.ceil(count / 2)) half = await measure();
  }
  return half ?? measure();
}

const answers: { [Q in keyof Questions]: (about: never) => unknown } = {
  measure,
  async mark() {
    await collect();
    peakRss = 0;
    return measure();
  },
  broadcast,
  finish() {
    const calls = [...waiting];
    for (const finish of calls) finish();
    return calls.length;
  },
  stall(ms: number) {
    // After the answer has left and before anything else is read.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms));
    return true;
  },
  waiting: () => waiting.size,
};

process.on('message', ({ id, question, about }: { id: number; question: keyof Questions; about: never }) => {
  void Promise.resolve(answers[question](about)).then(answer => process.send?.({ id, answer }));
});

let port: number;
let end = async (): Promise<void> => {};
if (init.host === undefined || init.host === 'listen') {
  const listener = await server.listen({ port: 0, options });
  port = Number(listener.url.port);
} else {
  const web = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://127.0.0.1');
    void server.startHTTP({ url, httpPath: '/mcp', req, res, options });
  });
  await once(web.listen(0, '127.0.0.1'), 'listening');
  ({ port } = web.address() as AddressInfo);
  end = async () => {
    if (init.host === 'exit') process.exit(0);
    web.close();
  };
}

const { drainMs } = init;
if (drainMs !== undefined) {
  process.once('SIGTERM', () => void server.close({ drainMs }).then(end));
}
process.send?.({ id: 0, answer: port });
