import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, rejection } from '../support/client.ts';

const server = regressionInput('B82-error-result.mjs');

verifies('B82', 'every failed result is thrown with its text and its content', async () => {
  await using client = openClient({ s: server });
  const failure = async (name: string) => await rejection((await executeOf(client, `s_${name}`))({}));
  const common = { code: 'MCP_CLIENT_TOOL_EXECUTION_FAILED', serverName: 's' };
  expect(await failure('plain_error')).toMatchObject({ ...common, message: 'API key invalid' });
  expect(await failure('schema_error')).toMatchObject({ ...common, message: 'API key invalid' });
  const many = await failure('many_blocks');
  expect(many).toMatchObject({ ...common, message: 'first reason\nsecond reason' });
  expect(many).toHaveProperty('content.length', 3);
  expect((await failure('silent_error')).message).not.toBe('');
});

verifies('B82', 'onToolError "return" gives the result itself, also with an output schema', async () => {
  await using client = openClient({ s: { ...server, onToolError: 'return' } });
  for (const name of ['plain_error', 'schema_error', 'many_blocks', 'silent_error']) {
    expect(await (await executeOf(client, `s_${name}`))({}), name).toMatchObject({ isError: true });
  }
});
