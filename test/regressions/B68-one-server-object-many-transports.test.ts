/** Many transports on one MCPServer object: every answer, question and progress goes to the client it belongs to. */
import { createTool } from '@mastra/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'vitest';
import { z } from 'zod';
import type { HttpServerDefinition } from '../../src/client/index.ts';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { toContext } from '../server/sse-harness.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { serveHttp, serveSse } from '../support/serve-http.ts';

const CALLS = 50;

/** Holds every call until so many are there, then lets them go in another order than they came. */
function createTurnstile(count: number) {
  const held: (() => void)[] = [];
  return {
    pass: (): Promise<void> =>
      new Promise(resolve => {
        held.push(resolve);
        if (held.length < count) return;
        const half = Math.ceil(count / 2);
        for (let at = 0; at < half; at += 1) {
          held[count - 1 - at]?.();
          held[at]?.();
        }
      }),
  };
}

/** A tool that tells its progress, asks its caller and says both, with everybody else in between. */
function createServer(turnstile: { pass(): Promise<void> }): MCPServer {
  const relay = createTool({
    id: 'relay',
    description: 'Asks the caller who it is',
    inputSchema: z.object({ tag: z.string() }),
    execute: async ({ tag }, { mcp }) => {
      await mcp?.progress?.({ progress: 1, message: tag });
      await turnstile.pass();
      const answer = await mcp?.elicitation.sendRequest({
        message: tag,
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      });
      return JSON.stringify([tag, answer?.content?.['name'], answer?.content?.['asked']]);
    },
  });
  const echo = createTool({
    id: 'echo',
    description: 'Gives the text back',
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => text,
  });
  return new MCPServer({ name: 'many', version: '1.0.0', tools: { relay, echo } });
}

interface Joined {
  readonly name: string;
  /** Tags that progress came for. */
  readonly progress: string[];
  /** Which lists it was told of. */
  readonly changes: string[];
  call(tool: 'relay' | 'echo', args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

async function joinOurs(name: string, definition: HttpServerDefinition): Promise<Joined> {
  const client = openClient({ s: definition });
  const progress: string[] = [];
  await client.progress.onUpdate('s', update => progress.push(update.message ?? ''));
  await client.elicitation.onRequest('s', ({ message }) => ({
    action: 'accept',
    content: { name, asked: message },
  }));
  const execute = {
    relay: await executeOf(client, 's_relay'),
    echo: await executeOf(client, 's_echo'),
  };
  return {
    name,
    progress,
    changes: [],
    call: async (tool, args) => textOf(await execute[tool](args)),
    close: () => client.disconnect(),
  };
}

async function joinSdk(name: string, transport: Transport): Promise<Joined> {
  const changes: string[] = [];
  const onChanged = (): void => void changes.push('tools');
  const client = new Client(
    { name, version: '1.0.0' },
    { capabilities: { elicitation: {} }, listChanged: { tools: { autoRefresh: false, onChanged } } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: 'accept',
    content: { name, asked: params.message },
  }));
  await client.connect(transport);
  const progress: string[] = [];
  const options = {
    onprogress: (update: { message?: string | undefined }) => progress.push(update.message ?? ''),
  };
  return {
    name,
    progress,
    changes,
    call: async (tool, args) =>
      textOf(await client.callTool({ name: tool, arguments: args }, undefined, options)),
    close: () => client.close(),
  };
}

verifies(
  ['B68', 'S5', 'S157', 'S159', 'S160', 'S209'],
  'seven clients of one server object on five transports never get what is of another',
  async () => {
    const turnstile = createTurnstile(CALLS);
    await using server = createServer(turnstile);
    await using http = await serveHttp(server);
    await using sse = await serveSse(server);
    const throughHono = async (input: string | URL, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      const paths = { ssePath: '/sse', messagePath: '/messages' };
      return server.startHonoSSE({ ...paths, url: new URL(request.url), context: toContext(request) });
    };
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.getServer().connect(far);
    const fetchOf = (url: string | URL, init?: RequestInit): Promise<Response> =>
      server.fetch(new Request(url, init));
    const here = new URL('http://127.0.0.1/mcp');
    const clients = await Promise.all([
      joinOurs('sse', { url: sse.url, transport: 'sse' }),
      joinSdk('sse of the SDK', new SSEClientTransport(sse.url)),
      joinOurs('hono', { url: 'http://127.0.0.1/sse', transport: 'sse', fetch: throughHono }),
      joinOurs('http', { url: http.url }),
      joinSdk('http of the SDK', new StreamableHTTPClientTransport(http.url) as Transport),
      joinSdk('fetch', new StreamableHTTPClientTransport(here, { fetch: fetchOf }) as Transport),
      joinSdk('direct', near),
    ]);

    const calls = Array.from({ length: CALLS }, (_, at) => {
      const client = clients[at % clients.length];
      if (client === undefined) throw new Error('no client');
      return { client, tag: `${client.name} ${at}` };
    });
    const answers = await Promise.all(calls.map(({ client, tag }) => client.call('relay', { tag })));
    expect(answers).toEqual(calls.map(({ client, tag }) => JSON.stringify([tag, client.name, tag])));
    for (const client of clients) {
      const own = calls.filter(call => call.client === client).map(({ tag }) => tag);
      expect(client.progress.toSorted()).toEqual(own.toSorted());
    }

    // One that leaves takes nothing with it.
    const [first, second, third, ...rest] = clients;
    await Promise.all([first?.close(), third?.close()]);
    for (const client of [second, ...rest])
      expect(await client?.call('echo', { text: client.name })).toBe(client?.name);
    const more = createTool({ id: 'more', description: 'One more' });
    await server.toolActions.add({ more });
    // What our client does with it is its own matter; the others of the SDK say that they were told.
    const listening = [second, ...rest].filter(client => client?.name !== 'http');
    await until('they are told', () => listening.every(client => client?.changes.length === 1));
    await Promise.all([second, ...rest].map(client => client?.close()));
  },
  60_000,
);
