/** Prompts in versions, and suggestions for their arguments. The client is the SDK's. */
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
// #region prompts
import { MCPServer } from '../../src/index.ts';
import type { MCPServerCompletions, MCPServerPrompts, Prompt } from '../../src/index.ts';
// #endregion prompts

// #region prompts
const args = [
  { name: 'code', description: 'The code to analyze', required: true },
  { name: 'language', description: 'What it is written in' },
];

const listed: Prompt[] = [
  {
    name: 'analyze-code',
    version: 'v1',
    description: 'Analyze code for improvements',
    arguments: args,
  },
  {
    name: 'analyze-code',
    version: 'v2',
    description: 'Analyze code for improvements (new logic)',
    arguments: args,
  },
];

const prompts: MCPServerPrompts = {
  listPrompts: async () => listed,
  getPromptMessages: async ({ version, args: { code, language = 'plain text' } }) => {
    const how = version === 'v2' ? ' with the new logic' : '';
    return [
      {
        role: 'user',
        content: { type: 'text', text: `Analyze this ${language}${how}: ${code}` },
      },
    ];
  },
};
// #endregion prompts

// #region completions
const completions: MCPServerCompletions = {
  complete: ({ ref, argument }) => {
    if (ref.type !== 'ref/prompt' || argument.name !== 'language') return [];
    return ['JavaScript', 'Python', 'TypeScript'].filter(language =>
      language.toLowerCase().startsWith(argument.value.toLowerCase()),
    );
  },
};
// #endregion completions

// #region server
const server = new MCPServer({
  id: 'promptful-server',
  name: 'Promptful Server',
  version: '1.0.0',
  prompts,
  completions,
});
// #endregion server

const { url } = await server.listen({ port: 0 });
const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(url));

const { prompts: shown } = await client.listPrompts();
assert.deepEqual(
  shown.map(({ name, _meta }) => [name, _meta?.['version']]),
  [
    ['analyze-code', 'v1'],
    ['analyze-code@v2', 'v2'],
  ],
);

const textOf = async (params: Parameters<typeof client.getPrompt>[0]): Promise<string> => {
  const { messages } = await client.getPrompt(params);
  return messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('\n');
};
const given = { code: 'let x' };
// #region ask
assert.equal(await textOf({ name: 'analyze-code', arguments: given }), 'Analyze this plain text: let x');
const v2 = 'Analyze this plain text with the new logic: let x';
assert.equal(await textOf({ name: 'analyze-code@v2', arguments: given }), v2);
assert.equal(await textOf({ name: 'analyze-code', arguments: given, _meta: { version: 'v2' } }), v2);
// #endregion ask

await assert.rejects(client.getPrompt({ name: 'analyze-code' }), {
  code: -32602,
  message: 'MCP error -32602: The prompt "analyze-code" needs the argument "code"',
});
await assert.rejects(client.getPrompt({ name: 'analyze-code@v3', arguments: given }), { code: -32602 });

const { completion } = await client.complete({
  ref: { type: 'ref/prompt', name: 'analyze-code' },
  argument: { name: 'language', value: 'ty' },
});
assert.deepEqual(completion, { values: ['TypeScript'], total: 1, hasMore: false });

// #region changed
listed.push({ name: 'explain-code', description: 'Explain code', arguments: args });
await server.prompts.notifyListChanged(); // to every client
// #endregion changed
assert.equal((await client.listPrompts()).prompts.length, 3);

await client.close();
await server.close();
