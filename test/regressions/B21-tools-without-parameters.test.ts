import { readFileSync } from 'node:fs';
import { Agent } from '@mastra/core/agent';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { rawServer } from '../support/raw-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const { tools } = JSON.parse(
  readFileSync(new URL('inputs/B14-schema-kinds-1.json', import.meta.url), 'utf8'),
) as { tools: { name: string }[] };
const servers = {
  s: rawServer({
    tools: tools.filter(({ name }) => name === 'no_properties').map(definition => ({ definition })),
  }),
};

verifies('B21', 'nothing, null and an empty text become an empty object', async () => {
  await using client = openClient(servers);
  const execute = await executeOf(client, 's_no_properties');
  for (const nothing of [undefined, null, '', {}]) expect(textOf(await execute(nothing))).toBe('{}');
});

verifies('B21', 'the model is offered an object with no properties', async () => {
  await using client = openClient(servers);
  const { model, toolsSeen } = scriptedModel([{ text: 'ok' }]);
  await new Agent({ id: 'a', name: 'a', instructions: 'x', model, tools: await client.listTools() }).generate(
    'hi',
  );
  expect(toolsSeen[0]).toMatchObject([
    { name: 's_no_properties', inputSchema: { type: 'object', properties: {} } },
    {},
  ]);
});
