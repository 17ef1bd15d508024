import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z as z4 } from 'zod';
import { z as z3 } from 'zod/v3';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient, textOf } from '../support/client.ts';

/** A schema of no library at all: what the Standard Schema interface asks for, and its JSON form. */
const ofNobody = {
  '~standard': {
    version: 1 as const,
    vendor: 'nobody',
    validate: (value: unknown) =>
      typeof Object(value).n === 'number'
        ? { value: value as { n: number } }
        : { issues: [{ message: 'n must be a number', path: ['n'] }] },
    jsonSchema: {
      input: () => ({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
      output: () => ({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    },
  },
};
const number = { type: 'number' as const };
const plain = { type: 'object' as const, properties: { n: number }, required: ['n'] };
const execute = async (input: unknown): Promise<string> => `got ${JSON.stringify(input)}`;

verifies(
  'B99',
  'tools with schemas of zod 4, zod 3, of no library and of plain JSON are typed, listed, checked and called alike',
  async () => {
    const tools = {
      four: createTool({
        id: 'four',
        description: 'zod 4',
        inputSchema: z4.object({ n: z4.number() }),
        execute: async ({ n }) => `got ${JSON.stringify({ n: n satisfies number })}`,
      }),
      three: createTool({
        id: 'three',
        description: 'zod 3',
        inputSchema: z3.object({ n: z3.number() }),
        execute: async ({ n }) => `got ${JSON.stringify({ n: n satisfies number })}`,
      }),
      nobody: createTool({ id: 'nobody', description: 'no library', inputSchema: ofNobody, execute }),
      json: createTool({ id: 'json', description: 'JSON', inputSchema: plain, execute }),
    };
    await using server = new MCPServer({ id: 'zods', name: 'Zods', version: '1.0.0', tools });
    const { url } = await server.listen({ port: 0 });
    await using client = openClient({ zods: { url } });
    const { zods = {} } = await client.listToolDefinitions();
    const listed = await client.listTools();
    for (const name of Object.keys(tools)) {
      expect(zods[name]?.inputSchema, name).toMatchObject(plain);
      const tool = listed[`zods_${name}`];
      expect(textOf(await tool?.execute({ n: 7 })), name).toBe('got {"n":7}');
      expect(await tool?.execute({ n: 'x' }), name).toMatchObject({ error: true });
    }
  },
);
