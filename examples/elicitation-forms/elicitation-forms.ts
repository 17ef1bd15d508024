/** Forms of a server, answered in a terminal and by the controls of a user interface. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { createTool } from '@mastra/core/tools';
import { createInterface } from 'node:readline/promises';
import { MCPClient, MCPServer } from '../../src/index.ts';
import { answerBySchema, type Control } from './by-schema.ts';
import { answerInTerminal } from './in-terminal.ts';

const register = createTool({
  id: 'register',
  description: 'Registers a visitor.',
  execute: async (_input, context) => {
    const answer = await context.mcp?.elicitation.sendRequest({
      message: 'Who visits us? We print a badge.',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name' },
          email: { type: 'string', format: 'email', description: 'for the receipt' },
          size: { type: 'string', enum: ['S', 'M', 'L'], default: 'M' },
        },
        required: ['name'],
      },
    });
    return `${answer?.action} ${JSON.stringify(answer?.content ?? null)}`;
  },
});
const server = new MCPServer({ id: 'desk', name: 'Desk', version: '1.0.0', tools: { register } });
const { url } = await server.listen({ port: 0 });
const mcp = new MCPClient({ servers: { desk: { url } } });
const { desk_register: remote } = await mcp.listTools();
const call = async (): Promise<unknown> => {
  const result = await remote?.execute({});
  return (result as { content: { text: string }[] }).content[0]?.text;
};

// Somebody types whenever something is asked. A program of yours gives `process.stdin` and `process.stdout` instead.
const input = new PassThrough();
const output = new PassThrough();
let keyboard: string[] = [];
let screen = '';
output.on('data', (chunk: Buffer) => {
  screen += String(chunk);
  if (screen.endsWith(': ')) input.write(`${keyboard.shift() ?? 'cancel'}\n`);
});

// #region use
const terminal = createInterface({ input, output });
await mcp.elicitation.onRequest(
  'desk',
  answerInTerminal({
    question: text => terminal.question(text),
    write: text => void output.write(text),
  }),
);
// #endregion use

for (const [typed, expected] of [
  [['Ada', 'ada@example.com', 'S', 'yes'], 'accept {"name":"Ada","email":"ada@example.com","size":"S"}'],
  [['Ada', '', '', 'Y'], 'accept {"name":"Ada"}'],
  [['Ada', '', '', 'no'], 'decline null'],
  [['Ada', '', '', 'cancel'], 'cancel null'],
  [['Ada', 'CANCEL'], 'cancel null'],
  [[''], 'decline null'],
] as const) {
  keyboard = [...typed];
  assert.equal(await call(), expected);
  assert.deepEqual(keyboard, [], 'everything was asked for');
}
assert.match(screen, /desk asks: Who visits us\? We print a badge\./);
assert.match(screen, /Name \*required\*: /);
assert.match(screen, /email \(for the receipt\): /);
assert.match(screen, /name is required/);

const shown: Control[] = [];
let values: Readonly<Record<string, string>> = { name: 'Grace', size: 'L' };
await mcp.elicitation.onRequest(
  'desk',
  answerBySchema(
    control => {
      shown.push(control);
      return Promise.resolve(values[control.name] ?? null);
    },
    () => Promise.resolve(false),
  ),
);
assert.equal(await call(), 'accept {"name":"Grace","size":"L"}');
assert.deepEqual(
  shown.map(({ name, title, type, format, enum: choices, required, initial }) => [
    name,
    title,
    type,
    format,
    choices,
    required,
    initial,
  ]),
  [
    ['name', 'Name', 'string', undefined, undefined, true, undefined],
    ['email', undefined, 'string', 'email', undefined, false, undefined],
    ['size', undefined, 'string', undefined, ['S', 'M', 'L'], false, 'M'],
  ],
);
values = {};
assert.equal(await call(), 'decline null');

terminal.close();
await mcp.disconnect();
await server.close();
