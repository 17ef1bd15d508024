import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection, textOf } from '../support/client.ts';
import { serverProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

const flood = regressionInput('B79-stderr-flood.mjs');

for (const stderr of ['pipe', 'ignore'] as const) {
  verifies(['B79', 'P4', 'S245'], `4 MB on standard error block nothing with stderr ${stderr}`, async () => {
    await using client = openClient({ chatty: { ...flood, stderr } });
    const echo = await executeOf(client, 'chatty_echo');
    expect(textOf(await echo({ a: 1 }))).toContain('ok');
    const stream = client.getServerStderr('chatty');
    if (stderr === 'ignore') {
      expect(stream).toBeNull();
    } else {
      // Nobody read: the latest lines are there.
      let text = '';
      stream?.on('data', chunk => (text += String(chunk)));
      await client.disconnect();
      expect(text).toContain(`log line ${'y'.repeat(90)}\n`);
      expect(text.length).toBeLessThan(1_000_000);
    }
  });
}

verifies(
  ['B79', 'D15'],
  'the end of standard error is in the error of a crash and of a failed connect',
  async () => {
    const { command, args } = serverProgram(`
    call = () => process.stderr.write('x'.repeat(20_000) + '\\nfatal: disk full\\n', () => process.exit(4));`);
    await using client = openClient({
      crashing: { command, args, stderr: 'ignore' },
      failing: {
        command: process.execPath,
        args: ['-e', `process.stderr.write('no licence\\n', () => process.exit(5))`],
        stderr: 'ignore',
      },
    });
    const call = await executeOf(client, 'crashing_echo');
    const crash = await rejection(call({}));
    expect(crash).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST', mayHaveExecuted: true });
    expect(crash.message).toContain('exited with code 4');
    expect(crash.message).toContain('fatal: disk full');
    expect(crash.message.length).toBeLessThan(10_000);
    const failed = await rejection(client.ping('failing'));
    expect(failed).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED', mayHaveExecuted: false });
    expect(failed.message).toContain('exited with code 5');
    expect(failed.message).toContain('no licence');
  },
);
