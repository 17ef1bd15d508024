import { Agent } from '@mastra/core/agent';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { rawServer, rawTool } from '../support/raw-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const broken = {
  nested_required: { type: 'object', properties: { a: { type: 'string' }, required: ['a'] } },
  type_int: { type: 'object', properties: { a: { type: 'int' } } },
  type_strng: { type: 'object', properties: { a: { type: 'strng' } } },
};
const servers = {
  s: rawServer({
    tools: [
      ...Object.entries(broken).map(([name, inputSchema]) => rawTool(name, { definition: { inputSchema } })),
      rawTool('sound'),
    ],
  }),
};

verifies(['B24', 'D06'], 'each broken tool is listed as taking any object and reported by name', async () => {
  await using client = openClient(servers);
  const { errors, errorDetails } = await client.listToolsWithErrors();
  expect(errors).toEqual({});
  expect(errorDetails['s']?.tools.map(({ toolName, kind }) => [toolName, kind])).toEqual(
    Object.keys(broken).map(name => [name, 'schema']),
  );
  const execute = await executeOf(client, 's_type_strng');
  expect(textOf(await execute({ a: 1, b: [2] }))).toBe('{"a":1,"b":[2]}');
});

verifies(['B24', 'D06'], 'nothing malformed reaches the model', async () => {
  await using client = openClient(servers);
  const { model, toolsSeen } = scriptedModel([{ text: 'ok' }]);
  await new Agent({ id: 'a', name: 'a', instructions: 'x', model, tools: await client.listTools() }).generate(
    'hi',
  );
  const text = JSON.stringify(toolsSeen[0]);
  expect(text).toContain('s_sound');
  for (const malformed of ['"strng"', '"int"', '"required":["a"]']) expect(text).not.toContain(malformed);
});
