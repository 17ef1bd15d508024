import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { verifies } from '../requirements/requirements.ts';

verifies(
  ['R2', 'D15'],
  'a call that kills its server runs once; after five crashes nothing is started until the cool-down ends',
  async () => {
    const ledger = temporaryFile();
    await using client = openClient({
      fragile: { ...regressionInput('B05-effect-then-die.mjs'), env: { LEDGER: ledger } },
    });
    const crash = await executeOf(client, 'fragile_charge_card');
    for (let crashes = 1; crashes <= 5; crashes += 1) {
      const error = await rejection(crash({}));
      expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST', mayHaveExecuted: true });
      expect(linesOf(ledger)).toHaveLength(crashes);
    }
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const before = performance.now();
      const refused = await rejection(crash({}));
      expect(refused).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', mayHaveExecuted: false });
      expect(refused.message).toContain('crashed 5 times');
      expect(performance.now() - before).toBeLessThan(300);
    }
    expect(client.getServerStatus()['fragile']?.state).toBe('failed');
    expect(linesOf(ledger)).toHaveLength(5);

    await client.reconnectServer('fragile');
    expect(client.getServerStatus()['fragile']?.state).toBe('ready');
    expect(await rejection(crash({}))).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST' });
    expect(linesOf(ledger)).toHaveLength(6);
  },
);
