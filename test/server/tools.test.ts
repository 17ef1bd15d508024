import { createTool } from '@mastra/core/tools';
import { afterEach, describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory } from './call-harness.ts';

const add = createTool({
  id: 'add-intrinsic',
  title: 'Addition',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  mcp: { annotations: { readOnlyHint: true }, _meta: { 'x/y': 1 } },
  execute: async ({ a, b }) => ({ sum: a + b }),
});

describe('smoke', () => {
  verifies(['S129', 'S132'], 'serves a tool', async () => {
    const server = new MCPServer({ name: 's', version: '1.0.0', tools: { add } });
    await using caller = await callInMemory(server);
    const { tools } = await caller.client.listTools();
    console.log(JSON.stringify(tools));
    console.log(JSON.stringify(await caller.call('add', { a: 1, b: 2 })));
    console.log(JSON.stringify(await caller.call('add', { a: 1, b: 'x' })));
    await expect(caller.call('nope')).rejects.toThrow();
    await using web = await callByFetch(server);
    console.log(JSON.stringify(await web.call('add', { a: 1, b: 2 })));
    await server.close();
  });
});
