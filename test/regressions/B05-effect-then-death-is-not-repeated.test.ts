import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { verifies } from '../requirements/requirements.ts';

verifies(
  ['B05', 'D04'],
  'a call whose server died after the effect is not repeated; the next call connects anew',
  async () => {
    const ledger = temporaryFile();
    await using client = openClient({
      bank: { ...regressionInput('B05-effect-then-die.mjs'), env: { LEDGER: ledger } },
    });
    const charge = await executeOf(client, 'bank_charge_card');
    const error = await rejection(charge({}));
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_CONNECTION_LOST',
      serverName: 'bank',
      mayHaveExecuted: true,
    });
    expect(error.message).toContain('exited with code 1');
    expect(linesOf(ledger)).toHaveLength(1);

    await rejection(charge({}));
    const charges = linesOf(ledger);
    expect(charges).toHaveLength(2);
    expect(new Set(charges).size).toBe(2);
  },
);
