/** Options of a server that say whether it is there, which of its tools are, and how it ends. */
import { expect, test } from 'vitest';
import { MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { serverProgram } from '../support/node-program.ts';
import { isRunning, runningChildren, until } from '../support/processes.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';
import { resolveClientOptions } from '../../src/client/resolve-options.ts';

test('enabled: false leaves a server out of everything; its definition is checked all the same', async () => {
  await using server = await startHttp(answerPlainly);
  const off = { url: `${server.origin}/mcp`, enabled: false };
  await using client = openClient({ off, on: { url: `${server.origin}/mcp` } });
  expect(Object.keys(await client.listToolsets())).toEqual(['on']);
  expect(Object.keys(client.getServerStatus())).toEqual(['on']);
  expect(Object.keys(client.toMCPServerProxies())).toEqual(['on']);
  const { errors, durations } = await client.listToolsWithErrors();
  expect([Object.keys(errors), Object.keys(durations)]).toEqual([[], ['on']]);
  expect(await rejection(client.ping('off'))).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID' });
  expect(server.count('POST', 'initialize')).toBe(1);
  expect(() => new MCPClient({ servers: { off: { enabled: false, url: 'nonsense' } } })).toThrow(
    /servers\.off\.url/,
  );
});

test('an excluded tool is in no listing and is called on no path', async () => {
  const tools = [rawTool('read_all'), rawTool('read_secret'), rawTool('write')];
  const open = { s: rawServer({ tools }) };
  const servers = {
    s: rawServer({ tools }, { tools: { include: ['read_*', /^__/], exclude: [/secret$/] } }),
  };
  await using everything = openClient(open);
  const definitions = await everything.listToolDefinitions();
  const names = ['read_all', '__calls'];
  await using client = openClient(servers);
  expect(Object.keys(await client.listTools())).toEqual(names.map(name => `s_${name}`));
  expect(Object.keys((await client.listToolsets())['s'] ?? {})).toEqual(names);
  expect(Object.keys((await client.listToolDefinitions())['s'] ?? {})).toEqual(names);
  expect(client.getServerStatus()['s']?.toolCount).toBe(2);
  const proxy = client.toMCPServerProxies()['s'];
  expect((await proxy?.getToolListInfo())?.tools.map(({ name }) => name)).toEqual(
    names.map(name => `s_${name}`),
  );
  expect(await proxy?.getToolInfo('write')).toBeUndefined();

  const rebuilt = client.toolsFromDefinitions({ definitions });
  for (const name of ['write', 'read_secret']) {
    const definition = definitions['s']?.[name];
    if (definition === undefined) throw new Error(`no ${name}`);
    const paths: Record<string, () => Promise<unknown> | undefined> = {
      toolFromDefinition: () => client.toolFromDefinition({ serverName: 's', definition }).execute({}),
      toolsFromDefinitions: () => rebuilt[`s_${name}`]?.execute({}),
    };
    for (const [path, call] of Object.entries(paths)) {
      const error: unknown = await call()?.catch((reason: unknown) => reason);
      expect([path, error]).toMatchObject([
        path,
        { code: 'MCP_CLIENT_TOOL_EXCLUDED', toolName: name, serverName: 's', mayHaveExecuted: false },
      ]);
    }
    for (const id of [name, `s_${name}`]) {
      await expect(proxy?.executeTool(id, {})).rejects.toMatchObject({
        toolName: id,
        mayHaveExecuted: false,
      });
    }
  }
  await (
    await executeOf(client, 's_read_all')
  )({});
  const { calls } = await callsOf((await client.listTools())['s___calls'] ?? {});
  expect(calls.map(({ name }) => name)).toEqual(['read_all']);
});

verifies('D03', 'maxTotalTimeout of the client holds for every server that has none of its own', async () => {
  const slow = [
    rawTool('slow', { progress: Array.from({ length: 40 }, (_, n) => ({ progress: n })), delayMs: 50 }),
  ];
  const { servers } = resolveClientOptions({
    maxTotalTimeout: 700,
    servers: { shared: { command: 'x' }, own: { command: 'x', maxTotalTimeout: 60_000 } },
  });
  expect(servers.map(({ maxTotalTimeout }) => maxTotalTimeout)).toEqual([700, 60_000]);
  await using client = new MCPClient({
    id: 'total',
    maxTotalTimeout: 700,
    servers: {
      shared: rawServer({ tools: slow }),
      own: rawServer({ tools: slow }, { maxTotalTimeout: 60_000 }),
    },
  });
  const tools = await client.listTools();
  const [shared, own] = await Promise.all([
    tools['shared_slow']?.execute({}).catch((error: unknown) => error),
    tools['own_slow']?.execute({}),
  ]);
  expect(shared).toMatchObject({
    code: 'MCP_CLIENT_REQUEST_TIMEOUT',
    message: expect.stringContaining('maxTotalTimeout'),
  });
  expect(textOf(own)).toBe('{}');
});

verifies('D01', 'transport chooses: "http" does not fall back, "sse" does not try the other', async () => {
  await using legacy = await startLegacySse();
  const url = `${legacy.origin}/sse`;
  await using client = openClient({
    http: { url, transport: 'http' },
    sse: { url, transport: 'sse' },
    auto: { url, transport: 'auto' },
  });
  expect(await rejection(client.ping('http'))).toMatchObject({
    code: 'MCP_CLIENT_CONNECT_FAILED',
    attempts: [{ transport: 'http' }],
  });
  expect(legacy.requests.map(({ method }) => method)).toEqual(['POST']);
  await client.ping('sse');
  expect(legacy.requests[1]?.method).toBe('GET');
  await client.ping('auto');
  expect(client.getServerStatus()).toMatchObject({ sse: { transport: 'sse' }, auto: { transport: 'sse' } });
});

test('ping resolves for a server that answers and rejects for one that does not, within its time-out', async () => {
  await using client = openClient({
    alive: serverProgram(),
    silent: {
      ...serverProgram(`
        const [serveAll] = input.listeners('line');
        input.removeAllListeners('line').on('line', line => line.includes('"ping"') || serveAll(line));`),
      timeout: 400,
    },
    dead: { command: '/no/such/program' },
  });
  await expect(client.ping('alive')).resolves.toBeUndefined();
  expect(await rejection(client.ping('dead'))).toMatchObject({
    code: 'MCP_CLIENT_CONNECT_FAILED',
    serverName: 'dead',
  });
  expect(await rejection(client.ping('nobody'))).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID' });
  expect(await rejection(client.ping('silent'))).toMatchObject({
    code: 'MCP_CLIENT_REQUEST_TIMEOUT',
    method: 'ping',
    serverName: 'silent',
  });
});

verifies(
  'S082',
  'disconnect(serverName) ends that server and its process, and leaves the others alone',
  async () => {
    const before = runningChildren();
    await using client = openClient({ one: serverProgram(), two: serverProgram() });
    await client.ping('one');
    const [first = 0] = runningChildren().filter(pid => !before.includes(pid));
    await client.ping('two');
    await client.disconnect('one');
    expect(isRunning(first)).toBe(false);
    expect(client.getServerStatus()).toMatchObject({ one: { state: 'closed' }, two: { state: 'ready' } });
    // What is closed comes back when it is used.
    await client.ping('one');
    expect(client.getServerStatus()['one']?.state).toBe('ready');
    await expect(client.disconnect('nobody')).rejects.toMatchObject({
      code: 'MCP_CLIENT_CONFIGURATION_INVALID',
    });
  },
);

verifies('S084', 'await using ends every server and frees the configuration', async () => {
  const before = runningChildren();
  const servers = { one: serverProgram('/* of this test */') };
  {
    await using client = new MCPClient({ servers });
    await client.ping('one');
    expect(runningChildren().length).toBe(before.length + 1);
    expect(() => new MCPClient({ servers })).toThrow();
  }
  await until('the process is gone', () => runningChildren().length === before.length);
  await using again = new MCPClient({ servers });
  expect(again.getServerStatus()['one']?.state).toBe('idle');
});

test('a port that fetch does not connect to is named, and nothing is sent or tried again', async () => {
  for (const transport of ['http', 'sse'] as const) {
    await using client = openClient({ shop: { url: 'http://127.0.0.1:6000/mcp', transport } });
    const error = await rejection(client.ping('shop'));
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_CONNECT_FAILED',
      attempts: [{ transport }],
      mayHaveExecuted: false,
    });
    expect(error.message).toContain('the URL cannot be used: fetch does not connect to port 6000');
  }
  await using server = await startHttp((_, response) =>
    response.writeHead(307, { location: 'http://127.0.0.1:6000/mcp' }).end(),
  );
  const allowedHosts = [new URL(server.origin).host, '127.0.0.1:6000'];
  await using redirected = openClient({ shop: { url: `${server.origin}/mcp`, allowedHosts } });
  const error = await rejection(redirected.ping('shop'));
  expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
  expect(error.message).toContain('port 6000');
  expect(server.requests).toHaveLength(1);
});
