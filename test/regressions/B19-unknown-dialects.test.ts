import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';

const dialects = {
  draft_04: 'http://json-schema.org/draft-04/schema#',
  draft_06: 'http://json-schema.org/draft-06/schema#',
  draft_2019: 'https://json-schema.org/draft/2019-09/schema',
  private: 'https://schemas.example.com/ours/v3',
};

verifies('B19', 'no dialect marker makes a call fail, and the schema still counts', async () => {
  const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
  const tools = Object.entries(dialects).map(([name, $schema]) =>
    rawTool(name, { definition: { inputSchema: { $schema, ...schema } } }),
  );
  await using client = openClient({ s: rawServer({ tools }) });
  for (const name of Object.keys(dialects)) {
    const execute = await executeOf(client, `s_${name}`);
    expect(textOf(await execute({ q: 'x' })), name).toBe('{"q":"x"}');
    expect(await execute({ q: 1 }), name).toMatchObject({ error: true });
  }
});
