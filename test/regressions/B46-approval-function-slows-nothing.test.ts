import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { expect } from 'vitest';
import type { RequireToolApproval } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { startScripted } from '../support/scripted-server.ts';

/** The most calls that were at the server at once, of two that the model makes in one answer. */
async function overlapOf(
  requireToolApproval: RequireToolApproval,
): Promise<{ most: number; finish: unknown }> {
  let [running, most] = [0, 0];
  await using server = await startScripted({
    answers: {
      'tools/call': async () => {
        running += 1;
        most = Math.max(most, running);
        // Neither answer leaves before the other call came, or never will.
        await until('the other call came', () => most === 2, 1500).catch(() => undefined);
        running -= 1;
        return { content: [{ type: 'text', text: 'ok' }] };
      },
    },
  });
  await using client = openClient({ shop: { url: server.url, openEventStream: false, requireToolApproval } });
  const tools = await client.listTools();
  expect(tools['shop_echo']).toMatchObject({ requireApproval: true });
  const call = { call: 'shop_echo', args: {} };
  const { model } = scriptedModel([{ ...call, id: 'c1', beside: [{ ...call, id: 'c2' }] }, { text: 'done' }]);
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'BASE', model, tools });
  const mastra = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
  const { finishReason } = await mastra.getAgent('agent').generate('go');
  return { most, finish: finishReason };
}

verifies(
  ['B46', 'S055', 'S057'],
  'calls that the function lets pass run at the same time, though the flag is set beside it',
  async () => {
    expect(await overlapOf(() => false)).toEqual({ most: 2, finish: 'stop' });
    expect(await overlapOf(async () => false)).toEqual({ most: 2, finish: 'stop' });
  },
);

verifies('B46', 'calls that the function stops do not run at all', async () => {
  expect(await overlapOf(() => true)).toEqual({ most: 0, finish: 'suspended' });
});
