import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw, initialize } from '../server/http-harness.ts';
import { SCALE_LIMIT_MS, scaled } from '../support/scale.ts';
import { startServerProcess } from '../support/server-process.ts';
import { collectUnhandled } from '../support/unhandled.ts';

const BODIES = scaled(10_000, 1000);
const SEED = 20_251_125;

const call = callTool(1, 'echo', { text: 'é "quoted" \\ text' });
const valid = [call, initialize(), { jsonrpc: '2.0', method: 'notifications/initialized' }, [call, call]];

/** Members of a message, each with values that it must not have. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  jsonrpc: [undefined, '1.0', '2', 2, null, ['2.0']],
  id: [null, 1.5, 1e300, true, [], {}, [1]],
  method: [undefined, null, 1, {}, ['ping'], true],
  params: [null, 1, 'x', true, [], [1], { _meta: 1 }, { _meta: [] }, { _meta: { progressToken: {} } }],
  result: [1, {}],
  extra: ['__proto__', 0],
};

const brokenMembers = fc
  .constantFrom(...Object.entries(wrong))
  .chain(([member, values]) => fc.tuple(fc.constant(member), fc.constantFrom(...values)))
  .map(([member, value]) => JSON.stringify({ ...call, [member]: value }));

/** Whether the server may take a body: whatever has this shape is no concern of this test. */
function mayBeMessage(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return [value].flat().some(entry => Reflect.get(Object(entry), 'jsonrpc') === '2.0');
  } catch {
    return false;
  }
}

const malformed = fc.oneof(
  brokenMembers,
  // A message that ends early.
  fc
    .tuple(fc.constantFrom(...valid), fc.double({ min: 0, max: 0.999, noNaN: true }))
    .map(([value, share]) => {
      const text = JSON.stringify(value);
      return text.slice(0, Math.floor(text.length * share));
    }),
  // A message with something else in its middle.
  fc
    .tuple(
      fc.constantFrom(...valid),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.string({ unit: 'binary' }),
    )
    .map(([value, share, other]) => {
      const text = JSON.stringify(value);
      const at = Math.floor(text.length * share);
      return text.slice(0, at) + other + text.slice(at);
    })
    .filter(text => !mayBeMessage(text)),
  fc.json({ maxDepth: 6 }).filter(text => !mayBeMessage(text)),
  fc.string({ unit: 'binary' }).filter(text => !mayBeMessage(text)),
  // Not UTF-8.
  fc
    .uint8Array({ maxLength: 200 })
    .map(bytes => Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), bytes])),
  fc.integer({ min: 101, max: 5000 }).map(depth => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 101, max: 500 }).map(length => JSON.stringify(Array(length).fill(call))),
);

verifies(
  'R13',
  `${BODIES} malformed bodies are all refused with 4xx, cost no memory and break nothing`,
  async () => {
    using unhandled = collectUnhandled();
    await using server = await startServerProcess();
    using client = connectRaw(server.port);
    const session = await client.open();
    const statuses = new Map<number, number>();
    const check = (numRuns: number, seed: number): Promise<void> =>
      fc.assert(
        fc.asyncProperty(malformed, async body => {
          const answer = await client.send({ body, headers: session });
          const { jsonrpc, error } = await answer.json();
          expect([jsonrpc, typeof error?.code, typeof error?.message]).toEqual(['2.0', 'number', 'string']);
          expect(Math.floor(answer.status / 100)).toBe(4);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        }),
        { numRuns, seed },
      );
    await check(BODIES / 5, SEED - 1);
    const before = await server.ask('mark');
    await check(BODIES, SEED);
    const after = await server.ask('measure');
    expect([...statuses.keys()]).toEqual([400]);
    expect(Math.abs(after.heapUsed - before.heapUsed)).toBeLessThan(5e6);
    expect([after.unhandled, await unhandled.found(), server.errors()]).toEqual([[], [], '']);
    const served = await (await client.post(call, session)).messages();
    expect(served.at(-1)?.result?.content?.[0]?.text).toBe('é "quoted" \\ text');
    console.info(
      `R13: ${BODIES} bodies, heap ${[before, after].map(({ heapUsed }) => (heapUsed / 1e6).toFixed(1)).join(' -> ')} MB`,
    );
  },
  SCALE_LIMIT_MS,
);
