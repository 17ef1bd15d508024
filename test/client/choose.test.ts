import { noopLogger } from '@mastra/core/logger';
import { expect, test } from 'vitest';
import {
  TransportFailure,
  type TransportFailureKind,
} from '../../src/client/connection/transport-failure.ts';
import { mayFallBackToSse, transportAttempts } from '../../src/client/connection/transports/choose.ts';
import type { MastraMCPServerDefinition } from '../../src/client/options.ts';
import { resolveClientOptions } from '../../src/client/resolve-options.ts';
import { verifies } from '../requirements/requirements.ts';

function kindsFor(definition: MastraMCPServerDefinition): string[] {
  const [resolved] = resolveClientOptions({ servers: { one: definition } }).servers;
  if (resolved === undefined) throw new Error('no server');
  const deps = { serverName: 'one', logger: () => noopLogger };
  return transportAttempts(resolved, deps).map(({ kind }) => kind);
}

verifies('D01', 'a URL is tried as Streamable HTTP, then as SSE, unless the transport is chosen', () => {
  const url = 'http://x.test/mcp';
  expect(kindsFor({ url })).toEqual(['http', 'sse']);
  expect(kindsFor({ url, transport: 'auto' })).toEqual(['http', 'sse']);
  expect(kindsFor({ url, transport: 'http' })).toEqual(['http']);
  expect(kindsFor({ url, transport: 'sse' })).toEqual(['sse']);
});

test('a command is tried as a child process only', () => {
  expect(kindsFor({ command: 'node' })).toEqual(['stdio']);
});

const failure = (kind: TransportFailureKind, facts: object = {}): TransportFailure =>
  new TransportFailure(kind, 'x', { mayHaveExecuted: false, ...facts });

verifies('D01', 'only an answer of 400, 404 or 405 leads to SSE', () => {
  for (const status of [400, 404, 405]) expect(mayFallBackToSse(failure('status', { status }))).toBe(true);
  for (const status of [401, 403, 406, 410, 500, 502, 503]) {
    expect(mayFallBackToSse(failure('status', { status }))).toBe(false);
  }
  const others = ['unreachable', 'redirect', 'lost', 'too-large', 'malformed', 'closed'] as const;
  for (const kind of others) expect(mayFallBackToSse(failure(kind, { status: 404 }))).toBe(false);
  expect(mayFallBackToSse(new Error('HTTP 404'))).toBe(false);
});

verifies('D01', 'a server that refuses our revisions speaks Streamable HTTP: no SSE', () => {
  const rpcError = { code: -32022, message: 'unsupported' };
  expect(mayFallBackToSse(failure('status', { status: 400, rpcError }))).toBe(false);
});
