import { setTimeout as delay } from 'node:timers/promises';
import { RequestContext } from '@mastra/core/request-context';
import { expect, test } from 'vitest';
import { currentRequestScope, runInRequestScope } from '../../src/client/connection/request-scope.ts';

const contextOf = (): unknown => currentRequestScope()?.requestContext;

test('a scope reaches what the function starts, also later', async () => {
  const requestContext = new RequestContext();
  const seen = await runInRequestScope({ requestContext }, async () => {
    const before = contextOf();
    await delay(1);
    return [before, contextOf()];
  });
  expect(seen).toEqual([requestContext, requestContext]);
  expect(currentRequestScope()).toBeUndefined();
});

test('an undefined scope clears the scope for what it runs, and only for that', () => {
  const requestContext = new RequestContext();
  runInRequestScope({ requestContext }, () => {
    expect(runInRequestScope(undefined, () => currentRequestScope())).toBeUndefined();
    expect(contextOf()).toBe(requestContext);
  });
});

test('interleaved scopes do not mix', async () => {
  const contexts = Array.from({ length: 50 }, () => new RequestContext());
  const seen = await Promise.all(
    contexts.map(requestContext =>
      runInRequestScope({ requestContext }, async () => {
        await delay(Math.random() * 5);
        return contextOf();
      }),
    ),
  );
  seen.forEach((context, index) => expect(context).toBe(contexts[index]));
});
