/** A proxy on its own: what it lists, calls and refuses. In Mastra and its REST interface: integration and suites. */
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { expect, expectTypeOf, test } from 'vitest';
import { MCPClientServerProxy } from '../../src/client/index.ts';
import type { MastraFetchLike, MastraMCPServerDefinition, MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';
import { RpcError, startScripted } from '../support/scripted-server.ts';
import type { Script } from '../support/scripted-server.ts';

const nowhere: MastraMCPServerDefinition = { command: '/does/not/exist' };

function proxyOf(client: MCPClient, name: string): MCPClientServerProxy {
  const proxy = client.toMCPServerProxies()[name];
  if (proxy === undefined) throw new Error(`no server ${name}`);
  return proxy;
}

/** A scripted server and the proxy of it, which the client knows as `desk`. */
async function openDesk(
  answers: Script['answers'] = {},
  definition: Partial<MastraMCPServerDefinition> = {},
) {
  const server = await startScripted({ answers });
  const client = openClient({ desk: { url: server.url, ...definition } as MastraMCPServerDefinition });
  return {
    server,
    client,
    desk: proxyOf(client, 'desk'),
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

const listing = (...tools: readonly object[]): Script['answers'] => ({ 'tools/list': () => ({ tools }) });
const tool = (name: string, more: object = {}): object => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

verifies(
  ['S105', 'S106', 'X07'],
  'proxies are a plain record, one per server, made without connecting',
  async () => {
    await using client = openClient({ one: nowhere, two: rawServer({ tools: [rawTool('echo')] }) });
    const proxies = client.toMCPServerProxies();
    expectTypeOf(proxies).toEqualTypeOf<Record<string, MCPClientServerProxy>>();
    expect(Object.keys(proxies)).toEqual(['one', 'two']);
    expect(await Promise.resolve(proxies)).toBe(proxies);
    expect({ ...proxies }['two']).toBeInstanceOf(MCPClientServerProxy);
    for (const [name, proxy] of Object.entries(proxies)) {
      expect(proxy).toMatchObject({ id: name, name, version: '1.0.0' });
      expect(proxy.tools()).toEqual({});
      expect(proxy.getServerInfo()).toEqual({
        id: name,
        name,
        version_detail: { version: '1.0.0', release_date: expect.any(String), is_latest: true },
      });
    }
    expect(client.getServerStatus()).toMatchObject({ one: { state: 'idle' }, two: { state: 'idle' } });
  },
);

verifies('S106', 'ids are the names of the configuration, whatever characters they have', async () => {
  const names = ['My Desk', 'my-desk', 'myDesk', '天气', '!'];
  await using client = openClient(Object.fromEntries(names.map(name => [name, nowhere])));
  const mastra: Mastra = new Mastra({ mcpServers: client.toMCPServerProxies(), logger: false });
  for (const name of names) {
    expect(mastra.getMCPServer(name)?.id).toBe(name);
    expect(mastra.getMCPServerById(name)).toBe(mastra.getMCPServer(name));
  }
  // Under a key of one's own the id stays.
  const other: Mastra = new Mastra({ mcpServers: { key: proxyOf(client, '!') }, logger: false });
  expect(other.getMCPServerById('!')).toBe(other.getMCPServer('key'));
});

verifies(['S106', 'D17'], 'a tool is listed with everything that its server said of it', async () => {
  const said = {
    title: 'Weather',
    description: 'Tells it',
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { city: { type: 'string', format: 'city', 'x-order': 1 } },
      required: ['city'],
    },
    outputSchema: { type: 'object', properties: { degrees: { type: 'number' } } },
    annotations: { title: 'Other', readOnlyHint: true, later: 1 },
    icons: [{ src: 'data:image/png;base64,AA==', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
    execution: { taskSupport: 'forbidden' },
    _meta: { ui: { resourceUri: 'ui://weather/main', visibility: ['model'] }, 'example.com/x': [1] },
    ofALaterRevision: { kept: true },
  };
  await using client = openClient({
    desk: rawServer({
      serverInfo: { name: 'raw', version: '1.2.3', title: 'Raw', description: 'A raw one' } as never,
      tools: [rawTool('get', { definition: said }), rawTool('get.it', { definition: { inputSchema: {} } })],
    }),
  });
  const desk = proxyOf(client, 'desk');
  const { tools } = await desk.getToolListInfo();
  expect(tools).toEqual([
    { ...said, id: 'get', name: 'desk_get' },
    { description: 'tool get.it', inputSchema: {}, id: 'get.it', name: 'desk_get_it' },
    expect.objectContaining({ id: '__calls' }),
  ]);
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(await client.listTools()));
  for (const toolId of ['get.it', 'desk_get_it']) expect(await desk.getToolInfo(toolId)).toEqual(tools[1]);
  expect(await desk.getToolInfo('it')).toBeUndefined();
  expect(desk.getServerDetail()).toMatchObject({
    id: 'desk',
    name: 'desk',
    title: 'Raw',
    description: 'A raw one',
    version_detail: { version: '1.2.3' },
  });
});

verifies('S106', 'no name that is listed stands for two tools', async () => {
  const called = (params: { name?: unknown }): object => text(String(params.name));
  await using opened = await openDesk({ ...listing(tool('x'), tool('desk_x')), 'tools/call': called });
  const { tools } = await opened.desk.getToolListInfo();
  expect(tools.map(({ id, name }) => [id, name])).toEqual([
    ['x', 'x'],
    ['desk_x', 'desk_desk_x'],
  ]);
  for (const { id, name } of tools) {
    for (const toolId of [id, name]) {
      expect(await opened.desk.executeTool(toolId, {})).toEqual(text(id));
      expect((await opened.desk.getToolInfo(toolId))?.id).toBe(id);
    }
  }
});

verifies(
  ['S106', 'S108'],
  'a call resolves to the whole result, of a failed tool as well, and takes its arguments as they are',
  async () => {
    const ok = {
      ...text('21'),
      structuredContent: { degrees: 21 },
      _meta: { 'example.com/age': 3 },
      ofALaterRevision: 1,
    };
    const failed = { ...text('no such city'), structuredContent: { city: 'X' }, isError: true };
    const outputSchema = { type: 'object', properties: { degrees: { type: 'string' } } };
    await using opened = await openDesk({
      ...listing(tool('get', { outputSchema })),
      'tools/call': ({ arguments: args }) => ((args as { city?: string }).city === 'X' ? failed : ok),
    });
    const { desk, server } = opened;
    expect(
      await desk.executeTool('get', { city: 'Ulm', n: null }, { toolCallId: 'c', messages: [] }),
    ).toEqual(ok);
    expect(await desk.executeTool('desk_get', { city: 'X' })).toEqual(failed);
    expect(await desk.executeTool('get', undefined)).toEqual(ok);
    expect(server.received('tools/call').map(params => [params['name'], params['arguments']])).toEqual([
      ['get', { city: 'Ulm', n: null }],
      ['get', { city: 'X' }],
      ['get', {}],
    ]);
  },
);

verifies('S106', 'the request context of a call reaches the fetch of its server', async () => {
  const seen: unknown[] = [];
  const noting: MastraFetchLike = (url, init, context) => {
    if (typeof init?.body === 'string' && init.body.includes('tools/call')) seen.push(context?.get('user'));
    return fetch(url, init);
  };
  await using opened = await openDesk({}, { fetch: noting });
  const requestContext = new RequestContext([['user', 'ada']]) as RequestContext;
  await opened.desk.executeTool('echo', {}, { requestContext });
  await opened.desk.executeTool('echo', {});
  expect(seen).toEqual(['ada', undefined]);
});

test('calls in parallel share one connect and one listing, which stands until the server says otherwise', async () => {
  let tools = [tool('a')];
  await using opened = await openDesk({ 'tools/list': () => ({ tools }) });
  const { desk, server } = opened;
  await Promise.all(Array.from({ length: 10 }, () => desk.executeTool('a', {})));
  await desk.executeTool('a', {});
  expect(server.received('initialize')).toHaveLength(1);
  expect(server.received('tools/list')).toHaveLength(1);
  // What is not known is looked for at the server.
  expect((await rejection(desk.executeTool('b', {}))).details).toEqual({ status: 404 });
  expect(server.received('tools/list')).toHaveLength(2);
  tools = [tool('b', { annotations: { readOnlyHint: true } })];
  await server.notify('notifications/tools/list_changed');
  await until('the tool is gone', () =>
    desk.executeTool('a', {}).then(
      () => false,
      () => true,
    ),
  );
  const lists = server.received('tools/list').length;
  expect(await desk.executeTool('desk_b', {})).toEqual(text('ok'));
  expect(server.received('tools/list')).toHaveLength(lists);
  // Who looks sees what is there now.
  await desk.getToolListInfo();
  expect(await desk.getToolInfo('a')).toBeUndefined();
  expect(server.received('tools/list')).toHaveLength(lists + 2);
});

verifies('S106', 'an unknown tool, and one that is excluded, is a 404 and reaches no server', async () => {
  await using opened = await openDesk(listing(tool('keep'), tool('drop')), { tools: { exclude: ['drop'] } });
  const { desk, server } = opened;
  expect((await desk.getToolListInfo()).tools.map(({ id }) => id)).toEqual(['keep']);
  for (const toolId of ['drop', 'desk_drop', 'none']) {
    const error = await rejection(desk.executeTool(toolId, {}));
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
      message: `Unknown tool: ${toolId}`,
      details: { status: 404 },
      serverName: 'desk',
      mayHaveExecuted: false,
    });
    expect(await desk.getToolInfo(toolId)).toBeUndefined();
  }
  expect(server.received('tools/call')).toEqual([]);
});

test('a call that may have run and has no result asks REST clients not to repeat it', async () => {
  let calls = 0;
  await using opened = await openDesk({
    'tools/call': () => {
      calls += 1;
      throw new RpcError(-32603, 'half done');
    },
  });
  const error = await rejection(opened.desk.executeTool('echo', {}));
  expect(error).toMatchObject({
    code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
    details: { status: 424 },
    toolName: 'echo',
    serverName: 'desk',
    mayHaveExecuted: true,
    cause: { code: 'MCP_CLIENT_REQUEST_FAILED', rpcCode: -32603 },
  });
  expect(error.message).toContain('half done');
  expect(calls).toBe(1);
});

test('a call that did not run is the error of the connection itself', async () => {
  await using client = openClient({ gone: nowhere });
  const gone = proxyOf(client, 'gone');
  for (const attempt of [
    gone.executeTool('x', {}),
    gone.getToolListInfo(),
    gone.listResources(),
    gone.readResource('ui://x'),
  ]) {
    const error = await rejection(attempt);
    expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', mayHaveExecuted: false });
    expect(error.details).toEqual({});
  }
});

test('a tool whose definition is not the one agreed to is not called', async () => {
  await using opened = await openDesk({}, { pinnedTools: { echo: 'f'.repeat(64) } });
  const error = await rejection(opened.desk.executeTool('echo', {}));
  expect(error).toMatchObject({ code: 'MCP_CLIENT_TOOL_CHANGED', mayHaveExecuted: false });
  expect(opened.server.received('tools/call')).toEqual([]);
});

verifies(['S106', 'S108'], 'resources are listed and read as the server gives them, all pages', async () => {
  const first = { uri: 'ui://a', name: 'a', title: 'A', icons: [{ src: 'data:,' }], size: 3, later: 1 };
  const second = {
    uri: 'doc://b',
    name: 'b',
    annotations: { audience: ['user'], priority: 1 },
    _meta: { x: 1 },
  };
  const read = {
    contents: [
      {
        uri: 'ui://a',
        mimeType: 'text/html;profile=mcp-app',
        text: '<p>',
        _meta: { ui: { prefersBorder: true } },
      },
      { uri: 'ui://a', mimeType: 'image/png', blob: 'AA==', later: 1 },
    ],
    _meta: { 'example.com/x': 1 },
  };
  await using opened = await openDesk({
    'resources/list': ({ cursor }) =>
      cursor === undefined ? { resources: [first], nextCursor: 'n' } : { resources: [second] },
    'resources/read': ({ uri }) => {
      if (uri === 'ui://a') return read;
      throw new RpcError(uri === 'doc://none' ? -32002 : -32603, 'nope');
    },
  });
  const { desk } = opened;
  expect(await desk.listResources()).toEqual({ resources: [first, second] });
  expect(await desk.readResource('ui://a')).toEqual(read);
  expect(await rejection(desk.readResource('doc://none'))).toMatchObject({
    code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
    message: 'Resource not found: doc://none',
    details: { status: 404 },
    data: { uri: 'doc://none' },
    cause: { rpcCode: -32002 },
  });
  expect(await rejection(desk.readResource('doc://broken'))).toMatchObject({
    code: 'MCP_CLIENT_REQUEST_FAILED',
    rpcCode: -32603,
  });
});

verifies('S106', 'a proxy serves no MCP, and closing it leaves the connection to the client', async () => {
  await using opened = await openDesk();
  const { desk, client } = opened;
  await desk.executeTool('echo', {});
  await desk.close();
  expect(client.getServerStatus()).toMatchObject({ desk: { state: 'ready' } });
  expect(await desk.executeTool('echo', {})).toEqual(text('ok'));
  for (const start of ['startStdio', 'startHTTP', 'startSSE', 'startHonoSSE'] as const) {
    const error = await rejection(desk[start]());
    expect(error).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID', option: start });
    expect(error.message).toContain('clients connect to the server itself');
  }
});
