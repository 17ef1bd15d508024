/** Children that misbehave on purpose: plain Node, no SDK, so that every byte and every signal is the test's own. */

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Their noise stays out of the output of the tests. */
  readonly stderr: 'ignore';
}

/** Runs a piece of JavaScript in a process of its own. */
export function nodeProgram(source: string): Program {
  return { command: process.execPath, args: ['-e', source], stderr: 'ignore' };
}

const PRELUDE = `
const fs = require('node:fs');
const write = message => process.stdout.write(JSON.stringify(message) + '\\n');
const answer = (id, result) => write({ jsonrpc: '2.0', id, result });
const text = value => ({ content: [{ type: 'text', text: value }] });
const tool = (name, annotations) => ({ name, inputSchema: { type: 'object' }, ...(annotations && { annotations }) });
let capabilities = { tools: {} };
let tools = [tool('echo')];
let list = message => answer(message.id, { tools });
let call = message => answer(message.id, text('ok'));
const serve = message => {
  if (message.method === 'initialize') {
    const { protocolVersion } = message.params;
    answer(message.id, { protocolVersion, capabilities, serverInfo: { name: 'raw', version: '1.0.0' } });
  } else if (message.method === 'tools/list') list(message);
  else if (message.method === 'tools/call') call(message);
  else if (message.method === 'ping') answer(message.id, {});
};
const input = require('node:readline').createInterface({ input: process.stdin });
input.on('line', line => serve(JSON.parse(line)));
`;

/**
 * A server whose tool `echo` answers "ok". `source` may set `capabilities` and `tools`, replace `list(message)` and
 * `call(message)`, and use `write`, `answer`, `text`, `tool`, `fs` and the readline `input`.
 */
export function serverProgram(source = ''): Program {
  return nodeProgram(PRELUDE + source);
}
