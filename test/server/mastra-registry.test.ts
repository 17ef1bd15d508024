import type { ToolsInput } from '@mastra/core/agent';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { callInMemory } from './call-harness.ts';

const tool = (id: string) => createTool({ id, description: id, execute: async () => id });

const serverOf = (tools: ToolsInput, more: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ name: 'shop', version: '1.0.0', tools, ...more });

const registered = (mastra: Mastra): Readonly<Record<string, unknown>> => mastra.listTools() ?? {};

describe('servers in a Mastra instance', () => {
  verifies('S130', 'are listed by key and found by id, in the version that was asked for', () => {
    const release = (id: string, version: string, releaseDate: string): MCPServer =>
      serverOf({}, { id, version, releaseDate });
    const old = release('Shop One', '1.0.0', '2024-01-01T00:00:00Z');
    const latest = release('Shop One', '2.0.0', '2025-01-01T00:00:00Z');
    const other = serverOf({});
    const mastra = new Mastra({ mcpServers: { latest, old, other }, logger: false });
    expect(mastra.listMCPServers()).toEqual({ latest, old, other });
    expect(mastra.getMCPServer('old')).toBe(old);
    // An id is made fit for a URL, and final: the key does not replace it.
    expect([old.id, latest.id]).toEqual(['shop-one', 'shop-one']);
    expect(mastra.getMCPServerById('shop-one')).toBe(latest);
    expect(mastra.getMCPServerById('shop-one', '1.0.0')).toBe(old);
    expect(mastra.getMCPServerById('shop-one', '3.0.0')).toBeUndefined();
    expect(mastra.getMCPServerById('nowhere')).toBeUndefined();
    // Without an id of its own a server takes its key, once.
    expect(other.id).toBe('other');
    expect(mastra.getMCPServerById('other')).toBe(other);
    mastra.addMCPServer(other, 'again');
    expect(other.id).toBe('other');
    expect(mastra.listMCPServers()).toMatchObject({ again: other });
  });

  verifies(['S130', 'X33'], 'have an id that nobody else has while they are in none', () => {
    const [one, two] = [serverOf({}), serverOf({})];
    expect(one.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.id).not.toBe(two.id);
  });

  verifies(
    ['S129', 'S204'],
    'bring their tools, agents and workflows along, also when added later',
    async () => {
      const { model } = scriptedModel([{ text: 'hi' }]);
      const helper = new Agent({ id: 'helper', name: 'H', description: 'Helps', instructions: 'x', model });
      const server = serverOf({ buy: tool('buy-id') }, { agents: { helper } });
      const mastra = new Mastra({ logger: false });
      await server.toolActions.add({ sell: tool('sell-id') });
      mastra.addMCPServer(server, 'shop');
      expect(Object.keys(registered(mastra))).toEqual(['buy-id', 'sell-id']);
      expect(mastra.getAgentById('helper')).toBe(helper);
      await server.toolActions.remove(['sell']);
      expect(Object.keys(registered(mastra))).toEqual(['buy-id']);
    },
  );
});

describe('tools that come and go', () => {
  verifies('S204', 'are in the registry as long as they are served, under their own id', async () => {
    const server = serverOf({ a: tool('a-id') });
    const mastra = new Mastra({ mcpServers: { server }, logger: false });
    await using caller = await callInMemory(server);
    const served = async () => (await caller.client.listTools()).tools.map(({ name }) => name);
    const added = tool('b-id');
    await server.toolActions.add({ b: added });
    expect(registered(mastra)['b-id']).toBe(added);
    expect(mastra.getToolById('b-id')).toBe(added);
    expect(await served()).toEqual(['a', 'b']);
    // The same key with another tool: the old id goes with it.
    await server.toolActions.add({ b: tool('c-id') });
    expect(Object.keys(registered(mastra))).toEqual(['a-id', 'c-id']);
    expect(await served()).toEqual(['a', 'b']);
    await server.toolActions.remove(['a', 'c-id']);
    expect(registered(mastra)).toEqual({});
    expect(await served()).toEqual([]);
  });

  verifies(
    'S204',
    'leave what the application registered itself, even when it is the same tool',
    async () => {
      const shared = tool('shared');
      const server = serverOf({ shared });
      const mastra = new Mastra({
        mcpServers: { server },
        tools: { shared: shared as never },
        logger: false,
      });
      await server.toolActions.remove(['shared']);
      expect(registered(mastra)).toEqual({ shared });
    },
  );

  verifies(
    'S204',
    'stay while another key serves the same tool, and make room for the next one',
    async () => {
      const [one, two] = [tool('same'), tool('same')];
      const server = serverOf({ first: one, second: one, third: two });
      const mastra = new Mastra({ mcpServers: { server }, logger: false });
      await server.toolActions.remove(['first']);
      expect(registered(mastra)['same']).toBe(one);
      await server.toolActions.remove(['second']);
      expect(registered(mastra)['same']).toBe(two);
      await server.toolActions.remove(['third']);
      expect(registered(mastra)).toEqual({});
    },
  );

  test('are not in the registry when they have no id, as tools of the AI SDK', async () => {
    const server = serverOf({});
    const mastra = new Mastra({ mcpServers: { server }, logger: false });
    const bare = { description: 'Bare', inputSchema: z.object({}), execute: async () => 'bare' };
    await server.toolActions.add({ bare: bare as never });
    expect(registered(mastra)).toEqual({});
    expect(await server.executeTool('bare', {})).toBe('bare');
    await server.toolActions.remove(['bare']);
  });
});
