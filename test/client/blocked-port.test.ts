import { expect, test } from 'vitest';
import { toBlockedPort } from '../../src/client/connection/blocked-port.ts';

/** What `fetch` throws for a port; nothing leaves this process, since the dispatcher sends nothing. */
async function refusalOf(port: number): Promise<unknown> {
  const dispatched = Object.assign(new Error('dispatched'), { code: 'DISPATCHED' });
  const dispatcher = {
    dispatch(
      _: unknown,
      handler: { onError?: (error: Error) => void; onResponseError?: (c: null, e: Error) => void },
    ) {
      (handler.onResponseError?.bind(handler, null) ?? handler.onError?.bind(handler))?.(dispatched);
      return true;
    },
  };
  return await fetch(`http://127.0.0.1:${port}/`, { dispatcher } as unknown as RequestInit).catch(
    (error: unknown) => error,
  );
}

test('every port that fetch refuses is known, and hardly another', async () => {
  const refused: number[] = [];
  const known: number[] = [];
  for (let port = 1; port <= 10_100; port += 1) {
    const error = await refusalOf(port);
    if ((error as Error & { cause?: { code?: string } }).cause?.code !== 'DISPATCHED') refused.push(port);
    if (toBlockedPort(`http://127.0.0.1:${port}/`, new TypeError('fetch failed')) !== undefined)
      known.push(port);
  }
  expect(refused.length).toBeGreaterThan(70);
  expect(refused.filter(port => !known.includes(port))).toEqual([]);
  // Versions of Node differ by a few.
  expect(known.length - refused.length).toBeLessThan(5);
});

test('an error with a code of its own is left as it is, and so is one of another port', () => {
  const reset = new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
  expect(toBlockedPort('http://x:6000/', reset)).toBeUndefined();
  expect(toBlockedPort('http://x:6000/', { code: 'ECONNREFUSED' })).toBeUndefined();
  expect(toBlockedPort('http://x:3000/', new TypeError('fetch failed'))).toBeUndefined();
  expect(toBlockedPort('http://x/', new TypeError('fetch failed'))).toBeUndefined();
  expect(toBlockedPort(new URL('http://x:6000/'), new TypeError('fetch failed'))).toMatchObject({
    kind: 'unreachable',
    facts: { mayHaveExecuted: false },
  });
});
