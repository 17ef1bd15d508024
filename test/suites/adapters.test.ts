/** MCPServer in a Mastra instance behind the adapters of @mastra/server: the REST routes, and MCP through them. */
import { randomUUID } from 'node:crypto';
import { Agent } from '@mastra/core/agent';
import type { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { FgaProvider } from '../support/fga-provider.ts';
import type { FgaQuestion } from '../support/fga-provider.ts';
import { ensureForeign } from '../support/foreign.ts';
import { Adapters } from '../support/mastra-adapters.ts';
import type { AdapterHost, AdapterName, AdapterOptions, CoreCopy } from '../support/mastra-adapters.ts';
import { until } from '../support/processes.ts';
import { openRawSession } from '../support/raw-http.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { collectUnhandled } from '../support/unhandled.ts';

const foreign = await ensureForeign();
const adapters = new Adapters(foreign ?? '');

const SECRET = 'hunter2';
const names: readonly AdapterName[] = ['hono', 'express'];
const copies: readonly CoreCopy[] = ['ours', 'theirs'];

interface Desk {
  readonly server: MCPServer;
  /** What became of the calls of `wait`. */
  readonly waits: string[];
}

/** A server with something of every kind. */
function createDesk(more: Partial<MCPServerConfig> = {}): Desk {
  const waits: string[] = [];
  const failing = (id: string, error: Error) =>
    createTool({
      id,
      description: id,
      execute: async () => {
        throw error;
      },
    });
  const add = createTool({
    id: 'add',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    execute: async ({ a, b }) => ({ sum: a + b }),
  });
  const who = createTool({
    id: 'who-id',
    description: 'Says who calls',
    execute: async (_input, { mcp, requestContext }) => {
      const inContext: { authInfo?: unknown } | undefined = requestContext.get('mcp.extra');
      const authInfo: { clientId?: unknown } | undefined = requestContext.get('authInfo');
      return {
        user: requestContext.get<string, unknown>('user') ?? null,
        tenant: requestContext.get<string, unknown>('tenant') ?? null,
        authInfo: mcp?.extra.authInfo ?? null,
        inContext: inContext?.authInfo ?? null,
        clientId: authInfo?.clientId ?? null,
      };
    },
  });
  const wait = createTool({
    id: 'wait',
    description: 'Waits until it is aborted',
    inputSchema: z.object({ tells: z.boolean() }),
    execute: async ({ tells }, { mcp, abortSignal }) => {
      if (tells) await mcp?.log?.('info', 'waiting');
      waits.push('running');
      await new Promise<void>(resolve => {
        abortSignal?.addEventListener('abort', () => resolve(), { once: true });
      });
      waits.push('aborted');
    },
  });
  const ask = createTool({
    id: 'ask',
    description: 'Asks the caller',
    execute: async (_input, { mcp }) => {
      await mcp?.progress?.({ progress: 1, total: 2 });
      const answer = await mcp?.elicitation.sendRequest({
        message: 'Which colour?',
        requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
      });
      return String(answer?.content?.['colour']);
    },
  });
  const { model } = scriptedModel([{ text: 'Dawn' }]);
  const editor = new Agent({ id: 'editor', name: 'Editor', description: 'Titles', instructions: 'x', model });
  const schema = z.object({ title: z.string() });
  const upper = createStep({
    id: 'upper',
    inputSchema: schema,
    outputSchema: schema,
    execute: async ({ inputData }) => ({ title: inputData.title.toUpperCase() }),
  });
  const publish = createWorkflow({
    id: 'publish',
    description: 'Publishes',
    inputSchema: schema,
    outputSchema: schema,
  })
    .then(upper)
    .commit();
  const server = new MCPServer({
    id: 'desk',
    name: 'Desk',
    version: '1.2.0',
    description: 'A desk',
    packageCanonical: 'npm',
    tools: {
      add,
      who,
      wait,
      ask,
      boom: failing('boom', new Error('It broke', { cause: new Error(SECRET) })),
      teapot: failing('teapot', Object.assign(new Error('No coffee'), { status: 418 })),
    },
    agents: { editor },
    workflows: { publish: publish as never },
    resources: {
      listResources: async () => [
        { uri: 'doc://a', name: 'A', mimeType: 'text/plain' },
        { uri: 'doc://broken', name: 'Broken' },
      ],
      getResourceContent: async ({ uri }) => {
        if (uri === 'doc://broken') throw new Error('The disk is full', { cause: new Error(SECRET) });
        return uri === 'doc://a' ? { text: 'hello' } : undefined;
      },
    },
    ...more,
  });
  return { server, waits };
}

/** Who has a token, as `auth` of a Mastra server. */
const auth = {
  name: 'tokens',
  authenticateToken: async (token: string) =>
    token.startsWith('token-of-') ? { id: token.slice('token-of-'.length), scopes: ['desk'] } : null,
  authorizeUser: async () => true,
};
const bearer = (name: string) => ({ authorization: `Bearer token-of-${name}` });

interface Served extends AsyncDisposable, Desk {
  readonly host: AdapterHost;
  readonly mastra: Mastra;
  readonly url: string;
}

interface ServeOptions extends AdapterOptions {
  readonly copy?: CoreCopy;
  readonly desk?: Partial<MCPServerConfig>;
  readonly mastraServer?: object;
}

async function serve(name: AdapterName, options: ServeOptions = {}): Promise<Served> {
  const { server, waits } = createDesk(options.desk);
  const { mastraServer } = options;
  const mastra = adapters.createMastra(options.copy ?? 'ours', {
    mcpServers: { 'desk-key': server },
    ...(mastraServer === undefined ? {} : { server: mastraServer }),
  });
  const host = await adapters.serve(name, mastra, options);
  return {
    server,
    waits,
    mastra,
    host,
    url: `${host.origin}/api/mcp/desk/mcp`,
    async [Symbol.asyncDispose]() {
      await server.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

const DETAIL = {
  id: 'desk',
  name: 'Desk',
  description: 'A desk',
  version_detail: { version: '1.2.0', release_date: expect.any(String), is_latest: true },
};
const TOOLS = ['add', 'who', 'wait', 'ask', 'boom', 'teapot', 'ask_editor', 'run_publish'];
const OBJECT = expect.objectContaining({ type: 'object' });

for (const name of names) {
  for (const copy of copies) {
    describe.skipIf(foreign === undefined)(`the REST routes of ${name}, with ${copy} copy of core`, () => {
      verifies(['S130', 'S177', 'S178'], 'list servers page by page, and show one by its id', async () => {
        await using served = await serve(name, { copy });
        const { rest } = served.host;
        served.mastra.addMCPServer(new MCPServer({ id: 'two', name: 'Two', version: '2.0.0' }) as never);
        expect(await rest('GET', '/mcp/v0/servers')).toEqual({
          status: 200,
          body: { servers: [DETAIL, expect.objectContaining({ id: 'two' })], total_count: 2, next: null },
        });
        expect(await rest('GET', '/mcp/v0/servers?page=0&perPage=1')).toEqual({
          status: 200,
          body: { servers: [DETAIL], total_count: 2, next: expect.stringContaining('page=1') },
        });
        expect(await rest('GET', '/mcp/v0/servers/desk')).toEqual({
          status: 200,
          body: { ...DETAIL, package_canonical: 'npm' },
        });
        for (const path of ['/mcp/v0/servers/desk-key', '/mcp/v0/servers/desk?version=9.9.9']) {
          expect((await rest('GET', path)).status, path).toBe(404);
        }
      });

      verifies(['S179', 'S180', 'S143', 'S135'], 'list tools and show one', async () => {
        await using served = await serve(name, { copy });
        const { rest } = served.host;
        const { status, body } = await rest('GET', '/mcp/desk/tools');
        const { tools } = body as { tools: { name: string; id: string; toolType?: string }[] };
        expect(status).toBe(200);
        expect(tools.map(tool => tool.name)).toEqual(TOOLS);
        expect(tools.map(tool => tool.id)).toEqual(TOOLS);
        expect(tools.slice(-2).map(tool => tool.toolType)).toEqual(['agent', 'workflow']);
        const add = {
          id: 'add',
          name: 'add',
          description: 'Adds',
          inputSchema: OBJECT,
          outputSchema: OBJECT,
        };
        expect(tools[0]).toEqual(add);
        expect(await rest('GET', '/mcp/desk/tools/add')).toEqual({ status: 200, body: add });
        expect(await rest('GET', '/mcp/desk/tools/who-id')).toMatchObject({ body: { name: 'who' } });
        expect((await rest('GET', '/mcp/desk/tools/nowhere')).status).toBe(404);
      });

      verifies(
        ['S181', 'S10'],
        'run a tool: what it returned, 404 for an unknown one, 424 or its own status when it throws',
        async () => {
          await using served = await serve(name, { copy });
          const run = (tool: string, data?: object) =>
            served.host.rest('POST', `/mcp/desk/tools/${tool}/execute`, { data });
          expect(await run('add', { a: 1, b: 2 })).toEqual({ status: 200, body: { result: { sum: 3 } } });
          expect(await run('run_publish', { title: 'dawn' })).toEqual({
            status: 200,
            body: { result: { title: 'DAWN' } },
          });
          // The host gets the whole result of an agent.
          expect(await run('ask_editor', { message: 'hi' })).toMatchObject({
            status: 200,
            body: { result: { text: 'Dawn', finishReason: 'stop' } },
          });
          expect(await run('add', { a: 'x' })).toMatchObject({
            status: 200,
            body: { result: { error: true, message: expect.stringContaining('add') } },
          });
          expect(await run('nowhere', {})).toEqual({ status: 404, body: { error: 'Unknown tool: nowhere' } });
          const broken = await run('boom', {});
          expect(broken).toEqual({ status: 424, body: { error: 'Tool "boom" failed: It broke' } });
          expect(await run('teapot', {})).toMatchObject({ status: 418 });
        },
      );

      verifies('S250', 'list and read resources: 404 for an unknown one, 500 for a failing one', async () => {
        await using served = await serve(name, { copy });
        const { rest } = served.host;
        const read = (uri: string) => rest('POST', '/mcp/desk/resources/read', { uri });
        expect(await rest('GET', '/mcp/desk/resources')).toEqual({
          status: 200,
          body: {
            resources: [
              { uri: 'doc://a', name: 'A', mimeType: 'text/plain' },
              { uri: 'doc://broken', name: 'Broken' },
            ],
          },
        });
        expect(await read('doc://a')).toEqual({
          status: 200,
          body: { contents: [{ uri: 'doc://a', mimeType: 'text/plain', text: 'hello' }] },
        });
        expect((await read('doc://nowhere')).status).toBe(404);
        const broken = await read('doc://broken');
        expect(broken.status).toBe(500);
        expect(JSON.stringify(broken)).not.toContain(SECRET);
      });

      verifies('S130', 'know no server by another name than its id', async () => {
        await using served = await serve(name, { copy });
        for (const [method, path, body] of [
          ['GET', '/mcp/nobody/tools'],
          ['GET', '/mcp/nobody/tools/add'],
          ['POST', '/mcp/nobody/tools/add/execute', { data: {} }],
          ['GET', '/mcp/nobody/resources'],
          ['POST', '/mcp/nobody/resources/read', { uri: 'doc://a' }],
          ['POST', '/mcp/nobody/mcp', {}],
          ['GET', '/mcp/nobody/mcp'],
          ['DELETE', '/mcp/nobody/mcp'],
          ['GET', '/mcp/nobody/sse'],
          ['POST', '/mcp/nobody/messages', {}],
          ['GET', '/mcp/desk-key/tools'],
        ] as const) {
          expect((await served.host.rest(method, path, body)).status, `${method} ${path}`).toBe(404);
        }
      });

      verifies('S204', 'show tools that come and go', async () => {
        await using served = await serve(name, { copy });
        const listed = async () => {
          const { body } = await served.host.rest('GET', '/mcp/desk/tools');
          return (body as { tools: { name: string }[] }).tools.map(tool => tool.name);
        };
        const late = createTool({ id: 'late-id', description: 'L', execute: async () => 'here' });
        await served.server.toolActions.add({ late });
        expect(await listed()).toContain('late');
        expect((served.mastra.listTools() as Record<string, unknown>)['late-id']).toBe(late);
        expect(await served.host.rest('POST', '/mcp/desk/tools/late/execute', {})).toMatchObject({
          body: { result: 'here' },
        });
        await served.server.toolActions.remove(['late']);
        expect(await listed()).not.toContain('late');
        expect(served.mastra.listTools()).not.toHaveProperty('late-id');
      });
    });
  }

  const bodies = name === 'hono' ? [undefined] : [true, false];
  for (const parsesBodies of bodies) {
    const way = parsesBodies === undefined ? '' : parsesBodies ? ', bodies parsed before' : ', bodies unread';
    const options = parsesBodies === undefined ? {} : { parsesBodies };
    describe.skipIf(foreign === undefined)(`MCP through ${name}${way}`, () => {
      verifies(
        ['S160', 'S174', 'S215', 'S211'],
        'our client lists and calls, is told of progress and is asked, in a session',
        async () => {
          await using served = await serve(name, options);
          await using client = openClient({ desk: { url: served.url } });
          const updates: unknown[] = [];
          await client.progress.onUpdate(
            'desk',
            ({ progress, total }) => void updates.push([progress, total]),
          );
          await client.elicitation.onRequest('desk', () => ({
            action: 'accept',
            content: { colour: 'red' },
          }));
          expect(Object.keys(await client.listTools())).toEqual(TOOLS.map(tool => `desk_${tool}`));
          expect(await (await executeOf(client, 'desk_add'))({ a: 1, b: 2 })).toEqual({ sum: 3 });
          expect(textOf(await (await executeOf(client, 'desk_ask'))({}))).toBe('red');
          expect(updates).toEqual([[1, 2]]);
          expect(client.getServerStatus()['desk']).toMatchObject({ state: 'ready', transport: 'http' });
          expect(client.sessionIds['desk']).toBe(served.server.getStreamableHTTPTransport()?.sessionId);
        },
      );

      verifies(['S160', 'S208'], 'the client of the SDK does the same, and hears of changes', async () => {
        await using served = await serve(name, options);
        const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } });
        client.setRequestHandler(ElicitRequestSchema, () => ({
          action: 'accept',
          content: { colour: 'blue' },
        }));
        const heard: string[] = [];
        client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
        const transport = new StreamableHTTPClientTransport(new URL(served.url));
        await client.connect(transport);
        expect((await client.listTools()).tools.map(tool => tool.name)).toEqual(TOOLS);
        expect(await client.callTool({ name: 'ask' })).toMatchObject({ content: [{ text: 'blue' }] });
        expect(await client.readResource({ uri: 'doc://a' })).toMatchObject({
          contents: [{ text: 'hello' }],
        });
        await expect(client.callTool({ name: 'nowhere' })).rejects.toMatchObject({ code: -32602 });
        // The stream that the client opened by GET.
        await until('the change is heard', () => {
          if (heard.length === 0) void served.server.toolActions.notifyListChanged();
          return heard.includes('notifications/tools/list_changed');
        });
        await transport.terminateSession();
        expect(served.server.getStreamableHTTPTransport()).toBeUndefined();
        await client.close();
      });

      for (const tells of [true, false]) {
        verifies(
          ['D14', 'B35', 'S236'],
          tells
            ? 'a client that leaves while it is told something aborts its call'
            : 'a client that leaves before anything was sent aborts its call, at the latest when the stream opens',
          async () => {
            using unhandled = collectUnhandled();
            await using served = await serve(name, options);
            const { headers } = await openRawSession(served.url);
            const client = new AbortController();
            const params = { name: 'wait', arguments: { tells } };
            const call = fetch(served.url, {
              method: 'POST',
              headers: {
                ...headers,
                'content-type': 'application/json',
                accept: 'application/json, text/event-stream',
              },
              body: JSON.stringify({ jsonrpc: '2.0', id: 'w', method: 'tools/call', params }),
              signal: client.signal,
            }).catch((error: unknown) => error);
            await until('the call runs', () => served.waits.includes('running'));
            // Headers come with the first message; without one the connection is cut before any answer.
            if (tells) await call;
            client.abort();
            await until('the call is aborted', () => served.waits.includes('aborted'), 20_000);
            await call;
            expect(await unhandled.found()).toEqual([]);
          },
        );
      }

      verifies(
        ['S157', 'S158'],
        'the older HTTP+SSE serves both clients through its two routes',
        async () => {
          await using served = await serve(name, options);
          const url = `${served.host.origin}/api/mcp/desk/sse`;
          await using ours = openClient({ desk: { url, transport: 'sse' } });
          expect(await (await executeOf(ours, 'desk_add'))({ a: 1, b: 2 })).toEqual({ sum: 3 });
          const client = new Client({ name: 'sdk', version: '1' });
          await client.connect(new SSEClientTransport(new URL(url)));
          expect((await client.listTools()).tools.map(tool => tool.name)).toEqual(TOOLS);
          await client.close();
        },
      );

      verifies(
        ['B72', 'D12'],
        'serverless of the adapter reaches every request: no session anywhere',
        async () => {
          await using served = await serve(name, { ...options, mcpOptions: { serverless: true } });
          const sessions: (string | null)[] = [];
          const requestIds = { id: randomUUID() };
          await using client = openClient({
            desk: {
              url: served.url,
              fetch: async (url, init) => {
                const response = await fetch(url, init);
                sessions.push(response.headers.get('mcp-session-id'));
                return response;
              },
            },
          });
          expect(await (await executeOf(client, 'desk_add'))({ a: 1, b: 2 })).toEqual({ sum: 3 });
          expect(client.sessionIds).toEqual({});
          expect(sessions.length).toBeGreaterThanOrEqual(3);
          expect(new Set(sessions)).toEqual(new Set([null]));
          const call = { jsonrpc: '2.0', ...requestIds, method: 'tools/list' };
          const answer = await served.host.rest('POST', '/mcp/desk/mcp', call, {
            accept: 'application/json, text/event-stream',
          });
          expect(answer).toMatchObject({
            status: 200,
            body: { ...requestIds, result: { tools: TOOLS.map(tool => ({ name: tool })) } },
          });
          for (const method of ['GET', 'DELETE']) {
            const { status } = await fetch(served.url, { method, headers: { accept: 'text/event-stream' } });
            expect(status, method).toBe(405);
          }
          expect(served.server.getStreamableHTTPTransport()).toBeUndefined();
        },
      );
    });
  }
}

describe.skipIf(foreign === undefined)('who calls, through the adapters', () => {
  const USER = { id: 'ada', scopes: ['desk'] };
  const authInfo = { token: 'token-of-ada', clientId: 'ada', scopes: ['desk'], extra: { user: USER } };
  const bridged = { user: USER, tenant: null, authInfo, inContext: authInfo, clientId: 'ada' };

  verifies(
    ['B89', 'S231'],
    'Hono’s bridge tells a tool, and its request context, whom it verified',
    async () => {
      await using served = await serve('hono', { mastraServer: { auth } });
      expect((await fetch(served.url, { method: 'POST', body: '{}' })).status).toBe(401);
      const requestInit = { headers: bearer('ada') };
      await using client = openClient({ desk: { url: served.url, requestInit } });
      expect(JSON.parse(textOf(await (await executeOf(client, 'desk_who'))({})))).toEqual(bridged);
      await using stranger = openClient({ desk: { url: served.url } });
      await expect(stranger.listTools()).rejects.toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' });
    },
  );

  verifies(['B89', 'S231'], 'Express has no bridge: a middleware in front sets req.auth', async () => {
    const before: AdapterOptions['before'] = req => {
      if (req.headers.authorization === 'Bearer token-of-ada') req.auth = authInfo;
    };
    await using served = await serve('express', { mastraServer: { auth }, before });
    const requestInit = { headers: bearer('ada') };
    await using client = openClient({ desk: { url: served.url, requestInit } });
    expect(JSON.parse(textOf(await (await executeOf(client, 'desk_who'))({})))).toEqual(bridged);
  });

  for (const name of names) {
    verifies(
      ['B89', 'S181'],
      `a tool run by the REST route of ${name} knows the user, and believes nothing that the body says of the caller`,
      async () => {
        await using served = await serve(name, { mastraServer: { auth } });
        const boss = { clientId: 'boss', extra: { user: { id: 'boss' } } };
        const requestContext = {
          tenant: 't1',
          user: { id: 'boss' },
          authInfo: boss,
          'mcp.extra': { authInfo: boss },
        };
        const body = { data: {}, requestContext };
        expect(
          await served.host.rest('POST', '/mcp/desk/tools/who/execute', body, bearer('ada')),
        ).toMatchObject({
          status: 200,
          body: { result: { user: USER, tenant: 't1', authInfo: null, inContext: null, clientId: null } },
        });
      },
    );

    verifies(
      ['D11', 'S233', 'S179', 'S181'],
      `permissions hold on the routes of ${name}: lists are filtered, a denied tool is 403, an unknown one 404`,
      async () => {
        // The routes ask by themselves before the server does; here they get a yes, so that the server's answer is seen.
        const isOurs = ({ context }: FgaQuestion): boolean => context?.metadata?.['mcpServerId'] === 'desk';
        const provider = new FgaProvider(
          asked =>
            !isOurs(asked) || ((asked.user as { id: string }).id === 'ada' && asked.id.includes('"add"')),
        );
        const mastraServer = { auth, fga: provider };
        for (const copy of copies) {
          await using served = await serve(name, { mastraServer, copy });
          const { rest } = served.host;
          const listed = async (who: string) => {
            const { body } = await rest('GET', '/mcp/desk/tools', undefined, bearer(who));
            return (body as { tools: { name: string }[] }).tools.map(tool => tool.name);
          };
          expect(await listed('ada')).toEqual(['add']);
          expect(await listed('bob')).toEqual([]);
          const run = (tool: string, who: string) =>
            rest('POST', `/mcp/desk/tools/${tool}/execute`, { data: { a: 1, b: 2 } }, bearer(who));
          provider.take();
          expect(await run('add', 'ada')).toEqual({ status: 200, body: { result: { sum: 3 } } });
          expect(provider.questions.filter(isOurs)).toEqual([
            expect.objectContaining({ permission: 'tools:execute', type: 'tool', id: '["desk","add"]' }),
          ]);
          expect((await run('add', 'bob')).status).toBe(403);
          expect((await run('run_publish', 'ada')).status).toBe(403);
          expect((await run('nowhere', 'ada')).status).toBe(404);
        }
      },
    );
  }

  verifies(['D11', 'S233', 'B91'], 'and hold for MCP through Hono, by the user of its bridge', async () => {
    const fga = new FgaProvider(({ type, id }) => type !== 'tool' || id.includes('"add"'));
    await using served = await serve('hono', { mastraServer: { auth, fga } });
    await using client = openClient({ desk: { url: served.url, requestInit: { headers: bearer('ada') } } });
    expect(Object.keys(await client.listTools())).toEqual(['desk_add']);
    fga.take();
    expect(await (await executeOf(client, 'desk_add'))({ a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(fga.take().filter(asked => asked.includes(' tool '))).toContain(
      'tools:execute tool ["desk","add"]',
    );
  });
});

/** The adapters bundle an older version of the handlers. */
describe.skipIf(foreign === undefined)('the handlers of @mastra/server 1.69', () => {
  test.each(copies)('take the server for one of the 1.x contract, with %s copy of core', async copy => {
    const { server } = createDesk();
    const mastra = adapters.createMastra(copy, { mcpServers: { desk: server } });
    const routes = adapters.routes();
    const handle = async (route: string, init: object): Promise<unknown> => {
      try {
        return await routes[`${route}_ROUTE`]?.handler({ mastra, ...init });
      } catch (error) {
        return { status: (error as { status?: number }).status };
      }
    };
    const transports = ['streamable-http', 'sse'];
    expect(await handle('LIST_MCP_SERVERS', {})).toEqual({
      servers: [{ ...DETAIL, transports }],
      total_count: 1,
      next: null,
    });
    expect(await handle('GET_MCP_SERVER_DETAIL', { id: 'desk' })).toEqual({
      ...DETAIL,
      package_canonical: 'npm',
      transports,
    });
    expect(await handle('GET_MCP_SERVER_DETAIL', { id: 'nobody' })).toEqual({ status: 404 });
    const at = { serverId: 'desk' };
    expect(await handle('LIST_MCP_SERVER_TOOLS', at)).toMatchObject({
      tools: TOOLS.map(tool => ({ name: tool })),
    });
    expect(await handle('GET_MCP_SERVER_TOOL_DETAIL', { ...at, toolId: 'add' })).toMatchObject({
      name: 'add',
    });
    expect(await handle('GET_MCP_SERVER_TOOL_DETAIL', { ...at, toolId: 'x' })).toEqual({ status: 404 });
    const data = { a: 1, b: 2 };
    expect(await handle('EXECUTE_MCP_SERVER_TOOL', { ...at, toolId: 'add', data })).toEqual({
      result: { sum: 3 },
    });
    expect(await handle('LIST_MCP_SERVER_RESOURCES', at)).toMatchObject({
      resources: [{ uri: 'doc://a' }, {}],
    });
    expect(await handle('READ_MCP_SERVER_RESOURCE', { ...at, uri: 'doc://a' })).toMatchObject({
      contents: [{ text: 'hello' }],
    });
    expect(await handle('READ_MCP_SERVER_RESOURCE', { ...at, uri: 'doc://x' })).toEqual({ status: 404 });
    expect(await handle('MCP_HTTP_TRANSPORT', at)).toEqual({ server, httpPath: '/mcp/desk/mcp' });
    expect(await handle('MCP_SSE_TRANSPORT', at)).toMatchObject({ ssePath: '/mcp/desk/sse' });
  });
});
