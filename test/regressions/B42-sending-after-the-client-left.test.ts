import { createTool } from '@mastra/core/tools';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { expect } from 'vitest';
import { InMemoryEventStore, MCPServer } from '../../src/server/index.ts';
import type { StreamableHTTPServerTransportOptions } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callAt, callInMemory, callOver } from '../server/call-harness.ts';
import type { Caller } from '../server/call-harness.ts';
import { until } from '../support/processes.ts';
import { serveHttp } from '../support/serve-http.ts';
import { collectUnhandled } from '../support/unhandled.ts';

/** Rounds of messages after the client has left. */
const ROUNDS = 20;

interface Talker {
  readonly server: MCPServer;
  /** Told when the client is gone; the tool goes on for some rounds. */
  leave(): void;
  /** What became of a question after that; `undefined` while the tool runs. */
  outcome(): string | undefined;
}

/** A tool that talks all the time, whether or not somebody listens, and in the end asks. */
function createTalker(): Talker {
  let left = false;
  let outcome: string | undefined;
  const talk = createTool({
    id: 'talk',
    description: 'Talks',
    execute: async (_input, { mcp }) => {
      type Notify = (notification: object) => Promise<void>;
      const notify = mcp?.extra.sendNotification as unknown as Notify;
      const raw = { method: 'notifications/message', params: { level: 'info', data: 'raw' } };
      for (let [round, after] = [1, 0]; after < ROUNDS; round += 1) {
        if (left) after += 1;
        // Nobody waits for these, so one that rejected would be unhandled.
        void mcp?.progress?.({ progress: round });
        void mcp?.log?.('info', `round ${round}`);
        void notify(raw);
        await mcp?.progress?.({ progress: round + 0.5 });
        await nextTurn();
      }
      const requestedSchema = { type: 'object' as const, properties: {} };
      await mcp?.elicitation
        .sendRequest({ message: 'Still there?', requestedSchema })
        .then(answer => (outcome = answer.action))
        .catch((error: { code: string }) => (outcome = error.code));
      return 'said';
    },
  });
  const echo = createTool({ id: 'echo', description: 'E', execute: async () => 'heard' });
  return {
    server: new MCPServer({ name: 'talker', version: '1.0.0', tools: { talk, echo }, askTimeoutMs: 50 }),
    leave: () => (left = true),
    outcome: () => outcome,
  };
}

const onElicit = (): { action: 'decline' } => ({ action: 'decline' });

/** Starts to talk and goes away in the middle. */
async function talkAndLeave(caller: Caller): Promise<void> {
  let heard = 0;
  const call = caller.client.callTool({ name: 'talk' }, undefined, { onprogress: () => (heard += 1) });
  const settled = call.catch(() => undefined);
  await until('the tool talks', () => heard > 3);
  await caller.client.close();
  await settled;
}

const ways: Record<string, StreamableHTTPServerTransportOptions> = {
  'a session': {},
  'a session with an event store': { eventStore: new InMemoryEventStore() },
  'a serverless stream': { serverless: true, serverlessStreaming: true },
};

for (const [way, options] of Object.entries(ways)) {
  verifies('B42', `a tool that goes on talking after its client left harms nobody: ${way}`, async () => {
    using unhandled = collectUnhandled();
    const { server, leave, outcome } = createTalker();
    await using host = await serveHttp(server, options);
    const other = await callAt(host.url);
    await talkAndLeave(await callAt(host.url, { onElicit }));
    leave();
    expect(await other.text('echo')).toBe('heard');
    await until('the tool has ended', () => outcome() !== undefined);
    expect(outcome()).toMatch(/^MCP_SERVER_CLIENT_(UNREACHABLE|CAPABILITY_MISSING)$/);
    await server.sendLoggingMessage({ level: 'error', data: 'to who is left' });
    expect(await other.text('echo')).toBe('heard');
    await other.client.close();
    await server.close();
    expect(await unhandled.found()).toEqual([]);
  });
}

verifies('B42', 'a tool that goes on talking after its client left harms nobody: in memory', async () => {
  using unhandled = collectUnhandled();
  const { server, leave, outcome } = createTalker();
  await using other = await callInMemory(server);
  await talkAndLeave(await callInMemory(server, { onElicit }));
  leave();
  await until('the tool has ended', () => outcome() !== undefined);
  expect(outcome()).toBe('MCP_SERVER_CLIENT_UNREACHABLE');
  await server.sendLoggingMessage({ level: 'error', data: 'to who is left' });
  expect(await other.text('echo')).toBe('heard');
  expect(await unhandled.found()).toEqual([]);
});

verifies(
  'B42',
  'a connection that breaks under a talking tool harms nobody, before anyone has noticed',
  async () => {
    using unhandled = collectUnhandled();
    const { server, leave, outcome } = createTalker();
    await using other = await callInMemory(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.getServer().connect(far);
    await using caller = await callOver(near, { onElicit });
    let heard = 0;
    const call = caller.client.callTool({ name: 'talk' }, undefined, { onprogress: () => (heard += 1) });
    const settled = call.catch(() => undefined);
    await until('the tool talks', () => heard > 3);
    far.send = () => Promise.reject(new Error('write EPIPE'));
    leave();
    await until('the tool has ended', () => outcome() !== undefined);
    expect(outcome()).toBe('MCP_SERVER_CLIENT_UNREACHABLE');
    await server.sendLoggingMessage({ level: 'error', data: 'to who is left' });
    expect(await other.text('echo')).toBe('heard');
    expect(await unhandled.found()).toEqual([]);
    await caller.client.close();
    await settled;
  },
);
