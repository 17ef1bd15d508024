import { expect } from 'vitest';
import { executeOf, openClient, rejection } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

const texts = [
  'session not found',
  'HTTP 404 Not Found',
  'Not connected',
  'Connection closed',
  'ECONNREFUSED fetch failed',
  'socket hang up',
];

verifies(
  ['R3', 'B06'],
  'an error is an error whatever it says: one execution each, in the same process',
  async () => {
    const ledger = temporaryFile();
    const server = serverProgram(`
    tools = [
      { name: 'refuse', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
      { name: 'fail', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
    ];
    call = ({ id, params }) => {
      fs.appendFileSync(process.env.LEDGER, process.pid + '\\n');
      const message = params.arguments.text;
      if (params.name === 'refuse') write({ jsonrpc: '2.0', id, error: { code: -32000, message } });
      else answer(id, { ...text(message), isError: true });
    };`);
    await using client = openClient({ server: { ...server, env: { LEDGER: ledger } } });
    const refuse = await executeOf(client, 'server_refuse');
    const fail = await executeOf(client, 'server_fail');
    for (const text of texts) {
      expect(await rejection(refuse({ text }))).toMatchObject({
        code: 'MCP_CLIENT_REQUEST_FAILED',
        rpcCode: -32000,
      });
      expect(await rejection(fail({ text }))).toMatchObject({ code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED' });
    }
    const runs = linesOf(ledger);
    expect(runs).toHaveLength(2 * texts.length);
    expect(new Set(runs).size).toBe(1);
  },
);
