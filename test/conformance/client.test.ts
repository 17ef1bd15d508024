/** The official conformance suite against our MCPClient, with the versions that test/foreign pins, one by one. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ensureForeign } from '../support/foreign.ts';
import { nodeSince } from '../support/node-binary.ts';
import { failuresOf, runClientScenario } from './runner.ts';
import type { ConformanceRun, RunnerVersion } from './runner.ts';

const foreign = await ensureForeign();
/** What the runners need. */
const node = await nodeSince(22, 19);

const inRepository = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const command = [
  process.execPath,
  '--import',
  inRepository('node_modules/tsx/dist/esm/index.mjs'),
  inRepository('test/conformance/client.ts'),
];

/** What revision 2025-11-25 requires of a client, in the words of 0.2.0-alpha.12. */
const REQUIRED = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
];
/** What 0.1.16 has besides, for other revisions and as extensions. */
const MORE = [
  'auth/2025-03-26-oauth-metadata-backcompat',
  'auth/2025-03-26-oauth-endpoint-fallback',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
];
/** Needs token exchange with the identity provider of an enterprise, which this client has no API for. */
const UNSUPPORTED = 'auth/cross-app-access-complete-flow';

const run = (version: RunnerVersion, scenario: string, args: readonly string[]): Promise<ConformanceRun> =>
  runClientScenario({ node: node ?? '', foreign: foreign ?? '', version, scenario, command, args });

function expectPassed(result: ConformanceRun): void {
  expect(failuresOf(result)).toEqual({});
  expect(failuresOf(result, 'WARNING')).toEqual({});
  expect([...result.scenarios.values()].flat().length).toBeGreaterThan(0);
  expect(result.exitCode).toBe(0);
}

describe.skipIf(foreign === undefined || node === undefined)('the official scenarios', () => {
  const revision = ['--spec-version', '2025-11-25'];

  test.each([...REQUIRED, 'json-schema-2020-12-preservation'])(
    '0.2.0-alpha.12: %s passes',
    async scenario => {
      expectPassed(await run('0.2', scenario, revision));
    },
  );

  test.each([...REQUIRED, ...MORE])('0.1.16: %s passes', async scenario => {
    expectPassed(await run('0.1', scenario, []));
  });

  test(`0.1.16: ${UNSUPPORTED} does not`, async () => {
    expect((await run('0.1', UNSUPPORTED, [])).exitCode).not.toBe(0);
  });
});
