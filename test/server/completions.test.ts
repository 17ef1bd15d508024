import { describe, expect, test } from 'vitest';
import type { CompletionRequest, CompletionValues, MCPServerCompletions } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory } from './call-harness.ts';
import type { Caller } from './call-harness.ts';
import { ask, refusalOf, serverWith } from './capability-harness.ts';

const connect = (complete: MCPServerCompletions['complete']): Promise<Caller> =>
  callInMemory(serverWith({ completions: { complete } }));

const ref = { type: 'ref/prompt', name: 'p' };
const argument = { name: 'city', value: 'p' };

const complete = async (caller: Caller, params: object = { ref, argument }): Promise<unknown> =>
  (await ask(caller, 'completion/complete', params))['completion'];

const cities = Array.from({ length: 150 }, (_, at) => `city ${at}`);

describe('suggestions', () => {
  const answers: readonly (readonly [string, CompletionValues | Promise<CompletionValues>, object])[] = [
    ['a list', ['paris', 'porto'], { values: ['paris', 'porto'], total: 2, hasMore: false }],
    ['a promise of none', Promise.resolve([]), { values: [], total: 0, hasMore: false }],
    ['values alone', { values: ['paris'] }, { values: ['paris'], hasMore: false }],
    [
      'values of more',
      { values: ['paris'], total: 20, hasMore: true },
      { values: ['paris'], total: 20, hasMore: true },
    ],
    ['a long list', cities, { values: cities.slice(0, 100), total: 150, hasMore: true }],
    ['many values', { values: cities, hasMore: false }, { values: cities.slice(0, 100), hasMore: true }],
    ['exactly a hundred', cities.slice(0, 100), { values: cities.slice(0, 100), total: 100, hasMore: false }],
  ];
  test.each(answers)('that are %s are sent as the protocol has them', async (_, given, expected) => {
    await using caller = await connect(() => given);
    expect(await complete(caller)).toEqual(expected);
  });

  test.each([
    ['nothing', undefined],
    ['text', 'paris'],
    ['numbers', [1]],
    ['values that are none', { values: 'paris' }],
    ['a total that is none', { values: [], total: 1.5 }],
    ['a negative total', { values: [], total: -1 }],
    ['a total as text', { values: [], total: '3' }],
  ])('that are %s are the author’s failure', async (_, given) => {
    await using caller = await connect(() => given as never);
    const refusal = await refusalOf(complete(caller));
    expect(refusal.code).toBe(-32603);
    expect(refusal.message).toMatch(/^complete must return /);
  });

  test('whose author throws are an internal error with one line', async () => {
    await using caller = await connect(() => Promise.reject(new Error('No\nindex')));
    expect(await refusalOf(complete(caller))).toEqual({ code: -32603, message: 'complete failed: No index' });
  });
});

describe('a question', () => {
  verifies('D17', 'reaches the author with what is filled in already, and who asks', async () => {
    const seen: CompletionRequest[] = [];
    const server = serverWith({
      completions: {
        complete: request => {
          seen.push(request);
          return [];
        },
      },
    });
    await using caller = await callByFetch(server, { facts: { authInfo: { clientId: 'ada' } } });
    await caller.client.complete({
      ref: { type: 'ref/resource', uri: 'notes://{year}/{month}' },
      argument: { name: 'month', value: '1' },
      context: { arguments: { year: '2025' } },
    });
    await complete(caller);
    expect(seen[0]).toMatchObject({
      ref: { type: 'ref/resource', uri: 'notes://{year}/{month}' },
      argument: { name: 'month', value: '1' },
      context: { arguments: { year: '2025' } },
    });
    expect(seen[0]?.extra.authInfo).toEqual({ clientId: 'ada' });
    expect(seen[1]).toMatchObject({ ref, argument, context: { arguments: {} } });
    await server.close();
  });

  test.each([
    ['no ref', { argument }],
    ['a ref of another type', { ref: { type: 'ref/tool', name: 'x' }, argument }],
    ['a prompt without a name', { ref: { type: 'ref/prompt' }, argument }],
    ['a template without a URI', { ref: { type: 'ref/resource', name: 'x' }, argument }],
    ['no argument', { ref }],
    ['an argument without a value', { ref, argument: { name: 'x' } }],
    ['a value that is no text', { ref, argument: { name: 'x', value: 7 } }],
    ['filled in arguments that are no text', { ref, argument, context: { arguments: { a: 1 } } }],
    ['filled in arguments that are a list', { ref, argument, context: { arguments: ['a'] } }],
  ])('with %s is refused, and the author is not asked', async (_, params) => {
    let asked = false;
    await using caller = await connect(() => {
      asked = true;
      return [];
    });
    const refusal = await refusalOf(complete(caller, params));
    expect(refusal.code).toBe(-32602);
    expect(refusal.message).toContain('of completion/complete');
    expect(asked).toBe(false);
  });
});

verifies('D17', 'the capability is declared with the option alone, everywhere', async () => {
  const server = serverWith({ completions: { complete: () => ['x'] } });
  await using session = await callByFetch(server);
  await using stateless = await callByFetch(server, { facts: { options: { serverless: true } } });
  for (const caller of [session, stateless]) {
    expect(caller.client.getServerCapabilities()?.completions).toEqual({});
    expect(await complete(caller)).toMatchObject({ values: ['x'] });
  }
  await using bare = await callInMemory(serverWith({ prompts: { listPrompts: () => [] } }));
  expect(bare.client.getServerCapabilities()).not.toHaveProperty('completions');
  expect((await refusalOf(complete(bare))).code).toBe(-32601);
  await server.close();
});
