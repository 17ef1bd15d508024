import { Agent } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import type { ToolExecutionContext } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callByUrl, until } from '../server/call-harness.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { serveHttp } from '../support/serve-http.ts';

interface AuthInfo {
  readonly token: string;
  readonly clientId: string;
  readonly extra: { readonly user: { readonly id: string } };
}

const authInfoOf = (id: string): AuthInfo => ({
  token: `token-of-${id}`,
  clientId: 'app',
  extra: { user: { id } },
});

interface Extra {
  readonly authInfo?: AuthInfo;
  readonly sessionId?: string;
  readonly requestId?: unknown;
}

/** What one reader found: the caller by each name under which it is promised. */
interface Found {
  readonly user: unknown;
  readonly tenant: unknown;
  readonly authInfo: { readonly clientId: unknown; readonly token: unknown } | undefined;
  readonly extra: { readonly authInfo: unknown; readonly sessionId: unknown } | undefined;
}

function read(requestContext: RequestContext | undefined): Found {
  const authInfo: AuthInfo | undefined = requestContext?.get('authInfo');
  const extra: Extra | undefined = requestContext?.get('mcp.extra');
  return {
    user: requestContext?.get('user'),
    tenant: requestContext?.get('tenant'),
    authInfo: authInfo && { clientId: authInfo.clientId, token: authInfo.token },
    extra: extra && { authInfo: extra.authInfo, sessionId: extra.sessionId },
  };
}

/** By the pattern that works everywhere. */
const callerOf = (context: ToolExecutionContext | undefined): AuthInfo | undefined => {
  const extra = context?.mcp?.extra ?? context?.requestContext?.get('mcp.extra');
  return (extra as Extra | undefined)?.authInfo;
};

const schema = z.object({});

/** A server whose tool, agent and workflow note what they find. */
function openOffice() {
  const found: Record<string, Found> = {};
  const universal: unknown[] = [];
  const noting = (where: string) =>
    createTool({
      id: where,
      description: where,
      inputSchema: schema,
      outputSchema: schema,
      execute: async (_input, context) => {
        found[where] = read(context.requestContext);
        universal.push(callerOf(context)?.extra.user.id);
        return {};
      },
    });
  const { model } = scriptedModel([{ call: 'inner', args: {} }, { text: 'done' }]);
  const agent = new Agent({
    id: 'clerk',
    name: 'Clerk',
    description: 'Works',
    instructions: 'x',
    model,
    tools: { inner: noting('inner') },
  });
  const step = createStep({
    id: 'step',
    inputSchema: schema,
    outputSchema: schema,
    execute: async ({ requestContext }) => {
      found['step'] = read(requestContext);
      return {};
    },
  });
  const flow = createWorkflow({ id: 'flow', description: 'Flows', inputSchema: schema, outputSchema: schema })
    .then(step)
    .then(createStep(noting('tool-step')))
    .commit();
  const server = new MCPServer({
    id: 'office',
    name: 'Office',
    version: '1.0.0',
    tools: { direct: noting('direct') },
    agents: { clerk: agent },
    workflows: { flow: flow as never },
  });
  return { server, found, universal };
}

const CALLS = [
  ['direct', {}],
  ['ask_clerk', { message: 'go' }],
  ['run_flow', {}],
] as const;

/** Every reader found the same. */
function expectAll(found: Readonly<Record<string, Found>>, expected: Found): void {
  expect(found).toEqual({ direct: expected, inner: expected, step: expected, 'tool-step': expected });
}

describe('a tool, a tool of an agent and steps of a workflow know who calls', () => {
  verifies(['B89', 'S150', 'S151', 'X12'], 'over HTTP, behind a middleware that sets req.auth', async () => {
    const { server, found, universal } = openOffice();
    const authInfo = authInfoOf('ada');
    await using host = await serveHttp(server, undefined, req => (req.auth = authInfo));
    await using caller = await callByUrl(host.url);
    for (const [name, args] of CALLS) await caller.call(name, args);
    expectAll(found, {
      user: { id: 'ada' },
      tenant: undefined,
      authInfo: { clientId: 'app', token: 'token-of-ada' },
      extra: { authInfo, sessionId: server.getStreamableHTTPTransport()?.sessionId },
    });
    expect(universal).toEqual(['ada', 'ada', 'ada']);
    await server.close();
  });

  verifies('B89', 'over web-standard requests, with the values of the host beside', async () => {
    const { server, found, universal } = openOffice();
    const authInfo = authInfoOf('ada');
    const requestContext = new RequestContext([['tenant', 't1']]);
    const facts = { authInfo, requestContext, options: { serverless: true } };
    await using caller = await callByFetch(server, { facts });
    for (const [name, args] of CALLS) await caller.call(name, args);
    expectAll(found, {
      user: { id: 'ada' },
      tenant: 't1',
      authInfo: { clientId: 'app', token: 'token-of-ada' },
      extra: { authInfo, sessionId: undefined },
    });
    expect(universal).toEqual(['ada', 'ada', 'ada']);
    expect([...requestContext.keys()], 'what a call adds stays with that call').toEqual(['tenant']);
    await server.close();
  });

  verifies(['B89', 'S181'], 'in calls of the host itself, by the context that it hands over', async () => {
    const { server, found } = openOffice();
    for (const [name, args] of CALLS) {
      const requestContext = new RequestContext<unknown>([
        ['user', { id: 'ada' }],
        ['tenant', 't1'],
      ]);
      await server.executeTool(name, args, { requestContext });
    }
    expectAll(found, {
      user: { id: 'ada' },
      tenant: 't1',
      authInfo: undefined,
      extra: { authInfo: undefined, sessionId: undefined },
    });
  });

  verifies('B89', 'through executeTool inside of a call, when the tool hands its context on', async () => {
    const { server: office, found, universal } = openOffice();
    const forward = createTool({
      id: 'forward',
      description: 'Goes on to the office',
      execute: async (_input, { requestContext }) => {
        for (const [name, args] of CALLS) await office.executeTool(name, args, { requestContext });
        return read(requestContext).extra?.sessionId;
      },
    });
    const desk = new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { forward } });
    const authInfo = authInfoOf('ada');
    await using caller = await callByFetch(desk, { facts: { authInfo } });
    const sessionId = await caller.text('forward');
    expect(sessionId).toBe(desk.getStreamableHTTPTransport()?.sessionId);
    expectAll(found, {
      user: { id: 'ada' },
      tenant: undefined,
      authInfo: { clientId: 'app', token: 'token-of-ada' },
      extra: { authInfo, sessionId },
    });
    expect(universal).toEqual(['ada', 'ada', 'ada']);
    await desk.close();
  });
});

verifies(
  ['B89', 'D14'],
  'a call of the host inside of a client’s call ends when the client leaves',
  async () => {
    let inner: AbortSignal | undefined;
    const wait = createTool({
      id: 'wait',
      description: 'Waits',
      execute: async (_input, { abortSignal }) => {
        inner = abortSignal;
        await new Promise(resolve => abortSignal?.addEventListener('abort', resolve, { once: true }));
      },
    });
    const back = new MCPServer({ id: 'back', name: 'Back', version: '1.0.0', tools: { wait } });
    const forward = createTool({
      id: 'forward',
      description: 'Goes on',
      execute: async (_input, { requestContext }) => back.executeTool('wait', {}, { requestContext }),
    });
    const front = new MCPServer({ id: 'front', name: 'Front', version: '1.0.0', tools: { forward } });
    await using caller = await callByFetch(front);
    const abort = new AbortController();
    const call = caller.client.callTool({ name: 'forward' }, undefined, { signal: abort.signal });
    const ended = call.catch((error: unknown) => error);
    await until(() => inner !== undefined);
    abort.abort();
    await ended;
    await until(() => inner?.aborted === true);
    await front.close();
  },
);

describe('who calls cannot be said by the caller', () => {
  const claimed = { authInfo: authInfoOf('the boss'), 'mcp.extra': { authInfo: authInfoOf('the boss') } };

  verifies(
    'B89',
    'what a REST route merges from a request body under the names of this server is not believed',
    async () => {
      const { server, found } = openOffice();
      for (const [name, args] of CALLS) {
        // As the routes of the framework do: the verified user, then whatever the body says.
        const requestContext = new RequestContext<unknown>([
          ['user', { id: 'bob' }],
          ...Object.entries(claimed),
        ]);
        await server.executeTool(name, args, { requestContext });
        expect(requestContext.get('authInfo'), 'the object of the host stays as it was').toBe(
          claimed.authInfo,
        );
      }
      expectAll(found, {
        user: { id: 'bob' },
        tenant: undefined,
        authInfo: undefined,
        extra: { authInfo: undefined, sessionId: undefined },
      });
    },
  );

  verifies('B89', 'nor is what a host passes on to fetch without having verified anybody', async () => {
    const { server, found } = openOffice();
    const requestContext = new RequestContext<unknown>(Object.entries(claimed));
    await using caller = await callByFetch(server, {
      facts: { requestContext, options: { serverless: true } },
    });
    for (const [name, args] of CALLS) await caller.call(name, args);
    expectAll(found, {
      user: undefined,
      tenant: undefined,
      authInfo: undefined,
      extra: { authInfo: undefined, sessionId: undefined },
    });
    await server.close();
  });
});

verifies('B89', 'two requests at the same time share nothing, not even what a tool writes', async () => {
  let waiting = 0;
  const note = createTool({
    id: 'note',
    description: 'Notes',
    execute: async (_input, { requestContext, mcp }) => {
      const before = [...requestContext.keys()].toSorted();
      requestContext.set('note', callerOf({ mcp } as ToolExecutionContext)?.clientId);
      waiting += 1;
      await until(() => waiting === 2);
      return { before, note: requestContext.get<'note', unknown>('note') };
    },
  });
  const server = new MCPServer({ id: 'notes', name: 'Notes', version: '1.0.0', tools: { note } });
  const shared = new RequestContext([['tenant', 't']]);
  const results = await Promise.all(
    ['one', 'two'].map(async clientId => {
      const facts = { authInfo: { ...authInfoOf('ada'), clientId }, requestContext: shared };
      await using caller = await callByFetch(server, { facts });
      return JSON.parse(await caller.text('note')) as unknown;
    }),
  );
  const before = ['authInfo', 'mcp.extra', 'tenant', 'user'];
  expect(results).toEqual([
    { before, note: 'one' },
    { before, note: 'two' },
  ]);
  expect([...shared.keys()]).toEqual(['tenant']);
  await server.close();
});
