import { expect } from 'vitest';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

/** What a call does before its answer; `lose` writes garbage in place of the answer. */
const server = serverProgram(`
  tools = ['lines', 'lose', 'before', 'json'].map(name => tool(name));
  call = ({ id, params }) => {
    fs.appendFileSync(process.env.LEDGER, params.name + ' ' + process.pid + '\\n');
    if (params.name === 'lines') process.stdout.write('garbage\\n'.repeat(1000));
    if (params.name === 'before') process.stdout.write('x'.repeat(12_000_000) + '\\n');
    if (params.name === 'json') process.stdout.write('{"garbage":"' + 'x'.repeat(12_000_000) + '\\n');
    if (params.name === 'lose') process.stdout.write('y'.repeat(12_000_000) + '\\n');
    else answer(id, text('ok'));
  };`);

verifies(
  ['R10', 'P5'],
  'lines and megabytes of garbage are dropped; a call without an answer ends by its limit, and runs once',
  async () => {
    const ledger = temporaryFile();
    await using client = openClient({ server: { ...server, env: { LEDGER: ledger }, timeout: 12_000 } });
    for (const name of ['lines', 'before', 'json']) {
      const execute = await executeOf(client, `server_${name}`);
      expect(textOf(await execute({}))).toBe('ok');
    }
    const lose = await executeOf(client, 'server_lose');
    expect(await rejection(lose({}))).toMatchObject({
      code: 'MCP_CLIENT_REQUEST_TIMEOUT',
      mayHaveExecuted: true,
    });
    const lines = await executeOf(client, 'server_lines');
    expect(textOf(await lines({}))).toBe('ok');
    const runs = linesOf(ledger).map(line => line.split(' '));
    expect(runs.map(([name]) => name)).toEqual(['lines', 'before', 'json', 'lose', 'lines']);
    expect(new Set(runs.map(([, pid]) => pid)).size).toBe(1);
  },
  60_000,
);

verifies(
  ['P5', 'R10'],
  'a flood of JSON above the limit ends the call and the process, in bounded memory',
  async () => {
    const flood = serverProgram(`
    call = ({ id, params }) => {
      process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"');
      const piece = 'x'.repeat(1024 * 1024);
      const more = () => process.stdout.write(piece, error => { if (!error) setImmediate(more); });
      if (params.arguments.endless) more();
      else process.stdout.write('ok"}]}}\\n');
    };
    tools = [{ name: 'echo', inputSchema: { type: 'object', properties: { endless: { type: 'boolean' } } } }];`);
    await using client = openClient({ server: { ...flood, maxMessageBytes: 16 * 1024 * 1024 } });
    const echo = await executeOf(client, 'server_echo');
    const before = process.memoryUsage.rss();
    const error = await rejection(echo({ endless: true }));
    expect(process.memoryUsage.rss() - before).toBeLessThan(150e6);
    expect(error).toMatchObject({ code: 'MCP_CLIENT_MESSAGE_TOO_LARGE', mayHaveExecuted: true });
    expect(error.message).toContain('the limit is 16777216');
    expect(textOf(await echo({}))).toBe('ok');
  },
);
