/** Servers whose names, schemas, instructions, arguments and results are meant to harm. */
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { describe, expect } from 'vitest';
import { MCPClient, type RemoteTool } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { serverProgram } from '../support/node-program.ts';
import { callsOf, rawServer, rawTool, type RawTool } from '../support/raw-server.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { scriptedModel, type Turn } from '../support/scripted-model.ts';
import { startScripted } from '../support/scripted-server.ts';

const HOSTILE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__'];

/** An object as `JSON.parse` makes it, whose key `__proto__` is its own. */
const polluting = (): Record<string, unknown> =>
  JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":[{"__proto__":{"polluted":1}}]}',
  );

function expectClean(): void {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
}

describe('names', () => {
  verifies(
    ['T1', 'D05'],
    'that meet keep both tools; the first configured server has the plain name, however slow it is',
    async () => {
      const slow =
        serverProgram(`tools = [tool('b_c')]; list = ({ id }) => setTimeout(() => answer(id, { tools }), 500);
        call = ({ id }) => answer(id, text('from a'));`);
      const fast = serverProgram(`tools = [tool('c')]; call = ({ id }) => answer(id, text('from a_b'));`);
      await using client = openClient({ a: slow, a_b: fast });
      const { logger, lines } = recordingLogger();
      client.__setLogger(logger);
      for (let listing = 0; listing < 2; listing += 1) {
        const { tools, errors, errorDetails } = await client.listToolsWithErrors();
        const [plain = '', hashed = '', ...rest] = Object.keys(tools);
        expect([plain, rest]).toEqual(['a_b_c', []]);
        expect(hashed).toMatch(/^a_b_c_[a-z0-9]{7}$/);
        expect(textOf(await tools[plain]?.execute({}))).toBe('from a');
        expect(textOf(await tools[hashed]?.execute({}))).toBe('from a_b');
        expect(errors).toEqual({});
        expect(errorDetails['a_b']?.tools).toMatchObject([
          { toolName: 'c', kind: 'collision', reason: expect.stringContaining('"b_c" of server "a"') },
        ]);
      }
      expect(lines.filter(line => line.startsWith('warn') && line.includes(`tool "c"`))).toHaveLength(1);
    },
  );

  verifies(
    ['T2', 'D05'],
    'of members of Object are names like others, in every map a client gives',
    async () => {
      const tools = HOSTILE_NAMES.map(name =>
        rawTool(name, { result: { content: [{ type: 'text', text: name }] } }),
      );
      await using client = openClient({
        shop: rawServer({ tools }),
        constructor: rawServer({ tools: [rawTool('only')] }),
      });
      const listed = await client.listTools();
      const toolsets = await client.listToolsets();
      const definitions = await client.listToolDefinitions();
      const rebuilt = client.toolsFromDefinitions({
        definitions: JSON.parse(JSON.stringify(definitions)) as typeof definitions,
      });
      for (const map of [listed, toolsets, toolsets['shop'], definitions, definitions['shop'], rebuilt]) {
        expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
      }
      expect(Object.keys(toolsets)).toEqual(['shop', 'constructor']);
      expect(Object.keys(toolsets['shop'] ?? {}).slice(0, -1)).toEqual(HOSTILE_NAMES);
      expect(Object.keys(definitions['shop'] ?? {}).slice(0, -1)).toEqual(HOSTILE_NAMES);
      for (const name of HOSTILE_NAMES) {
        const own = Object.getOwnPropertyDescriptor(toolsets['shop'], name)?.value as RemoteTool;
        expect(textOf(await own.execute({}))).toBe(name);
        expect(textOf(await listed[`shop_${name}`]?.execute({}))).toBe(name);
        expect(textOf(await rebuilt[`shop_${name}`]?.execute({}))).toBe(name);
      }
      expect(Object.keys(listed)).toContain('constructor_only');
      expect(client.getServerStatus()['constructor']).toMatchObject({ state: 'ready' });
      expectClean();
    },
  );

  verifies(
    'T2',
    'of prompts and resources may be such as well; a server may not be called __proto__',
    async () => {
      await using server = await startScripted({
        answers: {
          'prompts/list': () => ({ prompts: HOSTILE_NAMES.map(name => ({ name })) }),
          'prompts/get': ({ name }) => ({
            messages: [{ role: 'user', content: { type: 'text', text: name } }],
          }),
          'resources/list': () => ({ resources: HOSTILE_NAMES.map(name => ({ name, uri: name })) }),
          'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'read' }] }),
        },
      });
      await using client = openClient({ toString: { url: server.url, openEventStream: false } });
      const prompts = await client.prompts.list();
      const resources = await client.resources.list();
      for (const map of [prompts, resources]) expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
      expect(prompts['toString']?.map(({ name }) => name)).toEqual(HOSTILE_NAMES);
      expect(resources['toString']?.map(({ uri }) => uri)).toEqual(HOSTILE_NAMES);
      const args = JSON.parse('{"__proto__":"own"}') as Record<string, string>;
      expect(await client.prompts.get({ serverName: 'toString', name: '__proto__', args })).toMatchObject({
        messages: [{ content: { text: '__proto__' } }],
      });
      expect(JSON.stringify(server.received('prompts/get'))).toContain('"arguments":{"__proto__":"own"}');
      expect(await client.resources.read('toString', '__proto__')).toMatchObject({
        contents: [{ text: 'read' }],
      });
      const servers = JSON.parse('{"__proto__":{"command":"x"}}') as Record<string, { command: string }>;
      expect(() => new MCPClient({ servers })).toThrow(/__proto__/);
      expectClean();
    },
  );
});

describe('arguments and results', () => {
  verifies('T3', 'with a key __proto__ pass both ways as they are, and change no prototype', async () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'array' } } };
    await using client = openClient({
      shop: serverProgram(`
        tools = [tool('echo'), { ...tool('typed'), outputSchema: ${JSON.stringify(outputSchema)} }];
        // As text, so that nothing on the way out touches it.
        call = ({ id, params }) => {
          const sent = JSON.stringify(params.arguments);
          const block = '{"type":"text","text":' + JSON.stringify(sent) + ',"__proto__":{"polluted":1}}';
          process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[' + block + '],' +
            '"structuredContent":' + sent + ',"_meta":' + sent + ',"__proto__":{"polluted":1}}}\\n');
        };`),
    });
    const sent = JSON.stringify(polluting());
    // Through our own door nothing is touched.
    const proxy = client.toMCPServerProxies()['shop'];
    const result = await proxy?.executeTool('echo', polluting());
    expect(textOf(result)).toBe(sent);
    expect(JSON.stringify(result?.structuredContent)).toBe(sent);
    for (const one of [result, result?._meta, result?.structuredContent, result?.content[0]]) {
      expect(Object.getPrototypeOf(one)).toBe(Object.prototype);
    }
    // On the way through a Tool core drops the key, and only that.
    const echo = await executeOf(client, 'shop_echo');
    const echoed = textOf(await echo(polluting()));
    expect(JSON.parse(echoed)).toMatchObject({ constructor: { prototype: { polluted: 1 } }, a: [{}] });
    expectClean();
    const typed = (await (await executeOf(client, 'shop_typed'))(polluting())) as Record<string, unknown>;
    expect(JSON.stringify(typed)).toBe(echoed);
    expect(typed['polluted']).toBeUndefined();
    expectClean();
  });

  for (const [what, make] of [
    ['a BigInt', () => ({ count: 10n })],
    [
      'a cycle',
      () => {
        const cycle: Record<string, unknown> = { secret: 'of-the-user' };
        cycle['self'] = cycle;
        return cycle;
      },
    ],
  ] as const) {
    verifies('D04', `with ${what} fail as what they are, over every transport; nothing is sent`, async () => {
      await using http = await startScripted();
      await using client = openClient({
        child: rawServer({ tools: [rawTool('echo')] }),
        web: { url: http.url, openEventStream: false },
      });
      const tools = await client.listTools();
      for (const serverName of ['child', 'web']) {
        const error: unknown = await tools[`${serverName}_echo`]
          ?.execute(make())
          .catch((reason: unknown) => reason);
        expect(error).toMatchObject({
          code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
          toolName: 'echo',
          serverName,
          mayHaveExecuted: false,
          message: expect.stringMatching(/"echo" of server ".*" was not called: .* JSON/),
        });
        expect((error as Error).message).not.toContain('of-the-user');
        // The connection is as good as before.
        expect(client.getServerStatus()[serverName]?.state).toBe('ready');
        await tools[`${serverName}_echo`]?.execute({});
      }
      expect((await callsOf(tools['child___calls'] ?? {})).calls).toHaveLength(1);
      expect(http.received('tools/call')).toHaveLength(1);
      expect(http.count('POST', 'initialize')).toBe(1);
    });
  }
});

verifies('D04', 'a request of any kind that is no JSON fails as that, and costs no connection', async () => {
  await using http = await startScripted();
  await using legacy = await startLegacySse();
  await using client = openClient({
    child: serverProgram(),
    web: { url: http.url, openEventStream: false },
    old: { url: `${legacy.origin}/sse`, transport: 'sse' },
  });
  for (const serverName of ['child', 'web', 'old']) {
    await client.ping(serverName);
    const asked = {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'count', value: 10n as never },
    } as const;
    expect(await rejection(client.completions.complete({ serverName, ...asked }))).toMatchObject({
      code: 'MCP_CLIENT_REQUEST_FAILED',
      method: 'completion/complete',
      serverName,
      mayHaveExecuted: false,
    });
    expect(client.getServerStatus()[serverName]?.state).toBe('ready');
    await client.ping(serverName);
  }
  expect([http.count('POST', 'initialize'), legacy.count('POST', 'initialize')]).toEqual([1, 1]);
  const sent = [http, legacy].map(server => server.count('POST', 'completion/complete'));
  expect(sent).toEqual([0, 0]);
});

function agentWith(turns: readonly Turn[], tools: Record<string, RemoteTool>) {
  const scripted = scriptedModel(turns);
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'BASE', model: scripted.model, tools });
  const mastra = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  return { agent: mastra.getAgent('agent'), ...scripted };
}

verifies(
  ['T5', 'S051', 'S065'],
  '10 KB of instructions stay out of the prompt by default, and give it 512 characters where asked for',
  async () => {
    const instructions = `OBEY${'!'.repeat(10_236)}`;
    const server = { instructions, tools: [rawTool('t')] };
    await using client = openClient({
      quiet: rawServer(server),
      loud: rawServer(server, { forwardInstructions: true }),
    });
    const promptOf = async (prefix: string): Promise<string> => {
      const all = Object.entries(await client.listTools());
      const tools = Object.fromEntries(all.filter(([name]) => name.startsWith(prefix)));
      const { agent, prompts } = agentWith([{ text: 'ok' }], tools);
      await agent.generate('hi');
      return JSON.stringify(prompts);
    };
    expect(await promptOf('quiet_')).not.toContain('OBEY');
    const loud = await promptOf('loud_');
    expect(loud.match(/OBEY!*/g)).toEqual([`OBEY${'!'.repeat(508)}`]);
    // Where it comes from is said.
    expect(loud).toContain('MCP server \\"loud\\"');
  },
);

describe('approval', () => {
  const wipe: readonly Turn[] = [{ call: 'disk_wipe', args: {}, id: 'c1' }, { text: 'done' }];
  const tools: readonly RawTool[] = [
    rawTool('wipe', { definition: { annotations: { destructiveHint: false } } }),
  ];
  const wipes = async (client: MCPClient): Promise<number> =>
    (await callsOf((await client.listTools())['disk___calls'] ?? {})).calls.length;

  verifies(
    ['T6', 'S052'],
    'outlives a reconnect, a new listing and tools rebuilt from definitions',
    async () => {
      const servers = { disk: rawServer({ tools }, { requireToolApproval: true }) };
      await using client = openClient(servers);
      const definitions = await client.listToolDefinitions();
      const first = await client.listTools();
      await using other = openClient(servers);
      const stages: Record<string, () => Promise<Record<string, RemoteTool>>> = {
        'as listed': async () => first,
        'after a reconnect': async () => (await client.reconnectServer('disk'), first),
        'after a disconnect': async () => (await client.disconnect('disk'), first),
        'listed anew': async () => await client.listTools(),
        rebuilt: async () =>
          client.toolsFromDefinitions({
            definitions: JSON.parse(JSON.stringify(definitions)) as typeof definitions,
          }),
        'rebuilt elsewhere': async () => other.toolsFromDefinitions({ definitions }),
      };
      for (const [stage, give] of Object.entries(stages)) {
        const { agent } = agentWith(wipe, await give());
        const result = await agent.generate('go');
        expect([stage, result.finishReason]).toEqual([stage, 'suspended']);
      }
      expect([await wipes(client), await wipes(other)]).toEqual([0, 0]);
    },
  );

  verifies(['T6', 'S062'], 'is needed where the function that decides throws or rejects', async () => {
    for (const requireToolApproval of [
      () => {
        throw new Error('policy down');
      },
      () => Promise.reject(new Error('policy down')),
    ]) {
      await using client = openClient({ disk: rawServer({ tools }, { requireToolApproval }) });
      const { agent } = agentWith(wipe, await client.listTools());
      expect((await agent.generate('go')).finishReason).toBe('suspended');
      expect(await wipes(client)).toBe(0);
    }
  });

  verifies('T7', 'is needed whatever hints the server gives about its tool', async () => {
    const annotations = {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    };
    await using client = openClient({
      disk: rawServer(
        { tools: [rawTool('wipe', { definition: { annotations } })] },
        { requireToolApproval: true },
      ),
    });
    const { agent } = agentWith(wipe, await client.listTools());
    expect((await agent.generate('go')).finishReason).toBe('suspended');
    expect(await wipes(client)).toBe(0);
  });
});

describe('schemas', () => {
  /** Milliseconds of work of this process; what others do on the machine does not count. */
  async function workOf<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    return [result, (user + system) / 1000];
  }
  const deep = (levels: number): object =>
    levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: deep(levels - 1) } };
  const deepValue = (levels: number): unknown => (levels === 0 ? 'x' : { a: deepValue(levels - 1) });

  const bombs: Record<string, { readonly schema: object; readonly input: unknown }> = {
    'that is 1,000 levels deep': { schema: deep(1000), input: deepValue(1000) },
    'with a pattern of exponential time': {
      schema: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
      input: { a: `${'a'.repeat(40)}!` },
    },
    'with a pattern over 200 characters': {
      schema: { type: 'object', properties: { a: { type: 'string', pattern: `^${'(x|y)?'.repeat(50)}$` } } },
      input: { a: 'x'.repeat(60) },
    },
    'with 10,000 alternatives': {
      schema: {
        type: 'object',
        properties: { a: { anyOf: Array.from({ length: 10_000 }, (_, n) => ({ const: `n${n}` })) } },
      },
      input: { a: 'n9999' },
    },
    'that refers to itself': {
      schema: { type: 'object', properties: { a: { $ref: '#' } } },
      input: { a: { a: { a: {} } } },
    },
  };
  /** Echoes the arguments of calls. */
  const startListing = (tools: readonly object[]): ReturnType<typeof startScripted> =>
    startScripted({
      answers: {
        'tools/list': () => ({ tools }),
        'tools/call': params => ({ content: [{ type: 'text', text: JSON.stringify(params['arguments']) }] }),
      },
    });

  for (const [what, { schema, input }] of Object.entries(bombs)) {
    verifies(
      ['T8', 'B24'],
      `${what} costs a listing and a call next to nothing, and no other tool`,
      async () => {
        await using server = await startListing([
          { name: 'bomb', inputSchema: schema },
          { name: 'good', inputSchema: { type: 'object' } },
        ]);
        const definition = { url: server.url, openEventStream: false };
        // What is loaded and compiled for the first tool is not this schema's fault.
        await using first = openClient({ shop: definition });
        await (
          await executeOf(first, 'shop_good')
        )({});
        await using client = openClient({ shop: definition });
        const [tools, listing] = await workOf(() => client.listTools());
        const [result, calling] = await workOf(async () => await tools['shop_bomb']?.execute(input));
        console.info(`T8: ${what}: listing ${Math.round(listing)} ms, call ${Math.round(calling)} ms`);
        expect(textOf(result)).toBe(JSON.stringify(input));
        expect(textOf(await tools['shop_good']?.execute({ n: 1 }))).toBe('{"n":1}');
        expect(listing).toBeLessThan(600);
        expect(calling).toBeLessThan(600);
      },
    );
  }

  verifies(
    'T8',
    'whose references multiply without end refuse their own tool, in time, and no other',
    async () => {
      const level = (n: number): object => ({ allOf: [1, 2].map(() => ({ $ref: `#/$defs/l${n + 1}` })) });
      const $defs = Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [`l${n}`, n === 39 ? {} : level(n)]),
      );
      const inputSchema = { type: 'object', properties: { a: { $ref: '#/$defs/l0' } }, $defs };
      await using server = await startListing([
        { name: 'bomb', inputSchema },
        { name: 'good', inputSchema: { type: 'object' } },
      ]);
      await using client = openClient({ shop: { url: server.url, openEventStream: false } });
      const tools = await client.listTools();
      const [result, calling] = await workOf(async () => await tools['shop_bomb']?.execute({ a: 'x' }));
      expect(result).toMatchObject({ error: true, message: expect.stringContaining('too large') });
      // A budget of steps ends it; without one it would not end at all.
      expect(calling).toBeLessThan(20_000);
      expect(textOf(await tools['shop_good']?.execute({ n: 1 }))).toBe('{"n":1}');
    },
    40_000,
  );

  verifies('T8', 'that lie elsewhere are never fetched, and do not stop the tool', async () => {
    await using elsewhere = await startHttp((_, response) => response.end('{"type":"string"}'));
    const remote = { $ref: `${elsewhere.origin}/schema.json` };
    await using client = openClient({
      shop: rawServer({
        tools: [
          rawTool('remote', { definition: { inputSchema: { type: 'object', properties: { a: remote } } } }),
          rawTool('meta', { definition: { inputSchema: { $schema: remote.$ref, type: 'object' } } }),
          rawTool('id', { definition: { inputSchema: { $id: remote.$ref, type: 'object' } } }),
        ],
      }),
    });
    const tools = await client.listTools();
    for (const name of ['remote', 'meta', 'id']) {
      expect(textOf(await tools[`shop_${name}`]?.execute({ a: 1 }))).toBe('{"a":1}');
    }
    expect(elsewhere.requests).toHaveLength(0);
  });
});
