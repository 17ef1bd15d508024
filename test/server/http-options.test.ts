import { describe, expect, test } from 'vitest';
import {
  DEFAULT_HTTP_SETTINGS,
  resolveHTTPOptions,
  resolveHTTPSecurity,
} from '../../src/server/http/http-options.ts';
import { verifies } from '../requirements/requirements.ts';

const resolve = (options: object): ReturnType<typeof resolveHTTPOptions> =>
  resolveHTTPOptions(options, DEFAULT_HTTP_SETTINGS);

describe('Options of one call', () => {
  verifies(['S161', 'S163', 'S164', 'S169', 'S171'], 'choose how POSTs are answered', () => {
    const choices: [object, string, string][] = [
      [{}, 'session', 'json-or-stream'],
      [{ serverless: false }, 'session', 'json-or-stream'],
      [{ enableJsonResponse: true }, 'session', 'json'],
      [{ sessionIdGenerator: () => 'x' }, 'session', 'json-or-stream'],
      [{ sessionIdGenerator: undefined }, 'stateless-streaming', 'json-or-stream'],
      [{ sessionIdGenerator: undefined, enableJsonResponse: true }, 'stateless-streaming', 'json'],
      [{ serverless: true }, 'stateless', 'json'],
      [{ serverless: true, serverlessStreaming: true }, 'stateless-streaming', 'json-or-stream'],
      [{ serverlessStreaming: true }, 'session', 'json-or-stream'],
    ];
    for (const [options, mode, form] of choices)
      expect([options, resolve(options)]).toMatchObject([options, { mode, form }]);
    expect(resolveHTTPOptions(undefined, DEFAULT_HTTP_SETTINGS)).toBe(DEFAULT_HTTP_SETTINGS);
  });

  verifies('D12', 'override those of the server, one by one', () => {
    const base = resolveHTTPSecurity({
      allowedHosts: ['A.example'],
      limits: { maxBatch: 7, maxStreamBacklog: { messages: 5 } },
      keepAliveMs: 9,
    });
    expect(base).toMatchObject({
      allowedHosts: ['a.example'],
      limits: { maxBatch: 7, maxBodyBytes: 4_194_304 },
      stream: { keepAliveMs: 9, maxMessages: 5, maxBytes: 1_048_576 },
    });
    const call = resolveHTTPOptions(
      {
        limits: { maxBodyBytes: 10 },
        allowedOrigins: ['https://x.example'],
        setRequestAuth: () => {},
      } as object,
      base,
    );
    expect(call).toMatchObject({
      allowedHosts: ['a.example'],
      allowedOrigins: ['https://x.example'],
      limits: { maxBatch: 7, maxBodyBytes: 10 },
      stream: base.stream,
    });
  });

  verifies('D12', 'have the documented defaults', () => {
    expect(DEFAULT_HTTP_SETTINGS.limits).toEqual({
      maxBodyBytes: 4 * 1024 * 1024,
      maxSessions: 10_000,
      maxSessionsPerUser: Infinity,
      sessionIdleMs: 30 * 60_000,
      bodyTimeoutMs: 30_000,
      maxJsonDepth: 100,
      maxBatch: 100,
    });
    expect(DEFAULT_HTTP_SETTINGS.stream).toEqual({
      keepAliveMs: 15_000,
      maxMessages: 1000,
      maxBytes: 1024 * 1024,
      openAfterMs: 5000,
    });
  });

  test('are refused by name when they are wrong', () => {
    const wrong: [string, object][] = [
      ['options', []],
      ['cors', { cors: null }],
      ['cors.origins', { cors: {} }],
      ['cors.origins', { cors: { origins: 'https://a.example' } }],
      ['cors.credentials', { cors: { origins: '*', credentials: true } }],
      ['cors.maxAgeSeconds', { cors: { origins: '*', maxAgeSeconds: -1 } }],
      ['cors.headers', { cors: { origins: '*', headers: [1] } }],
      ['allowedHosts', { allowedHosts: 'a' }],
      ['allowedOrigins', { allowedOrigins: [''] }],
      ['limits', { limits: 5 }],
      ['limits.maxBodyBytes', { limits: { maxBodyBytes: 0 } }],
      ['limits.maxBatch', { limits: { maxBatch: '5' } }],
      ['limits.sessionIdleMs', { limits: { sessionIdleMs: NaN } }],
      ['limits.maxStreamBacklog', { limits: { maxStreamBacklog: 5 } }],
      ['limits.maxStreamBacklog.bytes', { limits: { maxStreamBacklog: { bytes: 0 } } }],
      ['keepAliveMs', { keepAliveMs: -1 }],
      ['retryInterval', { retryInterval: -1 }],
      ['eventStore', { eventStore: 5 }],
      ['sessionIdGenerator', { sessionIdGenerator: 'x' }],
      ['onsessioninitialized', { onsessioninitialized: 1 }],
      ['onsessionclosed', { onsessionclosed: 1 }],
    ];
    for (const [option, options] of wrong)
      expect(() => resolve(options), option).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_CONFIGURATION_INVALID', option }),
      );
    expect(resolve({ limits: { maxBodyBytes: Infinity }, keepAliveMs: 0 }).limits.maxBodyBytes).toBe(
      Infinity,
    );
  });
});
