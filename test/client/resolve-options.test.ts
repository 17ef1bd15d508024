import { describe, expect, test } from 'vitest';
import { MCPClient } from '../../src/client/index.ts';
import type { MCPClientOptions } from '../../src/client/index.ts';
import { resolveClientOptions } from '../../src/client/resolve-options.ts';
import { MCPConfigurationError } from '../../src/shared/errors.ts';
import { verifies } from '../requirements/requirements.ts';

const stdio = { command: 'node' };
const http = { url: 'http://127.0.0.1:1/mcp' };

function thrownBy(options: unknown): unknown {
  try {
    new MCPClient(options as MCPClientOptions);
  } catch (error) {
    return error;
  }
  return undefined;
}

function expectRefused(options: unknown, option: string): void {
  const error = thrownBy(options);
  expect(error).toBeInstanceOf(MCPConfigurationError);
  expect(error).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID', option });
  expect((error as Error).message).toContain(JSON.stringify(option));
}

describe('every wrong option of a server throws at construction and names the option', () => {
  const wrong: readonly (readonly [base: object, option: string, values: readonly unknown[]])[] = [
    [stdio, 'command', ['', '  ', 7, 'a\0b', null]],
    [stdio, 'args', ['x', [1], ['a\0b'], null]],
    [stdio, 'env', ['x', { A: 1 }, { A: 'a\0b' }, []]],
    [stdio, 'inheritDefaultEnv', ['yes', 1, null]],
    [stdio, 'cwd', ['', 3]],
    [stdio, 'stderr', ['overlapped', true]],
    [http, 'url', ['nonsense', 'ftp://x/', 5, '', 'http://me:secret@x/']],
    [http, 'requestInit', ['x', []]],
    [http, 'eventSourceInit', ['x', 1]],
    [http, 'fetch', ['x', {}]],
    [http, 'allowedHosts', ['example.com', [1]]],
    [http, 'authProvider', ['x', 1]],
    [http, 'transport', ['stdio', 'ws', true]],
    [http, 'openEventStream', ['no', 0]],
    [http, 'reconnectionOptions', ['x', 1]],
    [http, 'sessionId', ['', 'a b', 'é', 'x'.repeat(513)]],
    [stdio, 'enabled', ['no', 0]],
    [stdio, 'logger', ['x', {}]],
    [stdio, 'log', ['x', {}]],
    [stdio, 'timeout', [0, -1, '60', Number.NaN, Infinity, 2 ** 31]],
    [stdio, 'maxTotalTimeout', [0, '1']],
    [stdio, 'connectTimeout', [0, '1', Infinity]],
    [stdio, 'resetTimeoutOnProgress', ['x', 1]],
    [stdio, 'enableProgressTracking', ['x', 1]],
    [stdio, 'retryAnnotatedTools', ['x', 1]],
    [stdio, 'capabilities', ['x', []]],
    [stdio, 'roots', ['x', [{}], [{ uri: 'http://x' }], ['file:///a']]],
    [stdio, 'enableServerLogs', ['x', 1]],
    [stdio, 'forwardInstructions', ['x', 1]],
    [stdio, 'instructionsMaxLength', [-1, 1.5, '5']],
    [stdio, 'requireToolApproval', ['always', 1, {}]],
    [stdio, 'onToolError', ['ignore', true]],
    [stdio, 'tools', ['x', [], { include: 'a' }, { exclude: [1] }, { only: [] }]],
    [stdio, 'onToolChanged', ['warn', true]],
    [stdio, 'pinnedTools', ['x', [], { pay: 7 }, { pay: 'abc' }, { pay: 'F'.repeat(64) }]],
    [stdio, 'maxPages', [0, 1.5, '3']],
    [stdio, 'maxMessageBytes', [0, -1, '1']],
    [stdio, 'jsonSchemaValidator', ['x', {}]],
    [stdio, 'protocolVersion', ['2025-11-25', 1]],
  ];
  for (const [base, option, values] of wrong) {
    test(`names the wrong option ${option}`, () => {
      for (const value of values) {
        expectRefused({ servers: { s: { ...base, [option]: value } } }, `servers.s.${option}`);
      }
    });
  }

  test('an unknown option', () => {
    expectRefused({ servers: { s: { ...stdio, requireToolAproval: true } } }, 'servers.s.requireToolAproval');
  });

  verifies('S010', 'an option of the other transport', () => {
    expectRefused({ servers: { s: { ...http, args: [] } } }, 'servers.s.args');
    expectRefused({ servers: { s: { ...stdio, allowedHosts: [] } } }, 'servers.s.allowedHosts');
  });
});

describe('every wrong option of the client throws at construction and names the option', () => {
  const wrong: readonly (readonly [option: string, values: readonly unknown[]])[] = [
    ['id', ['', ' ', 4]],
    ['timeout', [0, 'x']],
    ['maxTotalTimeout', [0, 'x']],
    ['servers', [null, [], 'x']],
  ];
  for (const [option, values] of wrong) {
    test(`names the wrong option ${option}`, () => {
      for (const value of values) expectRefused({ servers: { s: stdio }, [option]: value }, option);
    });
  }

  test('options that are none', () => {
    expectRefused(undefined, 'options');
    expectRefused({}, 'servers');
    expectRefused({ servers: {}, server: {} }, 'server');
  });

  verifies(['S003', 'S010'], 'refuses blank names and definitions that are neither or both', () => {
    expectRefused({ servers: { ' ': stdio } }, 'servers. ');
    expectRefused({ servers: Object.fromEntries([['__proto__', stdio]]) }, 'servers.__proto__');
    expectRefused({ servers: { s: {} } }, 'servers.s');
    expectRefused({ servers: { s: 'node' } }, 'servers.s');
    expectRefused({ servers: { s: { ...stdio, ...http } } }, 'servers.s');
  });
});

verifies(['S004', 'S020', 'D01'], 'fills the documented defaults', () => {
  const { servers } = resolveClientOptions({ servers: { h: http, s: stdio } });
  expect(servers[0]).toMatchObject({
    kind: 'http',
    timeout: 60_000,
    connectTimeout: 10_000,
    maxTotalTimeout: undefined,
    resetTimeoutOnProgress: true,
    enableProgressTracking: true,
    retryAnnotatedTools: true,
    enableServerLogs: true,
    forwardInstructions: false,
    instructionsMaxLength: 512,
    requireToolApproval: false,
    onToolError: 'throw',
    onToolChanged: 'allow',
    pinnedTools: {},
    maxPages: 1000,
    maxMessageBytes: 67_108_864,
    transport: 'auto',
    openEventStream: true,
  });
  expect(servers[0]).toHaveProperty('url', new URL(http.url));
  expect(servers[1]).toMatchObject({
    kind: 'stdio',
    args: [],
    env: {},
    inheritDefaultEnv: true,
    stderr: 'inherit',
  });
});

verifies('S004', 'prefers the time-out of the server to that of the client', () => {
  const { servers } = resolveClientOptions({
    timeout: 5000,
    servers: { own: { ...stdio, timeout: 1000 }, shared: stdio },
  });
  expect(servers.map(({ timeout }) => timeout)).toEqual([1000, 5000]);
});

verifies('X23', 'takes "log" for "logger"', () => {
  const log = (): void => undefined;
  const { servers } = resolveClientOptions({ servers: { s: { ...stdio, log } } });
  expect(servers[0]?.logHandler).toBe(log);
});

test('accepts an explicit undefined for every option', () => {
  const { servers } = resolveClientOptions({
    id: undefined,
    timeout: undefined,
    servers: {
      s: { ...stdio, url: undefined, args: undefined, timeout: undefined, tools: undefined } as never,
    },
  });
  expect(servers[0]).toMatchObject({ kind: 'stdio', timeout: 60_000 });
});

test('leaves out a server that is not enabled', () => {
  expect(resolveClientOptions({ servers: { s: { ...stdio, enabled: false } } }).servers).toEqual([]);
});

test('filters tools by name, wildcard and expression', () => {
  const allows = (tools: object): ((name: string) => boolean) => {
    const { servers } = resolveClientOptions({ servers: { s: { ...stdio, tools } } });
    const [server] = servers;
    if (server === undefined) throw new Error('no server');
    return server.allowsTool;
  };
  expect(['read', 'read.all', 'write'].filter(allows({ include: ['read*'] }))).toEqual(['read', 'read.all']);
  expect(['read', 'write'].filter(allows({ exclude: ['write'] }))).toEqual(['read']);
  expect(['a+b', 'aab'].filter(allows({ include: ['a+b'] }))).toEqual(['a+b']);
  const sticky = allows({ include: [/^r/g] });
  expect(['read', 'run', 'stop'].filter(sticky)).toEqual(['read', 'run']);
});
