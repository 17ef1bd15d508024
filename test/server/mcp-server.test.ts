import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MCPServerBase } from '@mastra/core/mcp';
import { createTool } from '@mastra/core/tools';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';

const add = createTool({
  id: 'add-id',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  mcp: { _meta: { 'example.com/x': 1 } },
  execute: async ({ a, b }) => ({ sum: a + b }),
});

const serverOf = (more: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ name: 'desk', version: '1.2.0', tools: { add }, ...more });

function helper(): Agent {
  const { model } = scriptedModel([{ text: 'hi' }]);
  return new Agent({ id: 'helper', name: 'Helper', description: 'Helps', instructions: 'x', model });
}

/** A tool that runs until it is let go. */
function gate() {
  let release = (): void => undefined;
  let started = 0;
  const released = new Promise<void>(resolve => (release = resolve));
  const tool = createTool({
    id: 'wait',
    description: 'W',
    execute: async (_input, { abortSignal }) => {
      started += 1;
      await Promise.race([released, new Promise(resolve => abortSignal?.addEventListener('abort', resolve))]);
      return abortSignal?.aborted === true ? 'aborted' : 'finished';
    },
  });
  return { tool, release: () => release(), started: () => started };
}

describe('with Mastra', () => {
  verifies(['S129', 'S130'], 'is a server of core’s kind, under the id it was given', () => {
    const server = serverOf({ id: 'My Desk' });
    const mastra = new Mastra({ mcpServers: { key: server }, logger: false });
    expect(server).toBeInstanceOf(MCPServerBase);
    expect(server.id).toBe('my-desk');
    expect(mastra.getMCPServer('key')).toBe(server);
    expect(mastra.getMCPServerById('my-desk')).toBe(server);
    // Core would treat it as a server of the newer contract otherwise.
    expect(server.mcpVersion).toBeUndefined();
  });

  verifies(['S130', 'X33'], 'takes the key it is registered under when it has no id', () => {
    const server = serverOf();
    new Mastra({ mcpServers: { key: server }, logger: false });
    expect(server.id).toBe('key');
  });

  verifies(
    ['S182', 'X04'],
    'converts its tools before it has fields of its own, and again with Mastra',
    async () => {
      const server = serverOf({ agents: { helper: helper() } });
      const before = server.tools()['add'];
      expect(Object.keys(server.tools())).toEqual(['add', 'ask_helper']);
      expect(await before?.execute?.({ a: 1, b: 2 }, {} as never)).toEqual({ sum: 3 });
      const mastra = new Mastra({ mcpServers: { server }, logger: false });
      expect(server.tools()['add']).not.toBe(before);
      expect(await server.tools()['ask_helper']?.execute?.({ message: 'x' }, {} as never)).toMatchObject({
        text: 'hi',
      });
      expect(Object.keys(mastra.listTools() ?? {})).toEqual(['add-id']);
      expect(mastra.getAgent('helper' as never)).toBeDefined();
    },
  );

  test('gives tools the Mastra instance', async () => {
    let seen: unknown;
    const look = createTool({
      id: 'look',
      description: 'L',
      execute: async (_i, { mastra }) => void (seen = mastra),
    });
    const server = serverOf({ tools: { look } });
    const mastra = new Mastra({ mcpServers: { server }, logger: false });
    await using caller = await callInMemory(server);
    await caller.call('look');
    expect(seen).toBe(mastra);
  });
});

describe('what the registry is told', () => {
  const repository = { url: 'https://example.com/r', source: 'github', id: '1' };
  const packages = [{ registry_name: 'npm', name: 'x', version: '1.0.0' }];
  const remotes = [{ transport_type: 'streamable', url: 'https://example.com/mcp' }];
  const full = serverOf({
    id: 'desk',
    description: 'A desk',
    repository,
    packages,
    remotes,
    releaseDate: '2024-01-01T00:00:00.000Z',
    isLatest: false,
    packageCanonical: 'npm',
  });
  const info = {
    id: 'desk',
    name: 'desk',
    description: 'A desk',
    repository,
    version_detail: { version: '1.2.0', release_date: '2024-01-01T00:00:00.000Z', is_latest: false },
  };

  verifies(['S131', 'S141', 'S177'], 'is name, version, release and repository', () => {
    expect(full.getServerInfo()).toEqual(info);
    const { version_detail, ...bare } = serverOf({ id: 'bare' }).getServerInfo();
    expect(bare).toEqual({ id: 'bare', name: 'desk' });
    expect(version_detail).toEqual({ version: '1.2.0', release_date: expect.any(String), is_latest: true });
  });

  verifies(['S141', 'S178'], 'has packages and remotes in the detail', () => {
    expect(full.getServerDetail()).toEqual({ ...info, package_canonical: 'npm', packages, remotes });
  });

  verifies(['S179', 'S180'], 'lists tools with their schemas and what they are made of', () => {
    const server = serverOf({ agents: { helper: helper() } });
    const tool = {
      id: 'add',
      name: 'add',
      description: 'Adds',
      inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
      outputSchema: expect.objectContaining({ required: ['sum'] }),
      _meta: { 'example.com/x': 1 },
    };
    const listed = server.getToolListInfo();
    expect(listed).toEqual({
      tools: [tool, expect.objectContaining({ name: 'ask_helper', toolType: 'agent' })],
    });
    expect(server.getToolInfo('add')).toEqual(tool);
    expect(server.getToolInfo('add-id')).toEqual(tool);
    expect(server.getToolInfo('zz')).toBeUndefined();
  });

  test('has no resources, and says so when one is read', async () => {
    expect(await full.listResources()).toEqual({ resources: [] });
    await expect(full.readResource('file://x')).rejects.toMatchObject({
      code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
      message: 'Resource not found: file://x',
      details: { status: 404 },
    });
  });
});

describe('log messages to everybody', () => {
  verifies(
    ['S207', 'S208', 'S210'],
    'reach every session that wants their level, and nobody is no error',
    async () => {
      const server = serverOf();
      await server.sendLoggingMessage({ level: 'error', data: 'nobody' });
      const seen: unknown[] = [];
      const listen = (name: string) => ({
        onNotification: (_: string, params: Record<string, unknown>) => void seen.push([name, params]),
      });
      await using one = await callByFetch(server, listen('one'));
      await using two = await callByFetch(server, listen('two'));
      await using serverless = await callByFetch(server, {
        ...listen('none'),
        facts: { options: { serverless: true } },
      });
      await serverless.client.ping();
      await one.client.ping();
      await two.client.setLoggingLevel('error');
      await server.sendLoggingMessage({ level: 'info', data: { a: 1 } });
      await server.sendLoggingMessage({ level: 'alert', data: 'fire', logger: 'house' });
      await until(() => seen.length === 3);
      expect(seen).toEqual(
        expect.arrayContaining([
          ['one', { level: 'info', data: { a: 1 } }],
          ['one', { level: 'alert', data: 'fire', logger: 'house' }],
          ['two', { level: 'alert', data: 'fire', logger: 'house' }],
        ]),
      );
      await server.close();
    },
  );
});

describe('transports', () => {
  verifies(
    ['S185', 'S186', 'S176'],
    'are given out for checks: one by session id, else the latest',
    async () => {
      const server = serverOf();
      expect(server.getStreamableHTTPTransport()).toBeUndefined();
      expect(server.getStdioTransport()).toBeUndefined();
      await using one = await callByFetch(server);
      const first = server.getStreamableHTTPTransport();
      await using two = await callByFetch(server);
      const second = server.getStreamableHTTPTransport();
      expect(second?.sessionId).not.toBe(first?.sessionId);
      expect(server.getStreamableHTTPTransport(first?.sessionId)).toBe(first);
      expect(server.getStreamableHTTPTransport('unknown')).toBeUndefined();
      await Promise.all([one.client.ping(), two.client.ping()]);
      await server.close();
      expect(server.getStreamableHTTPTransport()).toBeUndefined();
    },
  );

  test('an engine of the SDK can be had for a transport of one’s own', async () => {
    const server = serverOf();
    expect(server.getServer()).not.toBe(server.getServer());
    await using caller = await callInMemory(server);
    expect(await caller.text('add', { a: 1, b: 1 })).toBe('{"sum":2}');
  });

  verifies(
    'S202',
    'of one’s own are told about changes like all others, and closed with the server',
    async () => {
      const server = serverOf();
      const seen: string[] = [];
      await using caller = await callInMemory(server, { onNotification: method => seen.push(method) });
      server.getServer();
      await caller.client.ping();
      await server.toolActions.notifyListChanged();
      await until(() => seen.length === 1);
      const closed = new Promise<void>(resolve => {
        caller.client.onclose = () => resolve();
      });
      await server.close();
      await closed;
      await server.toolActions.notifyListChanged();
      expect(seen).toEqual(['notifications/tools/list_changed']);
    },
  );

  verifies(['S160', 'S161'], 'answer the requests of a node:http server on one path', async () => {
    const server = serverOf();
    const web = createServer((req, res) => {
      const url = new URL(req.url ?? '/', 'http://localhost');
      void server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
    await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
    expect(await client.callTool({ name: 'add', arguments: { a: 2, b: 2 } })).toMatchObject({
      structuredContent: { sum: 4 },
    });
    expect((await fetch(`${base}/other`)).status).toBe(404);
    await client.close();
    await server.close();
    web.closeAllConnections();
    await new Promise(resolve => web.close(resolve));
  });

  verifies(['D13', 'S163'], 'answer web-standard requests, with the options of the call', async () => {
    const server = serverOf();
    const request = new Request('http://localhost/any/path', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'add', arguments: { a: 1, b: 2 } },
      }),
    });
    const response = await server.fetch(request, { options: { serverless: true } });
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { sum: 3 } } });
    const wrong = server.fetch(new Request('http://localhost/'), { options: { retryInterval: -1 } });
    await expect(wrong).rejects.toMatchObject({ option: 'retryInterval' });
  });

  verifies('D13', 'listen on a port of their own, until the server closes', async () => {
    const server = serverOf();
    const { url, close } = await server.listen({ port: 0, path: '/tools' });
    expect(url.pathname).toBe('/tools');
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url));
    expect((await client.listTools()).tools).toHaveLength(1);
    await client.close();
    await server.close();
    await expect(fetch(url)).rejects.toThrow();
    await close();
    await expect(server.listen({ port: 0 })).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
  });

  test('refuse wrong options of listen', async () => {
    await expect(serverOf().listen({ port: 0, oauth: {} } as never)).rejects.toMatchObject({
      option: 'oauth.authorizationServers',
    });
    await expect(serverOf().listen({ port: -1 })).rejects.toMatchObject({ option: 'port' });
  });
});

describe('closing', () => {
  verifies(['S176', 'D14'], 'aborts what runs, ends every session, and is idempotent', async () => {
    const { tool, started } = gate();
    const server = serverOf({ tools: { wait: tool } });
    await using caller = await callByFetch(server);
    const call = caller.call('wait').catch(() => 'ended');
    await until(() => started() === 1);
    await Promise.all([server.close(), server.close()]);
    expect(await call).toBe('ended');
    const late = await server.fetch(new Request('http://localhost/mcp', { method: 'POST', body: '{}' }));
    expect(late.status).toBeGreaterThanOrEqual(400);
    await expect(server.executeTool('wait', {})).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
  });

  verifies('D14', 'with drainMs lets running calls finish and refuses new ones meanwhile', async () => {
    const { tool, release, started } = gate();
    const server = serverOf({ tools: { wait: tool } });
    await using web = await callByFetch(server);
    await using memory = await callInMemory(server);
    const running = [web.text('wait'), memory.text('wait'), server.executeTool('wait', {})];
    await until(() => started() === 3);
    const closing = server.close({ drainMs: 10_000 });
    await expect(memory.call('wait')).rejects.toMatchObject({ code: -32000 });
    await expect(server.executeTool('wait', {})).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
    release();
    expect(await Promise.all(running)).toEqual(['finished', 'finished', 'finished']);
    await closing;
    expect(started()).toBe(3);
  });

  verifies('D14', 'aborts the host’s own calls too', async () => {
    const { tool, started } = gate();
    const server = serverOf({ tools: { wait: tool } });
    const call = server.executeTool('wait', {});
    await until(() => started() === 1);
    await server.close();
    expect(await call).toBe('aborted');
  });

  verifies('D14', 'does not wait longer than drainMs', async () => {
    const { tool, started } = gate();
    const server = serverOf({ tools: { wait: tool } });
    await using caller = await callByFetch(server);
    const call = caller.call('wait').catch(() => 'ended');
    await until(() => started() === 1);
    await server.close({ drainMs: 30 });
    expect(await call).toBe('ended');
  });

  verifies('S176', 'happens at the end of an await using block', async () => {
    let kept: MCPServer;
    {
      await using server = serverOf();
      kept = server;
    }
    await expect(kept.listen({ port: 0 })).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
    await expect(kept.startStdio()).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
  });
});
