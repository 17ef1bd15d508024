import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection, textOf } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

const input = regressionInput('B62-huge-and-odd-text.mjs');

verifies(
  'B62',
  'a result of 20 MB arrives, and odd text arrives unchanged',
  async () => {
    await using client = openClient({ texts: { ...input } });
    const big = await executeOf(client, 'texts_big');
    const text = textOf(await big({}));
    expect(text.length).toBe(20 * 1024 * 1024);
    expect(text === '0123456789abcdef'.repeat(65536 * 20)).toBe(true);
    const odd = await executeOf(client, 'texts_odd');
    expect(textOf(await odd({}))).toBe('\ud83d\ude80 \ud83d lone \u2028 sep \u0000 nul \u202e rtl');
  },
  60_000,
);

verifies(
  ['B62', 'D15'],
  'a result above the limit fails that call with size and limit; nothing is repeated',
  async () => {
    const ledger = temporaryFile();
    const limit = 1_000_000;
    const { command, args } = serverProgram(`
    call = message => {
      fs.appendFileSync(process.env.LEDGER, 'called\\n');
      answer(message.id, text('x'.repeat(Number(message.params.arguments.size))));
    };
    tools = [{ name: 'read', inputSchema: { type: 'object', properties: { size: { type: 'number' } } }, annotations: { readOnlyHint: true } }];`);
    await using client = openClient({
      texts: { command, args, env: { LEDGER: ledger }, maxMessageBytes: limit },
    });
    const read = await executeOf(client, 'texts_read');
    const error = await rejection(read({ size: 3_000_000 }));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_MESSAGE_TOO_LARGE', mayHaveExecuted: true });
    expect(error.message).toMatch(/at least \d{7} bytes, the limit is 1000000/);
    expect(linesOf(ledger)).toHaveLength(1);
    expect(textOf(await read({ size: 500_000 }))).toHaveLength(500_000);
    expect(linesOf(ledger)).toHaveLength(2);
  },
);
