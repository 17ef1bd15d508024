/** Permissions end to end: an FGA provider in a Mastra instance, an MCPServer behind it, callers through every door. */
import { randomUUID } from 'node:crypto';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callByUrl } from '../server/call-harness.ts';
import type { Caller } from '../server/call-harness.ts';
import { FgaProvider } from '../support/fga-provider.ts';
import type { FgaQuestion } from '../support/fga-provider.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { serveHttp } from '../support/serve-http.ts';

interface User {
  readonly id: string;
  readonly branch: string;
}

const users: Readonly<Record<string, User>> = {
  ada: { id: 'ada', branch: 'north' },
  bob: { id: 'bob', branch: 'south' },
};

/** What a middleware found out about a token. */
const authInfoOf = (name: string) => ({
  token: `token-of-${name}`,
  clientId: 'bank-app',
  scopes: ['bank'],
  expiresAt: 4_102_444_800,
  extra: { userId: name, branch: users[name]?.branch ?? 'none' },
});

/** Grants in the names of the bank, and those that core needs for what runs inside an agent. */
const granted: Readonly<Record<string, readonly string[]>> = {
  ada: [
    'use bank-tool north/balance',
    'use bank-tool north/transfer',
    'use bank-tool north/ask_teller',
    'use bank-tool north/run_payroll',
    'agents:execute agent teller',
    'tools:execute tool teller:lookup',
    'workflows:execute workflow executionWorkflow',
  ],
  bob: ['use bank-tool south/balance'],
};
const isGranted = ({ user, permission, type, id }: FgaQuestion): boolean =>
  granted[(user as User).id]?.includes(`${permission} ${type} ${id}`) === true;

const mapped: Partial<MCPServerConfig> = {
  mapAuthInfoToUser: ({ authInfo }) => {
    const { userId, branch } = (authInfo as ReturnType<typeof authInfoOf>).extra;
    return userId === 'nobody' ? null : { id: userId, branch };
  },
  fga: {
    resourceMapping: {
      tool: {
        fgaResourceType: 'bank-tool',
        deriveId: ({ user, resourceId }) => {
          const [, tool] = JSON.parse(resourceId ?? '') as [string, string];
          return `${(user as User).branch}/${tool}`;
        },
      },
    },
    permissionMapping: { 'tools:execute': 'use' },
  },
};

const tellUser = (id: string) =>
  createTool({
    id,
    description: id,
    inputSchema: z.object({ amount: z.number().optional() }),
    execute: async (_input, { requestContext }) => {
      const user: User | undefined = requestContext.get('user');
      return `${id} for ${user?.id}`;
    },
  });

/** A bank with two tools, an agent that uses one of its own, and a workflow, in a Mastra instance with a provider. */
function openBank(
  isAllowed: (question: FgaQuestion) => boolean | Promise<boolean> = isGranted,
  more: Partial<MCPServerConfig> = mapped,
) {
  const { model } = scriptedModel([{ call: 'lookup', args: {} }, { text: 'looked up' }]);
  const teller = new Agent({
    id: 'teller',
    name: 'Teller',
    description: 'Knows accounts',
    instructions: 'Look it up',
    model,
    tools: { lookup: tellUser('lookup') },
  });
  const schema = z.object({ paid: z.string().optional() });
  const pay = createStep({
    id: 'pay',
    inputSchema: schema,
    outputSchema: schema,
    execute: async ({ requestContext }) => {
      const user: User | undefined = requestContext.get('user');
      return { paid: `by ${user?.id}` };
    },
  });
  const payroll = createWorkflow({
    id: 'payroll',
    description: 'Pays everybody',
    inputSchema: schema,
    outputSchema: schema,
  })
    .then(pay)
    .commit();
  const server = new MCPServer({
    id: 'bank',
    name: 'Bank',
    version: '1.0.0',
    // The keys differ from the ids that core would ask about.
    tools: { balance: tellUser('balance-tool'), transfer: tellUser('transfer-tool') },
    agents: { teller },
    workflows: { payroll: payroll as never },
    ...more,
  });
  const provider = new FgaProvider(isAllowed);
  const mastra = new Mastra({ mcpServers: { bank: server }, server: { fga: provider }, logger: false });
  const logged: string[] = [];
  const log = (level: string) => (message: string) => void logged.push(`${level}: ${message}`);
  const logger = { debug() {}, info() {}, warn: log('warn'), error: log('error') };
  server.__setLogger(logger as never);
  return { server, provider, mastra, logged };
}

/** A way in, for one caller. What is refused rejects. */
interface Door extends AsyncDisposable {
  names(): Promise<readonly string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<string>;
}

type OpenDoor = (server: MCPServer, name: string) => Promise<Door>;

function throughClient(caller: Caller, close: () => Promise<unknown>): Door {
  return {
    names: async () => (await caller.client.listTools()).tools.map(({ name }) => name),
    call: (name, args) => caller.text(name, args),
    async [Symbol.asyncDispose]() {
      await caller[Symbol.asyncDispose]();
      await close();
    },
  };
}

/** A middleware in front of `startHTTP` puts the caller on `req.auth`. */
const overHttp: OpenDoor = async (server, name) => {
  const host = await serveHttp(server, undefined, req => {
    const token = req.headers.authorization?.replace(/^Bearer token-of-/, '');
    if (token !== undefined) req.auth = authInfoOf(token);
  });
  const headers = { authorization: `Bearer token-of-${name}` };
  const caller = await callByUrl(host.url, { headers });
  return throughClient(caller, async () => host[Symbol.asyncDispose]());
};

const overFetch: OpenDoor = async (server, name) => {
  const caller = await callByFetch(server, { facts: { authInfo: authInfoOf(name) } });
  return throughClient(caller, async () => undefined);
};

/** The host names the user itself, as the REST routes do. */
const byHost: OpenDoor = async (server, name) => {
  const context = (): RequestContext => new RequestContext(users[name] ? [['user', users[name]]] : []);
  return {
    names: async () => (await server.getToolListInfo(context())).tools.map(tool => tool.name),
    call: async (tool, args = {}) => {
      const output: unknown = await server.executeTool(tool, args, { requestContext: context() });
      if (typeof output === 'string') return output;
      // Whole results of agents and workflows.
      const { text, paid } = output as { text?: string; paid?: string };
      return text ?? JSON.stringify({ paid });
    },
    async [Symbol.asyncDispose]() {},
  };
};

const doors: Readonly<Record<string, OpenDoor>> = {
  'startHTTP behind a middleware': overHttp,
  'fetch with authInfo': overFetch,
  'executeTool with a request context': byHost,
};
const wires = [overHttp, overFetch];

for (const [way, open] of Object.entries(doors)) {
  describe(`through ${way}`, () => {
    verifies(
      ['D11', 'S233', 'S140'],
      'each user is listed the tools they may call, and no others',
      async () => {
        const { server } = openBank();
        await using ada = await open(server, 'ada');
        await using bob = await open(server, 'bob');
        expect(await ada.names()).toEqual(['balance', 'transfer', 'ask_teller', 'run_payroll']);
        expect(await bob.names()).toEqual(['balance']);
        expect(await bob.call('balance')).toBe('balance-tool for bob');
        for (const name of ['transfer', 'ask_teller', 'run_payroll']) {
          await expect(bob.call(name, { message: 'hi' }), name).rejects.toThrow();
        }
        await server.close();
      },
    );

    verifies(
      ['D11', 'S140'],
      'a call is checked exactly once, in the names of this server, and core asks nothing after',
      async () => {
        const { server, provider } = openBank();
        await using ada = await open(server, 'ada');
        await ada.names();
        expect(provider.take().toSorted()).toEqual([
          'use bank-tool north/ask_teller',
          'use bank-tool north/balance',
          'use bank-tool north/run_payroll',
          'use bank-tool north/transfer',
        ]);
        await ada.call('balance');
        expect(provider.questions).toEqual([
          {
            user: users['ada'],
            permission: 'use',
            type: 'bank-tool',
            id: 'north/balance',
            context: {
              resourceId: '["bank","balance"]',
              requestContext: expect.any(RequestContext),
              metadata: { mcpServerId: 'bank', mcpServerName: 'Bank', toolId: 'balance' },
            },
          },
        ]);
        provider.take();
        expect(await ada.call('run_payroll')).toBe('{"paid":"by ada"}');
        expect(provider.take()).toEqual(['use bank-tool north/run_payroll']);
        await server.close();
      },
    );

    verifies(
      'S234',
      'what an agent does inside is checked by core in its own names, not in those of this server',
      async () => {
        const { server, provider } = openBank();
        await using ada = await open(server, 'ada');
        expect(await ada.call('ask_teller', { message: 'hi' })).toBe('looked up');
        const asked = provider.take();
        expect(asked.filter(question => question.includes('bank-tool'))).toEqual([
          'use bank-tool north/ask_teller',
        ]);
        expect(asked).toContain('agents:execute agent teller');
        expect(asked).toContain('tools:execute tool teller:lookup');
        await server.close();
      },
    );

    verifies(
      ['S233', 'S139'],
      'a caller without a user is listed nothing, may call nothing, and the provider is not asked',
      async () => {
        const { server, provider, logged } = openBank();
        await using nobody = await open(server, 'nobody');
        expect(await nobody.names()).toEqual([]);
        await expect(nobody.call('balance')).rejects.toThrow();
        expect(provider.questions).toEqual([]);
        expect(logged.filter(line => line.startsWith('warn'))).toEqual([
          expect.stringContaining('mapAuthInfoToUser'),
        ]);
        await server.close();
      },
    );

    verifies(
      'S233',
      'a provider that fails fails the list and the call; it is no denial and says nothing',
      async () => {
        // The last one is a provider that is itself not let in: nobody was denied anything.
        for (const failure of [
          new Error('fga.internal:5432'),
          Object.assign(new Error('key'), { status: 401 }),
        ]) {
          const { server } = openBank(() => Promise.reject(failure));
          await using ada = await open(server, 'ada');
          const errors = await Promise.all([ada.names(), ada.call('balance')].map(refusal));
          for (const error of errors) {
            if (open === byHost) expect(error).toBe(failure);
            else expect(error).toMatchObject({ code: -32603, message: 'MCP error -32603: Internal error' });
          }
          await server.close();
        }
      },
    );
  });
}

describe('on the wire', () => {
  /** The bytes of an answer, with the name of the tool taken out. */
  async function answerTo(server: MCPServer, user: string, name: string, args: object): Promise<string> {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    const response = await server.fetch(request, {
      authInfo: authInfoOf(user),
      options: { serverless: true },
    });
    const headers = [...response.headers].map(([key, value]) => `${key}: ${value}`);
    const body = (await response.text()).replaceAll(name, '<name>');
    return [response.status, ...headers, body].join('\n').replace(/content-length: \d+/, '');
  }

  verifies(
    ['D11', 'S233', 'S10'],
    'a denied tool cannot be told from one that does not exist, whatever the arguments',
    async () => {
      const { server } = openBank();
      const unknown = await answerTo(server, 'bob', 'nowhere', {});
      expect(unknown).toContain('{"code":-32602,"message":"Unknown tool: <name>"}');
      for (const denied of ['transfer', 'ask_teller', 'run_payroll']) {
        expect(await answerTo(server, 'bob', denied, {})).toBe(unknown);
        expect(await answerTo(server, 'bob', denied, { amount: 'no number' })).toBe(unknown);
      }
      expect(await answerTo(server, 'nobody', 'balance', {})).toBe(unknown);
    },
  );

  for (const open of wires) {
    const way = open === overHttp ? 'startHTTP' : 'fetch';
    verifies(
      'S139',
      `the user is mapped once per request, for a list and for a call, over ${way}`,
      async () => {
        const given: Parameters<NonNullable<MCPServerConfig['mapAuthInfoToUser']>>[0][] = [];
        const { server } = openBank(isGranted, {
          ...mapped,
          mapAuthInfoToUser: async args => {
            given.push(args);
            args.requestContext.set('branch', 'set by the mapper');
            return users['ada'];
          },
        });
        await using ada = await open(server, 'ada');
        await ada.names();
        expect(given).toHaveLength(1);
        expect(await ada.call('balance')).toBe('balance-tool for ada');
        expect(given).toHaveLength(2);
        for (const { authInfo, extra, requestContext } of given) {
          expect(authInfo).toEqual(authInfoOf('ada'));
          expect(extra['authInfo']).toBe(authInfo);
          for (const key of ['requestId', 'sessionId', 'signal', 'sendRequest', 'sendNotification']) {
            expect(extra[key], key).toBeDefined();
          }
          expect(requestContext.get('branch')).toBe('set by the mapper');
        }
        await server.close();
      },
    );

    verifies(
      'S139',
      `without a mapping the user is authInfo.extra.user, where adapters leave it, over ${way}`,
      async () => {
        const { server, provider } = openBank(() => true, {});
        const authInfo = { ...authInfoOf('ada'), extra: { user: { id: 'from-the-adapter' } } };
        await using host = await serveHttp(server, undefined, req => (req.auth = authInfo));
        await using caller =
          open === overHttp ? await callByUrl(host.url) : await callByFetch(server, { facts: { authInfo } });
        expect(await caller.text('balance')).toBe('balance-tool for from-the-adapter');
        expect(provider.questions).toMatchObject([
          {
            user: { id: 'from-the-adapter' },
            type: 'tool',
            id: '["bank","balance"]',
            permission: 'tools:execute',
          },
        ]);
        await server.close();
      },
    );

    verifies(
      'S139',
      `a mapping that throws makes nobody of the caller, and is reported, over ${way}`,
      async () => {
        const { server, provider, logged } = openBank(() => true, {
          ...mapped,
          mapAuthInfoToUser: () => {
            throw new Error('The directory is down');
          },
        });
        await using ada = await open(server, 'ada');
        expect(await ada.names()).toEqual([]);
        await expect(ada.call('balance')).rejects.toMatchObject({ code: -32602 });
        expect(provider.questions).toEqual([]);
        expect(logged.filter(line => line.includes('mapAuthInfoToUser failed'))).toHaveLength(2);
        await server.close();
      },
    );
  }

  verifies('S234', 'a mapping of one server does not reach another one', async () => {
    const provider = new FgaProvider(() => true);
    const tools = { balance: tellUser('balance-tool') };
    const [bank, shop] = ['bank', 'shop'].map(id => {
      const own = id === 'bank' ? mapped : {};
      return new MCPServer({ id, name: id, version: '1.0.0', tools, ...own });
    });
    if (bank === undefined || shop === undefined) throw new Error('There are two');
    new Mastra({ mcpServers: { bank, shop }, server: { fga: provider }, logger: false });
    const requestContext = new RequestContext([['user', users['ada']]]);
    await bank.executeTool('balance', {}, { requestContext });
    await shop.executeTool('balance', {}, { requestContext });
    expect(provider.take()).toEqual(['use bank-tool north/balance', 'tools:execute tool ["shop","balance"]']);
  });
});

describe('the host', () => {
  verifies(['D11', 'S181'], 'is told apart what was denied and what does not exist', async () => {
    const { server } = openBank();
    await using bob = await byHost(server, 'bob');
    for (const name of ['transfer', 'ask_teller', 'run_payroll']) {
      expect(await refusal(bob.call(name)), name).toMatchObject({
        code: 'MCP_SERVER_TOOL_EXECUTE_FAILED',
        details: { status: 403 },
        mayHaveExecuted: false,
      });
    }
    expect(await refusal(bob.call('nowhere'))).toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
      details: { status: 404 },
    });
  });
});

verifies(
  ['S231', 'S232'],
  'the whole object on req.auth is what a tool finds as authInfo, the very object over fetch',
  async () => {
    const seen: unknown[] = [];
    const look = createTool({
      id: 'look',
      description: 'Looks',
      execute: async (_input, { mcp }) => void seen.push(mcp?.extra.authInfo),
    });
    const server = new MCPServer({ name: 'Look', version: '1.0.0', tools: { look } });
    // More than the protocol's fields: nothing is picked out and nothing is lost.
    const authInfo = {
      ...authInfoOf('ada'),
      resource: new URL('https://bank.example/mcp'),
      custom: { deep: [1] },
    };
    await using host = await serveHttp(server, undefined, req => (req.auth = authInfo));
    await using overSocket = await callByUrl(host.url);
    await overSocket.call('look');
    await using inProcess = await callByFetch(server, { facts: { authInfo } });
    await inProcess.call('look');
    expect(seen).toHaveLength(2);
    for (const found of seen) expect(found).toBe(authInfo);
    await server.close();
  },
);

test('50 interleaved callers of one server never get each other’s permissions', async () => {
  const { server } = openBank(({ user, id }) => id === `${(user as User).branch}/balance`, mapped);
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const id = `${n}-${randomUUID()}`;
      const authInfo = { ...authInfoOf('ada'), extra: { userId: id, branch: `branch-${n}` } };
      await using caller = await callByFetch(server, { facts: { authInfo, options: { serverless: true } } });
      const { tools } = await caller.client.listTools();
      return [tools.map(({ name }) => name), await caller.text('balance'), id] as const;
    }),
  );
  for (const [names, text, id] of answers)
    expect([names, text]).toEqual([['balance'], `balance-tool for ${id}`]);
});

/** What a promise rejects with. */
async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    value => new Error(`Fulfilled with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}
