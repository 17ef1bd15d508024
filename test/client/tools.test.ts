import { describe, expect, test } from 'vitest';
import { RequestContext } from '@mastra/core/request-context';
import { getMcpCallToolContent, MCPClient } from '../../src/client/index.ts';
import type { MCPClientOptions, RemoteTool } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';

type Execute = (input: unknown, context?: unknown) => Promise<unknown>;
const run = (tool: RemoteTool | undefined, input: unknown, context: unknown = {}): Promise<unknown> =>
  (tool as unknown as { execute: Execute }).execute(input, context);

let count = 0;
function client(servers: MCPClientOptions['servers']): MCPClient {
  count += 1;
  return new MCPClient({ id: `tools-${count}`, servers });
}

describe('listing', () => {
  verifies(
    ['S001', 'S009', 'S069', 'S073'],
    'gives the tools of all servers under prefixed names, their ids',
    async () => {
      await using mcp = client({
        one: rawServer({ tools: [rawTool('read')] }),
        two: rawServer({ tools: [rawTool('read'), rawTool('write')] }),
      });
      const tools = await mcp.listTools();
      expect(Object.keys(tools)).toEqual(['one_read', 'one___calls', 'two_read', 'two_write', 'two___calls']);
      expect(Object.entries(tools).every(([name, tool]) => tool.id === name)).toBe(true);
    },
  );

  verifies(['S071', 'X02', 'S074'], 'gives toolsets by server and un-prefixed name', async () => {
    await using mcp = client({ one: rawServer({ tools: [rawTool('read')] }) });
    const toolsets = await mcp.listToolsets();
    expect(Object.keys(toolsets)).toEqual(['one']);
    expect(Object.keys(toolsets['one'] ?? {})).toEqual(['read', '__calls']);
    expect(toolsets['one']?.['read']?.id).toBe('read');
  });

  verifies(
    ['S070', 'S072', 'S247', 'X01', 'D01'],
    'leaves out a server that fails and says why by name',
    async () => {
      await using mcp = client({
        alive: rawServer({ tools: [rawTool('read')] }),
        dead: { command: '/does/not/exist' },
      });
      const { tools, errors, errorDetails, durations } = await mcp.listToolsWithErrors();
      expect(Object.keys(tools)).toContain('alive_read');
      expect(Object.keys(errors)).toEqual(['dead']);
      expect(errorDetails['dead']?.error).toMatchObject({
        code: 'MCP_CLIENT_CONNECT_FAILED',
        serverName: 'dead',
      });
      expect(Object.keys(durations)).toEqual(['alive', 'dead']);
      expect(await mcp.listToolsets()).toHaveProperty('alive');
      expect((await mcp.listToolsetsWithErrors()).errors).toHaveProperty('dead');
    },
  );

  verifies(['S061', 'S059', 'S060'], 'exposes annotations only where the server gives them', async () => {
    const annotations = { readOnlyHint: true, title: 'Reader' };
    await using mcp = client({
      s: rawServer({ tools: [rawTool('hinted', { definition: { annotations } }), rawTool('plain')] }),
    });
    const tools = await mcp.listTools();
    expect(tools['s_hinted']?.mcp?.annotations).toEqual(annotations);
    expect(tools['s_plain']?.mcp).toBeUndefined();
  });

  verifies('D05', 'keeps the original name readable and sends it to the server', async () => {
    await using mcp = client({ 'my srv': rawServer({ tools: [rawTool('user/update')] }) });
    const tools = await mcp.listTools();
    const tool = tools['my_srv_user_update'];
    expect(tool?.title).toBe('user/update');
    expect(tool?.mcpMetadata).toMatchObject({ serverName: 'my srv', toolName: 'user/update' });
    await run(tool, {});
    const { calls } = await callsOf(tools['my_srv___calls'] ?? {});
    expect(calls[0]?.name).toBe('user/update');
  });

  verifies(
    ['D05', 'T1'],
    'keeps both tools of a collision, the first configured under the plain name',
    async () => {
      await using mcp = client({
        a: rawServer({
          tools: [rawTool('b_c', { result: { content: [{ type: 'text', text: 'from b_c' }] } })],
        }),
        a_b: rawServer({
          tools: [rawTool('c', { result: { content: [{ type: 'text', text: 'from c' }] } })],
        }),
      });
      const { tools, errors, errorDetails } = await mcp.listToolsWithErrors();
      const names = Object.keys(tools).filter(name => name.startsWith('a_b_c'));
      expect(names).toHaveLength(2);
      expect(await run(tools['a_b_c'], {})).toMatchObject({ content: [{ text: 'from b_c' }] });
      expect(await run(tools[names[1] ?? ''], {})).toMatchObject({ content: [{ text: 'from c' }] });
      expect(errors).toEqual({});
      expect(errorDetails['a_b']?.tools).toMatchObject([{ toolName: 'c', kind: 'collision' }]);
    },
  );

  verifies('T2', 'lists tools named like members of Object without touching a prototype', async () => {
    await using mcp = client({
      s: rawServer({ tools: ['__proto__', 'constructor', 'toString'].map(name => rawTool(name)) }),
    });
    const toolset = (await mcp.listToolsets())['s'] ?? {};
    expect(Object.getPrototypeOf(toolset)).toBe(Object.prototype);
    expect(Object.keys(toolset)).toEqual(['__proto__', 'constructor', 'toString', '__calls']);
    expect(({} as { execute?: unknown }).execute).toBeUndefined();
  });

  verifies(
    ['D06', 'B24'],
    'lists a tool with an unusable schema as accepting any object and reports it',
    async () => {
      const broken = { type: 'object', properties: { a: { type: 'strng' } } };
      await using mcp = client({
        s: rawServer({ tools: [rawTool('bad', { definition: { inputSchema: broken } }), rawTool('good')] }),
      });
      const { tools, errorDetails } = await mcp.listToolsWithErrors();
      expect(Object.keys(tools)).toEqual(['s_bad', 's_good', 's___calls']);
      expect(errorDetails['s']?.tools).toMatchObject([{ toolName: 'bad', kind: 'schema' }]);
      expect(await run(tools['s_bad'], { anything: [1] })).toMatchObject({
        content: [{ text: '{"anything":[1]}' }],
      });
    },
  );

  verifies('D06', 'leaves out an entry without a usable name and keeps the others', async () => {
    await using mcp = client({
      s: rawServer({
        tools: [rawTool('good'), { definition: { name: 7 } as never }, { definition: null as never }],
      }),
    });
    const { tools, errorDetails } = await mcp.listToolsWithErrors();
    expect(Object.keys(tools)).toContain('s_good');
    expect(errorDetails['s']?.tools.map(({ kind }) => kind)).toEqual(['name', 'name']);
  });

  verifies('D05', 'hands out copies, so that what a user changes on a tool stays theirs', async () => {
    await using mcp = client({ s: rawServer({ tools: [rawTool('read')] }) });
    const first = (await mcp.listTools())['s_read'];
    if (first !== undefined) first.description = 'mine';
    expect((await mcp.listTools())['s_read']?.description).toBe('tool read');
    expect(first?.description).toBe('mine');
  });
});

describe('calls', () => {
  verifies(
    ['S079', 'S249'],
    'gives the result, or the structured content of a tool with an output schema',
    async () => {
      const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
      const structured = { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } };
      await using mcp = client({
        s: rawServer({
          tools: [rawTool('plain'), rawTool('typed', { definition: { outputSchema }, result: structured })],
        }),
      });
      const tools = await mcp.listTools();
      expect(await run(tools['s_plain'], { a: 1 })).toMatchObject({
        content: [{ type: 'text', text: '{"a":1}' }],
      });
      const typed = await run(tools['s_typed'], {});
      expect(typed).toEqual({ n: 1 });
      expect(getMcpCallToolContent(typed)).toEqual(structured.content);
    },
  );

  verifies(['S079', 'B82'], 'throws the text of a failed result with its content', async () => {
    const result = {
      isError: true,
      content: [
        { type: 'text', text: 'no' },
        { type: 'text', text: 'money' },
      ],
    };
    await using mcp = client({
      s: rawServer({ tools: [rawTool('pay', { result })] }),
      r: rawServer({ tools: [rawTool('pay', { result })] }, { onToolError: 'return' }),
    });
    const tools = await mcp.listTools();
    await expect(run(tools['s_pay'], {})).rejects.toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
      toolName: 'pay',
      serverName: 's',
      content: result.content,
    });
    await expect(run(tools['s_pay'], {})).rejects.toThrow('no\nmoney');
    expect(await run(tools['r_pay'], {})).toEqual(result);
  });

  verifies(
    'S079',
    'resolves to a validation error for arguments the schema refuses, without calling',
    async () => {
      const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
      await using mcp = client({ s: rawServer({ tools: [rawTool('t', { definition: { inputSchema } })] }) });
      const tools = await mcp.listTools();
      expect(await run(tools['s_t'], { n: 'x' })).toMatchObject({
        error: true,
        message: expect.stringContaining('n'),
      });
      expect((await callsOf(tools['s___calls'] ?? {})).calls).toEqual([]);
    },
  );

  verifies('B21', 'sends an empty object for a call without arguments', async () => {
    await using mcp = client({
      s: rawServer({ tools: [rawTool('t', { definition: { inputSchema: { type: 'object' } } })] }),
    });
    const tools = await mcp.listTools();
    for (const nothing of [undefined, null, '', {}]) await run(tools['s_t'], nothing);
    const { calls } = await callsOf(tools['s___calls'] ?? {});
    expect(calls.map(call => call.arguments)).toEqual([{}, {}, {}, {}]);
  });

  verifies(
    ['S077', 'S078', 'S053', 'X06'],
    'sends a progress token: the run id if given, else a random one',
    async () => {
      await using mcp = client({
        s: rawServer({ tools: [rawTool('t')] }),
        off: rawServer({ tools: [rawTool('t')] }, { enableProgressTracking: false }),
      });
      const tools = await mcp.listTools();
      await run(tools['s_t'], {}, { runId: 'run-1' });
      await run(tools['s_t'], {});
      await run(tools['off_t'], {}, { runId: 'run-1' });
      const [first, second] = (await callsOf(tools['s___calls'] ?? {})).calls;
      expect(first?._meta?.['progressToken']).toBe('run-1');
      expect(second?._meta?.['progressToken']).toMatch(/^[0-9a-f-]{36}$/);
      expect((await callsOf(tools['off___calls'] ?? {})).calls[0]?._meta).toBeUndefined();
    },
  );

  verifies('D03', 'gives parallel calls of one run tokens of their own', async () => {
    await using mcp = client({ s: rawServer({ tools: [rawTool('t', { delayMs: 100 })] }) });
    const tools = await mcp.listTools();
    await Promise.all([1, 2, 3].map(() => run(tools['s_t'], {}, { runId: 'r' })));
    const { calls } = await callsOf(tools['s___calls'] ?? {});
    expect(calls.map(call => call._meta?.['progressToken']).toSorted()).toEqual(['r', 'r:2', 'r:3']);
  });

  verifies(
    ['S047', 'S076', 'R9'],
    'ends a call at its limit, cancels it at the server and stays usable',
    async () => {
      await using mcp = client({
        s: rawServer({ tools: [rawTool('hang', { silent: true }), rawTool('t')] }, { timeout: 300 }),
      });
      const tools = await mcp.listTools();
      const started = performance.now();
      await expect(run(tools['s_hang'], {})).rejects.toMatchObject({
        code: 'MCP_CLIENT_REQUEST_TIMEOUT',
        serverName: 's',
        method: 'tools/call',
        mayHaveExecuted: true,
      });
      expect(performance.now() - started).toBeLessThan(900);
      expect(await run(tools['s_t'], {})).toMatchObject({ content: [{ text: '{}' }] });
      const { cancelled } = await callsOf(tools['s___calls'] ?? {});
      expect(cancelled).toHaveLength(1);
    },
  );

  verifies(
    ['D03', 'D14'],
    'reports an abort of the caller as an abort and cancels at the server',
    async () => {
      await using mcp = client({ s: rawServer({ tools: [rawTool('hang', { silent: true })] }) });
      const tools = await mcp.listTools();
      const controller = new AbortController();
      const call = run(tools['s_hang'], {}, { abortSignal: controller.signal });
      setTimeout(() => controller.abort(), 50);
      await expect(call).rejects.toMatchObject({ code: 'MCP_CLIENT_REQUEST_ABORTED' });
      expect((await callsOf(tools['s___calls'] ?? {})).cancelled).toHaveLength(1);
      const early = run(tools['s_hang'], {}, { abortSignal: AbortSignal.abort() });
      await expect(early).rejects.toMatchObject({
        code: 'MCP_CLIENT_REQUEST_ABORTED',
        mayHaveExecuted: false,
      });
    },
  );

  verifies(
    ['D03', 'B33', 'S128'],
    'lets progress restart the idle limit, up to the total limit',
    async () => {
      const progress = [1, 2, 3, 4, 5, 6].map(step => ({
        progress: step,
        total: 6,
        message: `step ${step}`,
      }));
      const long = rawTool('long', { progress, delayMs: 100 });
      await using mcp = client({
        keeps: rawServer({ tools: [long] }, { timeout: 300 }),
        capped: rawServer({ tools: [long] }, { timeout: 300, maxTotalTimeout: 400 }),
        plain: rawServer({ tools: [long] }, { timeout: 300, resetTimeoutOnProgress: false }),
      });
      const tools = await mcp.listTools();
      const seen: unknown[] = [];
      const off = await mcp.progress.onUpdate('keeps', update => seen.push(update));
      await run(tools['keeps_long'], {}, { runId: 'run' });
      expect(seen).toHaveLength(6);
      expect(seen[0]).toEqual({ progressToken: 'run', progress: 1, total: 6, message: 'step 1' });
      off();
      await expect(run(tools['capped_long'], {})).rejects.toMatchObject({
        code: 'MCP_CLIENT_REQUEST_TIMEOUT',
      });
      await expect(run(tools['plain_long'], {})).rejects.toMatchObject({
        code: 'MCP_CLIENT_REQUEST_TIMEOUT',
      });
    },
  );

  verifies(
    ['S046', 'S049'],
    'hands log messages of the server to handler and logger, unless switched off',
    async () => {
      const log = { level: 'warning', logger: 'disk', data: { free: 1 } };
      const seen: unknown[] = [];
      const silent: unknown[] = [];
      await using mcp = client({
        s: rawServer({ tools: [rawTool('t', { log })] }, { logger: message => seen.push(message) }),
        off: rawServer(
          { tools: [rawTool('t', { log })] },
          { logger: message => silent.push(message), enableServerLogs: false },
        ),
      });
      const tools = await mcp.listTools();
      await run(tools['s_t'], {});
      await run(tools['off_t'], {});
      expect(seen).toMatchObject([
        {
          level: 'warning',
          message: '[s] [MCP SERVER LOG]',
          serverName: 's',
          timestamp: expect.any(Date),
          details: { logger: 'disk', data: { free: 1 } },
        },
      ]);
      expect(silent).toEqual([]);
    },
  );

  test('does not call a tool that the definition excludes, on any path', async () => {
    await using mcp = client({ s: rawServer({ tools: [rawTool('rm')] }, { tools: { exclude: ['rm'] } }) });
    expect(Object.keys(await mcp.listTools())).toEqual(['s___calls']);
    const tool = mcp.toolFromDefinition({
      serverName: 's',
      definition: { name: 'rm', inputSchema: { type: 'object' } },
    });
    await expect(run(tool, {})).rejects.toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXCLUDED',
      mayHaveExecuted: false,
    });
  });
});

describe('definitions', () => {
  verifies(
    'S248',
    'rebuilds tools from JSON without connecting, and connects at the first call',
    async () => {
      const servers = { s: rawServer({ tools: [rawTool('t')] }, { requireToolApproval: true }) };
      await using first = client(servers);
      const saved = JSON.parse(JSON.stringify(await first.listToolDefinitions())) as Awaited<
        ReturnType<typeof first.listToolDefinitions>
      >;
      expect(saved['s']?.['t']).toMatchObject({ name: 't', server: { version: '1.2.3' } });
      expect((await first.listToolDefinitionsWithErrors()).errors).toEqual({});
      await using second = client(servers);
      const tools = second.toolsFromDefinitions({ definitions: saved });
      expect(second.getServerStatus()['s']?.state).toBe('idle');
      expect(tools['s_t']?.requireApproval).toBe(true);
      expect(await run(tools['s_t'], { x: 1 })).toMatchObject({ content: [{ text: '{"x":1}' }] });
      expect(second.getServerStatus()['s']?.state).toBe('ready');
    },
  );
});

describe('server information', () => {
  verifies(['S063', 'S066', 'S068'], 'keeps instructions per server and gives them on request', async () => {
    await using mcp = client({
      told: rawServer({ instructions: 'Be kind.', tools: [] }),
      silent: rawServer({ tools: [] }),
    });
    expect(mcp.getServerInstructions()).toEqual({ told: undefined, silent: undefined });
    await mcp.listTools();
    expect(mcp.getServerInstructions()).toEqual({ told: 'Be kind.', silent: undefined });
  });

  verifies('D02', 'tells the state of each server and its changes', async () => {
    await using mcp = client({
      s: rawServer({ tools: [rawTool('t')] }),
      dead: { command: '/does/not/exist' },
    });
    const changes: string[] = [];
    mcp.onStatusChange(({ serverName, previous, status }) =>
      changes.push(`${serverName} ${previous} ${status.state}`),
    );
    await mcp.listTools();
    expect(mcp.getServerStatus()).toMatchObject({
      s: {
        state: 'ready',
        transport: 'stdio',
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'raw' },
        toolCount: 2,
        since: expect.any(Date),
      },
      dead: { state: 'failed', lastError: { code: 'MCP_CLIENT_CONNECT_FAILED' } },
    });
    await mcp.disconnect('s');
    expect(mcp.getServerStatus()['s']?.state).toBe('closed');
    expect(changes.filter(change => change.startsWith('s '))).toEqual([
      's idle connecting',
      's connecting ready',
      's ready closed',
    ]);
    expect(changes.filter(change => change.startsWith('dead '))).toEqual([
      'dead idle connecting',
      'dead connecting failed',
    ]);
  });

  verifies(
    ['S244', 'S245'],
    'refuses unknown names, reconnects a known one and gives its standard error',
    async () => {
      await using mcp = client({ s: rawServer({ tools: [rawTool('t')] }, { stderr: 'pipe' }) });
      await expect(mcp.reconnectServer('x')).rejects.toMatchObject({
        code: 'MCP_CLIENT_CONFIGURATION_INVALID',
      });
      expect(() => mcp.getServerStderr('x')).toThrow('"x"');
      await mcp.listTools();
      expect(mcp.getServerStderr('s')).not.toBeNull();
      await mcp.reconnectServer('s');
      expect(mcp.getServerStatus()['s']?.state).toBe('ready');
      await mcp.ping('s');
      expect(mcp.sessionIds).toEqual({});
    },
  );
});

describe('identity', () => {
  const servers = { s: { command: 'never-started' } };

  verifies(
    ['S005', 'S006', 'S007', 'S008'],
    'refuses a second client with the same configuration and no id',
    async () => {
      const first = new MCPClient({ servers });
      expect(() => new MCPClient({ servers: { s: { command: 'never-started' } } })).toThrow(
        /id.*disconnect\(\).*once/s,
      );
      await new MCPClient({ id: 'own', servers }).disconnect();
      await first.disconnect();
      await new MCPClient({ servers }).disconnect();
    },
  );

  verifies(
    'S002',
    'gives the same instance for the same id and configuration, a new one for another',
    async () => {
      const first = new MCPClient({ id: 'same', servers });
      expect(new MCPClient({ id: 'same', servers })).toBe(first);
      const other = new MCPClient({ id: 'same', servers: { s: { command: 'another' } } });
      expect(other).not.toBe(first);
      await other.disconnect();
    },
  );

  verifies('S081', 'disconnects twice without harm, and a tool used afterwards connects again', async () => {
    await using mcp = client({ s: rawServer({ tools: [rawTool('t')] }) });
    const tools = await mcp.listTools();
    await mcp.disconnect();
    await mcp.disconnect();
    const requestContext = new RequestContext();
    expect(await run(tools['s_t'], {}, { requestContext })).toMatchObject({ content: [{ text: '{}' }] });
  });
});
