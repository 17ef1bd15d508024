import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, rejection, textOf } from '../support/client.ts';

const server = { ...regressionInput('B33-progress-keeps-alive.mjs'), timeout: 1000 };

verifies(['B33', 'D03'], 'a call that reports progress outlives the idle limit', async () => {
  await using client = openClient({ s: server });
  const execute = await executeOf(client, 's_slow_but_alive');
  expect(textOf(await execute({}))).toBe('done, token present');
});

verifies(['B33', 'D03'], 'the total limit holds all the same, and the reset can be turned off', async () => {
  await using client = openClient({
    total: { ...server, maxTotalTimeout: 1500 },
    plain: { ...server, resetTimeoutOnProgress: false },
  });
  for (const name of ['total', 'plain']) {
    const execute = await executeOf(client, `${name}_slow_but_alive`);
    expect(await rejection(execute({}))).toMatchObject({ code: 'MCP_CLIENT_REQUEST_TIMEOUT' });
  }
});
