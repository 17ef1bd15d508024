import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, textOf } from '../support/client.ts';
import { collectUnhandled } from '../support/unhandled.ts';

verifies(['B44', 'X08'], 'a tool that asks a client without a handler is declined and goes on', async () => {
  await using client = openClient({ s: regressionInput('B44-elicits-without-handler.mjs') });
  const ask = await executeOf(client, 's_needs_answer');
  expect(textOf(await ask({}))).toBe('client answered {"action":"decline"}');
  const stop = await client.elicitation.onRequest('s', () => ({
    action: 'accept',
    content: { colour: 'red' },
  }));
  expect(textOf(await ask({}))).toBe('client answered {"action":"accept","content":{"colour":"red"}}');
  stop();
  expect(textOf(await ask({}))).toBe('client answered {"action":"decline"}');
});

verifies('B44', 'a handler that throws is an error answer, never a crash', async () => {
  using unhandled = collectUnhandled();
  await using client = openClient({ s: regressionInput('B44-elicits-without-handler.mjs') });
  await client.elicitation.onRequest('s', () => {
    throw new Error('no screen');
  });
  const ask = await executeOf(client, 's_needs_answer');
  expect(textOf(await ask({}))).toBe(
    'client answered {"code":-32603,"message":"The handler of the client failed"}',
  );
  expect(await unhandled.found()).toEqual([]);
});
