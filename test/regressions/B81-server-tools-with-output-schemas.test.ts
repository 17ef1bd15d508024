import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z } from 'zod';
import { verifies } from '../requirements/requirements.ts';
import { wire } from '../support/wire.ts';

const tool = (id: string, outputSchema: z.ZodType | undefined, output: unknown) =>
  createTool({
    id,
    description: id,
    inputSchema: z.object({}),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    execute: async () => output as never,
  });

const point = z.object({ x: z.number() });
const tools = {
  object: tool('object', point, { x: 1 }),
  array: tool('array', z.array(z.number()), [1, 2]),
  nothing: tool('nothing', undefined, undefined),
  big: tool('big', undefined, { n: 2n ** 70n }),
  wrong: tool('wrong', point, { x: 'one' }),
  ready: tool('ready', undefined, {
    content: [{ type: 'text', text: 'for people' }],
    structuredContent: { for: 'machines' },
    _meta: { 'example.com/k': 1 },
  }),
};

verifies(
  ['B81', 'D08'],
  'every kind of output becomes a faithful result, never a protocol error',
  async () => {
    await using joined = await wire('fetch', { server: { tools } });
    const remote = await joined.client.listTools();
    const call = async (name: string): Promise<unknown> => await remote[`fixture_${name}`]?.execute({});
    expect(await call('object')).toEqual({ x: 1 });
    expect(await call('array')).toEqual({ content: [{ type: 'text', text: '[1,2]' }] });
    expect(await call('nothing')).toEqual({ content: [] });
    expect(JSON.stringify(await call('big'))).toContain('1180591620717411303424');
    await expect(call('wrong')).rejects.toMatchObject({
      code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED',
      message: expect.stringMatching(/\bx\b/),
    });
    expect(await call('ready')).toMatchObject({
      content: [{ type: 'text', text: 'for people' }],
      structuredContent: { for: 'machines' },
      _meta: { 'example.com/k': 1 },
    });
  },
);

verifies(['B81', 'D08'], 'an output schema whose root is no object is not advertised', async () => {
  await using joined = await wire('fetch', { server: { tools } });
  const remote = await joined.client.listTools();
  expect(remote['fixture_object']?.outputSchema).toBeDefined();
  expect(remote['fixture_array']?.outputSchema).toBeUndefined();
});
