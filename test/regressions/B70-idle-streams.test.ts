import { createTool } from '@mastra/core/tools';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { InMemoryEventStore, MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw } from '../server/http-harness.ts';
import type { RawClient, Received } from '../server/http-harness.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { Fault } from '../support/fault-proxy.ts';

const IDLE_MS = 2000;
const STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

interface Behind extends AsyncDisposable, RawClient {
  readonly server: MCPServer;
  /** Ends the call of `wait` that is running. */
  finish(): void;
}

async function serveBehind(fault: Fault, keepAliveMs: number): Promise<Behind> {
  let finish: (text: string) => void = () => undefined;
  const wait = createTool({
    id: 'wait',
    description: 'Tells progress and waits',
    inputSchema: z.object({}),
    execute: async (_input, { mcp }) => {
      const finished = new Promise<string>(resolve => (finish = resolve));
      await mcp?.progress?.({ progress: 1 });
      return finished;
    },
  });
  const server = new MCPServer({ id: 'p', name: 'P', version: '1.0.0', tools: { wait }, keepAliveMs });
  const options = { eventStore: new InMemoryEventStore() };
  const { url } = await server.listen({ port: 0, options });
  const proxy = await startFaultProxy(Number(url.port));
  proxy.fault = fault;
  const client = connectRaw(Number(new URL(proxy.origin).port));
  return {
    ...client,
    server,
    finish: () => finish('finished'),
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** Until when comments keep a stream open, so that it has been idle for longer than the proxy allows. */
async function outlast(streams: readonly Received[]): Promise<void> {
  const end = performance.now() + IDLE_MS * 1.5;
  await Promise.all(
    streams.map(async stream => {
      while (performance.now() < end) expect(await stream.comment()).toBe(': keep-alive');
    }),
  );
}

describe('behind a proxy that cuts what is idle', () => {
  verifies(
    ['B70', 'S171'],
    'comments keep the stream of a session and that of a slow call open',
    async () => {
      await using behind = await serveBehind({ idleMs: IDLE_MS }, 500);
      const session = await behind.open();
      const stream = await behind.send({ method: 'GET', headers: session });
      const call = await behind.post(callTool(2, 'wait'), session);
      for (const { status, headers } of [stream, call]) expect({ status, ...headers }).toMatchObject(STREAM);
      await outlast([stream, call]);
      behind.finish();
      expect((await call.message()).result?.content?.[0]?.text).toBe('finished');
      await behind.server.sendLoggingMessage({ level: 'info', data: 'still there' });
      expect((await stream.message()).params?.['data']).toBe('still there');
    },
  );

  verifies('B70', 'without comments the proxy does cut, and the client comes back for the rest', async () => {
    await using behind = await serveBehind({ idleMs: IDLE_MS }, 0);
    const session = await behind.open();
    const call = await behind.post(callTool(2, 'wait'), session);
    const { id = '' } = (await call.event()) ?? {};
    expect(await call.event()).toBeUndefined();
    behind.finish();
    const resumed = await behind.send({ method: 'GET', headers: { ...session, 'last-event-id': id } });
    expect((await resumed.message()).result?.content?.[0]?.text).toBe('finished');
  });
});

describe('behind a proxy that collects answers', () => {
  verifies('B70', 'each event of a stream arrives when it is sent, and JSON arrives whole', async () => {
    await using behind = await serveBehind({ buffers: true }, 0);
    const session = await behind.open();
    const stream = await behind.send({ method: 'GET', headers: session });
    await stream.event();
    await behind.server.sendLoggingMessage({ level: 'info', data: 'now' });
    expect((await stream.message()).params?.['data']).toBe('now');
    const call = await behind.post(callTool(2, 'wait', {}, { progressToken: 1 }), session);
    expect((await call.message()).params?.['progress']).toBe(1);
    behind.finish();
    expect((await call.message()).result?.content?.[0]?.text).toBe('finished');
    expect((await behind.post(callTool(3, 'none'), { 'mcp-session-id': 'no-such' })).status).toBe(404);
  });
});
