/** HTTP+SSE through a real Hono application and through the adapters of @mastra/server, which call it by core's contract. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Mastra } from '@mastra/core/mastra';
import type { HonoContextLike } from '@mastra/core/mcp';
import { createTool } from '@mastra/core/tools';
import express from 'express';
import { afterEach, describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { ensureForeign } from '../support/foreign.ts';
import { until } from '../support/processes.ts';

const foreign = await ensureForeign();
const load = createRequire(`${foreign}/index.js`);

interface HonoContext extends HonoContextLike {
  readonly req: HonoContextLike['req'] & {
    readonly url: string;
    readonly method: string;
    text(): Promise<string>;
  };
  header(name: string, value: string): void;
}

interface HonoApp {
  readonly fetch: unknown;
  use(handler: (context: HonoContext, next: () => Promise<void>) => Promise<void>): void;
  all(path: string, handler: (context: HonoContext) => Promise<Response>): void;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const host = createServer(listener);
  await once(host.listen(0, '127.0.0.1'), 'listening');
  closing.push(
    () => host.close(),
    () => host.closeAllConnections(),
  );
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
}

function newHono(): { readonly app: HonoApp; listen(): Promise<string> } {
  const { Hono } = load('hono') as { Hono: new () => HonoApp };
  const { getRequestListener } = load('@hono/node-server') as {
    getRequestListener: (handler: unknown) => RequestListener;
  };
  const app = new Hono();
  return { app, listen: () => listen(getRequestListener(app.fetch)) };
}

/** What became of the calls of `hang`. */
const ends: string[] = [];

function createMcpServer(): MCPServer {
  const who = createTool({
    id: 'who',
    description: 'Says who calls',
    inputSchema: z.object({}),
    execute: async (_input, { mcp }) => {
      const { authInfo, sessionId } = mcp?.extra ?? {};
      const { clientId, extra } = (authInfo ?? {}) as { clientId?: string; extra?: unknown };
      return JSON.stringify({ clientId, extra, sessionId });
    },
  });
  const ask = createTool({
    id: 'ask',
    description: 'Asks the caller',
    inputSchema: z.object({}),
    execute: async (_input, { mcp }) => {
      const answer = await mcp?.elicitation.sendRequest({
        message: 'Which colour?',
        requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
      });
      return String(answer?.content?.['colour']);
    },
  });
  const hang = createTool({
    id: 'hang',
    description: 'Runs until it is aborted',
    inputSchema: z.object({}),
    execute: (_input, { mcp }) =>
      new Promise<string>(resolve => {
        ends.push('running');
        mcp?.extra.signal.addEventListener('abort', () => {
          ends.push('aborted');
          resolve('aborted');
        });
      }),
  });
  const server = new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { who, ask, hang } });
  closing.push(() => server.close());
  return server;
}

describe.skipIf(foreign === undefined)('a Hono application', () => {
  for (const bodyIsRead of [false, true]) {
    verifies(
      ['S159', 'X03', 'S184', 'B68', 'S157'],
      `serves several clients ${bodyIsRead ? 'behind a middleware that reads bodies' : 'with bodies as they came'}`,
      async () => {
        const server = createMcpServer();
        const { app, listen: listenToApp } = newHono();
        app.use(async (context, next) => {
          context.header('x-served-by', 'hono');
          if (bodyIsRead && context.req.method === 'POST') await context.req.text();
          await next();
        });
        const handle = (context: HonoContext): Promise<Response> =>
          server.startHonoSSE({
            url: new URL(context.req.url),
            ssePath: '/sse',
            messagePath: '/messages',
            context,
          });
        app.all('/sse', handle);
        app.all('/messages', handle);
        const origin = await listenToApp();
        const opened = await fetch(`${origin}/messages`, { method: 'POST' });
        expect([opened.status, opened.headers.get('x-served-by')]).toEqual([415, 'hono']);

        const url = `${origin}/sse`;
        await using one = openClient({ s: { url, transport: 'sse' } });
        await using two = openClient({ s: { url } });
        for (const [client, colour] of [
          [one, 'red'],
          [two, 'blue'],
        ] as const)
          await client.elicitation.onRequest('s', () => ({ action: 'accept', content: { colour } }));
        const asks = await Promise.all([one, two].map(client => executeOf(client, 's_ask')));
        expect((await Promise.all(asks.map(ask => ask({})))).map(textOf)).toEqual(['red', 'blue']);
        // It tried Streamable HTTP first, and POST is not allowed there.
        expect(two.getServerStatus()['s']).toMatchObject({ state: 'ready', transport: 'sse' });
        const { sessionId } = JSON.parse(textOf(await (await executeOf(two, 's_who'))({})));
        expect(server.getSseHonoTransport(sessionId)?.sessionId).toBe(sessionId);
      },
    );
  }

  verifies(['S159', 'B35'], 'lets a client go, and its calls with it', async () => {
    ends.length = 0;
    const server = createMcpServer();
    const { app, listen: listenToApp } = newHono();
    const handle = (context: HonoContext): Promise<Response> =>
      server.startHonoSSE({ url: new URL(context.req.url), ssePath: '/sse', messagePath: '/m', context });
    app.all('/sse', handle);
    app.all('/m', handle);
    const client = openClient({ s: { url: `${await listenToApp()}/sse`, transport: 'sse' } });
    const call = (await executeOf(client, 's_hang'))({});
    call.catch(() => undefined);
    await until('the call runs', () => ends.length === 1);
    await client.disconnect();
    await until('the call is aborted', () => ends.includes('aborted'));
    await until('the session is over', () => server.getSseHonoTransport() === undefined);
    await expect(call).rejects.toMatchObject({ code: expect.stringMatching(/^MCP_CLIENT_/) });
  });
});

describe.skipIf(foreign === undefined)('the adapters of @mastra/server', () => {
  const auth = {
    name: 'tokens',
    authenticateToken: async (token: string) => (token === 'good' ? { id: 'ada', name: 'Ada' } : null),
    authorizeUser: async () => true,
  };
  type Adapter = new (init: object) => { init(): Promise<void> };
  const sseUrl = (origin: string): string => `${origin}/api/mcp/desk/sse`;
  const registered = (server: MCPServer): Mastra =>
    new Mastra({ mcpServers: { desk: server }, logger: false, server: { auth: auth as never } });

  verifies(['S159', 'S231', 'X03'], 'serve HTTP+SSE through Hono, with the caller they found', async () => {
    const server = createMcpServer();
    const { app, listen: listenToApp } = newHono();
    const { MastraServer } = load('@mastra/hono') as { MastraServer: Adapter };
    await new MastraServer({ app, mastra: registered(server) }).init();
    const url = sseUrl(await listenToApp());
    const requestInit = { headers: { authorization: 'Bearer good' } };
    await using client = openClient({ s: { url, transport: 'sse', requestInit } });
    const caller = JSON.parse(textOf(await (await executeOf(client, 's_who'))({})));
    expect(caller).toMatchObject({ clientId: 'ada', extra: { user: { id: 'ada', name: 'Ada' } } });
    expect(server.getSseHonoTransport()?.sessionId).toBe(caller.sessionId);
    const stranger = await fetch(url, { headers: { accept: 'text/event-stream' } });
    expect(stranger.status).toBe(401);
  });

  verifies(['S157', 'S158', 'S174'], 'serve HTTP+SSE through Express, where bodies are parsed', async () => {
    const server = createMcpServer();
    const app = express();
    app.use(express.json());
    const { MastraServer } = load('@mastra/express') as { MastraServer: Adapter };
    await new MastraServer({ app, mastra: registered(server) }).init();
    const url = sseUrl(await listen(app));
    const requestInit = { headers: { authorization: 'Bearer good' } };
    await using client = openClient({ s: { url, transport: 'sse', requestInit } });
    const caller = JSON.parse(textOf(await (await executeOf(client, 's_who'))({})));
    expect(server.getSseTransport()?.sessionId).toBe(caller.sessionId);
  });
});
