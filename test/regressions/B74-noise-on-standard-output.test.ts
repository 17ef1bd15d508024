import { expect } from 'vitest';
import { executeOf, openClient, regressionInput, rejection, textOf } from '../support/client.ts';
import { nodeProgram } from '../support/node-program.ts';
import { verifies } from '../requirements/requirements.ts';

verifies(
  'B74',
  'banners, logs, arrays, CRLF and a cut character on standard output disturb nothing',
  async () => {
    await using client = openClient({
      noisy: { ...regressionInput('B74-stdout-noise.mjs') },
    });
    const echo = await executeOf(client, 'noisy_echo');
    expect(textOf(await echo({}))).toBe('gr\u00fc\u00df \u{1F600}');
    expect(client.getServerStatus()['noisy']?.state).toBe('ready');
  },
);

verifies('B74', 'the first line that is no message is in the error of a failed connect', async () => {
  await using client = openClient({
    wrong: {
      ...nodeProgram(`console.log('usage: server --port <port>'); console.log('more'); process.exit(2)`),
    },
  });
  const { errors, tools } = await client.listToolsWithErrors();
  expect(tools).toEqual({});
  expect(errors['wrong']).toContain('usage: server --port <port>');
  expect(errors['wrong']).toContain('exited with code 2');
});

verifies(
  'B74',
  'and it is there as well when the program stays silent until the limit of the connect',
  async () => {
    await using client = openClient({
      wrong: {
        ...nodeProgram(
          `console.log('Listening on port 3000'); console.error('hint'); process.stdin.resume();`,
        ),
        connectTimeout: 1500,
      },
    });
    const error = await rejection(client.ping('wrong'));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_CONNECT_TIMEOUT', mayHaveExecuted: false });
    expect(error.message).toContain('Listening on port 3000');
    expect(error.message).toContain('hint');
  },
);
