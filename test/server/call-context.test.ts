import { Agent } from '@mastra/core/agent';
import type { ToolsInput } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import type { ToolExecutionContext } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { startHttp } from '../support/http-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';

type Seen = ToolExecutionContext & { readonly requestContext: RequestContext };

/** A tool that hands its context to the test. */
function spy(run: (context: Seen) => unknown) {
  return createTool({
    id: 'spy',
    description: 'Spies',
    execute: async (_input, context) => run(context as Seen),
  });
}

const serverOf = (tools: ToolsInput, more: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ name: 'srv', version: '1.0.0', tools, ...more });

function tenantContext(tenant: string): RequestContext {
  const context = new RequestContext();
  context.set('tenant', tenant);
  return context;
}

const authInfo = { token: 'secret-token', clientId: 'c1', scopes: ['a'], extra: { subject: 'u1' } };

describe('context.mcp.extra', () => {
  verifies(['S149', 'S152'], 'has the names of 1.x beside the shape of newer SDKs', async () => {
    let seen: Seen['mcp'];
    const server = serverOf({ spy: spy(({ mcp }) => void (seen = mcp)) });
    await using caller = await callByFetch(server, { facts: { authInfo } });
    await caller.client.callTool({ name: 'spy', _meta: { 'example.com/k': 1 } });
    const extra = seen?.extra;
    expect(extra).toMatchObject({
      sessionId: expect.any(String),
      authInfo,
      requestId: expect.any(Number),
      _meta: { 'example.com/k': 1 },
      mcpReq: { id: extra?.requestId, method: 'tools/call', _meta: { 'example.com/k': 1 } },
      http: { authInfo },
    });
    expect(extra?.signal).toBeInstanceOf(AbortSignal);
    expect(extra?.mcpReq.signal).toBe(extra?.signal);
    expect(extra?.http).toMatchObject({ req: expect.any(Request) });
    for (const name of ['sendNotification', 'sendRequest'] as const)
      expect(extra?.[name]).toBeTypeOf('function');
    await server.close();
  });

  verifies('S152', 'has no http where there is none', async () => {
    let seen: Seen['mcp'];
    await using caller = await callInMemory(serverOf({ spy: spy(({ mcp }) => void (seen = mcp)) }));
    await caller.call('spy');
    expect(seen?.extra.http).toBeUndefined();
    expect(seen?.extra.sessionId).toBeUndefined();
  });

  verifies(['S152', 'S236'], 'aborts its signal when the client cancels', async () => {
    let signal: AbortSignal | undefined;
    const wait = spy(async ({ mcp, abortSignal }) => {
      signal = mcp?.extra.signal;
      expect(abortSignal).toBe(signal);
      await new Promise(resolve => signal?.addEventListener('abort', resolve));
    });
    await using caller = await callInMemory(serverOf({ wait }));
    const controller = new AbortController();
    const call = caller.client.callTool({ name: 'wait' }, undefined, { signal: controller.signal });
    const settled = call.catch((error: unknown) => error);
    await until(() => signal !== undefined);
    controller.abort();
    await settled;
    await until(() => signal?.aborted === true);
  });

  verifies('S236', 'has a signal that stops a fetch of the tool when the client cancels', async () => {
    let open = 0;
    let dropped = 0;
    await using slow = await startHttp((_request, response) => {
      open += 1;
      response.on('close', () => (dropped += 1));
    });
    const reasons: unknown[] = [];
    const fetches = spy(({ mcp }) =>
      fetch(slow.origin, { signal: mcp?.extra.signal ?? null }).catch((error: unknown) =>
        reasons.push(error),
      ),
    );
    await using caller = await callInMemory(serverOf({ fetches }));
    const controller = new AbortController();
    const call = caller.client.callTool({ name: 'fetches' }, undefined, { signal: controller.signal });
    const settled = call.catch((error: unknown) => error);
    await until(() => open === 1);
    controller.abort();
    await settled;
    await until(() => dropped === 1 && reasons.length === 1);
  });

  verifies('S152', 'sends raw notifications and requests, in both spellings', async () => {
    const got: unknown[] = [];
    const raw = spy(async ({ mcp }) => {
      type Send = (...args: readonly unknown[]) => Promise<unknown>;
      const extra = mcp?.extra as unknown as Record<'sendRequest' | 'sendNotification', Send> & {
        readonly mcpReq: { readonly send: Send };
      };
      await extra.sendNotification({
        method: 'notifications/message',
        params: { level: 'info', data: 'raw' },
      });
      const list = { method: 'roots/list' };
      got.push(await extra.sendRequest(list, ListRootsResultSchema, { timeout: 1000 }));
      got.push(await extra.mcpReq.send(list, { timeout: 1000 }));
      await expect(extra.sendRequest(list, z.object({ nope: z.string() }))).rejects.toMatchObject({
        code: 'MCP_SERVER_PARAMS_INVALID',
      });
      await expect(extra.sendRequest({ method: 'sampling/createMessage' })).rejects.toMatchObject({
        code: 'MCP_SERVER_CLIENT_CAPABILITY_MISSING',
      });
      return 'done';
    });
    const logged: unknown[] = [];
    await using caller = await callInMemory(serverOf({ raw }), {
      roots: ['file:///tmp'],
      onNotification: (method, params) => logged.push([method, params]),
    });
    expect(await caller.text('raw')).toBe('done');
    expect(logged).toEqual([['notifications/message', { level: 'info', data: 'raw' }]]);
    expect(got).toEqual([{ roots: [{ uri: 'file:///tmp' }] }, { roots: [{ uri: 'file:///tmp' }] }]);
  });
});

describe('the RequestContext of a call', () => {
  verifies(
    ['S150', 'S151', 'X12'],
    'is the same for a tool, an agent’s tool and a workflow step (B89)',
    async () => {
      const seen: Record<string, Record<string, unknown>> = {};
      const note = (
        where: string,
        { requestContext, mcp }: { requestContext: RequestContext; mcp?: Seen['mcp'] | undefined },
      ): void => {
        const extra: { authInfo?: unknown; signal?: unknown } | undefined = requestContext.get('mcp.extra');
        const auth: typeof authInfo = requestContext.get('authInfo');
        seen[where] = {
          user: requestContext.get('user'),
          tenant: requestContext.get('tenant'),
          authInfo: auth.token,
          extra: extra?.authInfo,
          signal: extra?.signal instanceof AbortSignal,
          mcp: where === 'step' || mcp?.extra.authInfo === extra?.authInfo,
        };
      };
      const direct = spy(context => note('direct', context));
      const inner = createTool({
        id: 'inner',
        description: 'I',
        execute: async (_i, c) => note('agent', c as Seen),
      });
      const { model } = scriptedModel([{ call: 'inner', args: {} }, { text: 'ok' }]);
      const agent = new Agent({
        id: 'ag',
        name: 'Ag',
        description: 'd',
        instructions: 'x',
        model,
        tools: { inner },
      });
      const step = createStep({
        id: 'step',
        inputSchema: z.object({}),
        outputSchema: z.object({}),
        execute: async ({ requestContext }) => {
          note('step', { requestContext: requestContext, mcp: undefined });
          return {};
        },
      });
      const workflow = createWorkflow({
        id: 'wf',
        description: 'd',
        inputSchema: z.object({}),
        outputSchema: z.object({}),
      })
        .then(step)
        .commit();
      const server = serverOf({ direct }, { agents: { ag: agent }, workflows: { wf: workflow as never } });
      const requestContext = new RequestContext();
      requestContext.set('tenant', 't1');
      const facts = {
        authInfo: { ...authInfo, extra: { ...authInfo.extra, user: { id: 'u1' } } },
        requestContext,
      };
      await using caller = await callByFetch(server, { facts });
      await caller.call('direct');
      await caller.call('ask_ag', { message: 'hi' });
      await caller.call('run_wf');
      const expected = {
        user: { id: 'u1' },
        tenant: 't1',
        authInfo: 'secret-token',
        extra: facts.authInfo,
        signal: true,
        mcp: true,
      };
      expect(seen).toEqual({ direct: expected, agent: expected, step: expected });
      // What a call writes stays with that call.
      expect([...requestContext.keys()]).toEqual(['tenant']);
      await server.close();
    },
  );

  test('never mixes parallel calls (B89)', async () => {
    const server = serverOf({
      spy: createTool({
        id: 'spy',
        description: 'S',
        inputSchema: z.object({ n: z.number() }),
        execute: async ({ n }, { requestContext, mcp }) => {
          await new Promise(resolve => setImmediate(resolve));
          const extra: { requestId: unknown } = requestContext.get('mcp.extra');
          return { n, tenant: requestContext.get('tenant'), same: extra.requestId === mcp?.extra.requestId };
        },
      }),
    });
    const body = (n: number) => ({
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'spy', arguments: { n } },
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const request = new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          body: JSON.stringify(body(n)),
        });
        const facts = {
          requestContext: tenantContext(`t${n}`),
          options: { serverless: true },
        };
        return (await (await server.fetch(request, facts)).json()) as {
          result: { structuredContent: unknown };
        };
      }),
    );
    expect(answers.map(({ result }) => result.structuredContent)).toEqual(
      answers.map((_, n) => ({ n, tenant: `t${n}`, same: true })),
    );
  });

  test('does not carry the token into what is stored or printed (M6)', async () => {
    const step = createStep({
      id: 'step',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
      resumeSchema: z.object({ ok: z.boolean() }),
      execute: async ({ suspend }) => suspend({}),
    });
    const workflow = createWorkflow({
      id: 'wf',
      description: 'd',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
    })
      .then(step)
      .commit();
    const server = serverOf({}, { workflows: { wf: workflow as never } });
    const storage = new InMemoryStore();
    new Mastra({ mcpServers: { server }, storage, logger: false });
    await using caller = await callByFetch(server, { facts: { authInfo } });
    const result = await caller.call('run_wf');
    const runs = await workflow.listWorkflowRuns();
    expect(runs.total).toBe(1);
    expect(JSON.stringify(runs)).not.toContain('secret-token');
    expect(JSON.stringify(result)).not.toContain('secret-token');
    await server.close();
  });
});

describe('log and progress', () => {
  verifies('S154', 'send log messages to the caller, under the server’s name', async () => {
    const logged: unknown[] = [];
    const log = spy(async ({ mcp }) => {
      await mcp?.log?.('warning', 'careful', { step: 1 });
      return 'ok';
    });
    await using caller = await callInMemory(serverOf({ log }), {
      onNotification: (method, params) => logged.push([method, params]),
    });
    await caller.call('log');
    expect(logged).toEqual([
      ['notifications/message', { level: 'warning', logger: 'srv', data: { message: 'careful', step: 1 } }],
    ]);
  });

  verifies(
    ['S205', 'S206'],
    'drop log messages below the level of the caller’s session, in the order of RFC 5424',
    async () => {
      const log = spy(async ({ mcp }) => {
        for (const level of [
          'debug',
          'info',
          'notice',
          'warning',
          'error',
          'critical',
          'alert',
          'emergency',
        ] as const)
          await mcp?.log?.(level, level);
      });
      const server = serverOf({ log });
      const levels: string[] = [];
      await using quiet = await callInMemory(server, {
        onNotification: (_, params) => levels.push(String(params['level'])),
      });
      let other = 0;
      await using open = await callInMemory(server, { onNotification: () => (other += 1) });
      await quiet.client.setLoggingLevel('error');
      await quiet.call('log');
      expect(levels).toEqual(['error', 'critical', 'alert', 'emergency']);
      await open.call('log');
      expect(other).toBe(8);
    },
  );

  verifies(
    ['S155', 'S211'],
    'send progress only with a token, never backwards, and not after the end',
    async () => {
      let late: (() => Promise<void>) | undefined;
      const work = spy(async ({ mcp }) => {
        for (const progress of [1, 2, 2, 1, 3])
          await mcp?.progress?.({ progress, total: 3, message: `at ${progress}` });
        late = () => mcp?.progress?.({ progress: 4 }) ?? Promise.resolve();
        return 'ok';
      });
      const raw: unknown[] = [];
      await using caller = await callInMemory(serverOf({ work }), {
        onNotification: (method, params) => raw.push([method, params]),
      });
      const updates: unknown[] = [];
      await caller.client.callTool({ name: 'work' }, undefined, {
        onprogress: update => updates.push(update),
      });
      await late?.();
      await caller.client.ping();
      expect(updates).toEqual([1, 2, 3].map(progress => ({ progress, total: 3, message: `at ${progress}` })));
      await caller.call('work');
      expect(raw).toEqual([]);
      expect(updates).toHaveLength(3);
    },
  );

  verifies(['S165', 'S210'], 'do nothing where the caller gets one buffered answer', async () => {
    const log = spy(async ({ mcp }) => {
      await mcp?.log?.('error', 'x');
      await mcp?.progress?.({ progress: 1 });
      return 'ok';
    });
    const raw: unknown[] = [];
    await using caller = await callByFetch(serverOf({ log }), {
      facts: { options: { serverless: true } },
      onNotification: (...args) => raw.push(args),
    });
    expect(await caller.text('log')).toBe('ok');
    expect(raw).toEqual([]);
  });
});
