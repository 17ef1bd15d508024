import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, regressionInput } from '../support/client.ts';
import { serverProgram } from '../support/node-program.ts';

const quiet = { stderr: 'ignore' } as const;

verifies(
  'B37',
  'a silent listing is reported by name after the limit; the tools of the others are there',
  async () => {
    await using client = openClient({
      silent: { ...regressionInput('B37-list-never-answers.mjs'), ...quiet, timeout: 500 },
      healthy: { ...serverProgram(), ...quiet },
    });
    await Promise.all([client.ping('silent'), client.ping('healthy')]);
    const started = performance.now();
    const { tools, errors, errorDetails, durations } = await client.listToolsWithErrors();
    expect(performance.now() - started).toBeLessThan(1500);
    expect(Object.keys(tools)).toEqual(['healthy_echo']);
    expect(Object.keys(errors)).toEqual(['silent']);
    expect(errors['silent']).toContain('"silent"');
    expect(errorDetails['silent']?.error).toMatchObject({
      code: 'MCP_CLIENT_REQUEST_TIMEOUT',
      method: 'tools/list',
    });
    expect(durations['healthy']).toBeLessThan(500);
    expect(durations['silent']).toBeGreaterThanOrEqual(490);
  },
);

verifies(['B37', 'S075'], 'perServerTimeoutMs bounds it as well', async () => {
  await using client = openClient({
    silent: { ...regressionInput('B37-list-never-answers.mjs'), ...quiet },
    healthy: { ...serverProgram(), ...quiet },
  });
  await Promise.all([client.ping('silent'), client.ping('healthy')]);
  const { tools, errors } = await client.listToolsWithErrors({ perServerTimeoutMs: 500 });
  expect(Object.keys(tools)).toEqual(['healthy_echo']);
  expect(errors['silent']).toContain('500 ms');
});
