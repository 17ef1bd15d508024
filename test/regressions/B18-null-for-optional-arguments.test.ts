import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';

verifies('B18', 'null goes out only where the schema of the server allows it', async () => {
  const inputSchema = {
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: 'integer' },
      order: { enum: ['asc', 'desc'] },
      cursor: { type: ['string', 'null'] },
      filter: {
        type: 'object',
        properties: { from: { type: 'string' }, until: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      },
    },
    required: ['query'],
  };
  await using client = openClient({
    s: rawServer({ tools: [rawTool('search', { definition: { inputSchema } })] }),
  });
  const search = await executeOf(client, 's_search');
  const sent = async (input: object): Promise<unknown> => JSON.parse(textOf(await search(input)));
  expect(await sent({ query: 'x', limit: null, order: null, cursor: null })).toEqual({
    query: 'x',
    cursor: null,
  });
  expect(await sent({ query: 'x', filter: { from: null, until: null } })).toEqual({
    query: 'x',
    filter: { until: null },
  });
  expect(await search({ query: null })).toMatchObject({
    error: true,
    message: expect.stringContaining('query') as string,
  });
});
