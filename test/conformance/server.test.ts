/** The official conformance suite against our MCPServer, with the versions that test/foreign pins. */
import { describe, expect, test } from 'vitest';
import { ensureForeign } from '../support/foreign.ts';
import { nodeSince } from '../support/node-binary.ts';
import { post } from '../support/raw-http.ts';
import { startServerFile } from '../support/server-file.ts';
import { failuresOf, runServerScenarios } from './runner.ts';
import type { ConformanceRun, RunnerVersion } from './runner.ts';

const foreign = await ensureForeign();
/** What the runners need. */
const node = await nodeSince(22, 19);

const SERVER = '../conformance/server.ts';
const REQUIRED = ['--requirements', '2025-11-25'];
const UNSCORED = ['json-schema-2020-12', 'server-session-lifecycle', 'server-sse-polling'];
/** What takes a session: the server puts a question to the client. */
const ASKING = [
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'tools-call-elicitation',
  'tools-call-sampling',
];

/** Runs scenarios of a runner against a server of their own. */
async function run(
  version: RunnerVersion,
  args: readonly string[],
  serverArgs: readonly string[] = [],
): Promise<ConformanceRun> {
  await using server = await startServerFile(SERVER, serverArgs);
  const [url = ''] = server.urls;
  return await runServerScenarios({ node: node ?? '', foreign: foreign ?? '', version, url, args });
}

describe.skipIf(foreign === undefined || node === undefined)('the official scenarios', () => {
  test('0.2.0-alpha.12: the 30 that revision 2025-11-25 requires and the 3 it does not score pass', async () => {
    const result = await run('0.2', REQUIRED);
    expect(failuresOf(result)).toEqual({});
    expect(failuresOf(result, 'WARNING')).toEqual({});
    expect([...result.scenarios.keys()].filter(name => UNSCORED.includes(name)).toSorted()).toEqual(UNSCORED);
    expect(result.scenarios.size).toBe(33);
    expect(result.exitCode).toBe(0);
  });

  test('0.1.16: all 32 pass', async () => {
    const result = await run('0.1', ['--suite', 'all']);
    expect(failuresOf(result)).toEqual({});
    expect(failuresOf(result, 'WARNING')).toEqual({});
    expect(result.scenarios.size).toBe(32);
    expect(result.exitCode).toBe(0);
  });

  test('without sessions, with streaming: all but the 4 that ask the client pass', async () => {
    const result = await run('0.2', REQUIRED, ['--serverless']);
    expect(Object.keys(failuresOf(result)).toSorted()).toEqual(ASKING);
    // What these look at begins with a session id.
    expect(Object.keys(failuresOf(result, 'WARNING')).toSorted()).toEqual([
      'server-sse-multiple-streams',
      'server-sse-polling',
    ]);
    expect(result.scenarios.size).toBe(33);
  });
});

test('without sessions, a tool that asks the client fails at once and says why', async () => {
  await using server = await startServerFile(SERVER, ['--serverless']);
  const [url = ''] = server.urls;
  const call = async (name: string, args: object = {}): Promise<unknown> => {
    const params = { name, arguments: args };
    // Waits far shorter than a question may wait for its answer.
    const { answer } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return answer?.result;
  };
  const refusal = { isError: true, content: [{ text: expect.stringContaining('serverless') }] };
  expect(await call('test_sampling', { prompt: 'Hello' })).toMatchObject(refusal);
  expect(await call('test_elicitation', { message: 'Who are you?' })).toMatchObject(refusal);
  expect(await call('test_elicitation_sep1034_defaults')).toMatchObject(refusal);
  expect(await call('test_elicitation_sep1330_enums')).toMatchObject(refusal);
});
