import type { Agent } from '@mastra/core/agent';
import { assertType, expectTypeOf, test } from 'vitest';
import { isMCPError } from '../../src/client/index.ts';
import type {
  AnyMCPError,
  MastraMCPServerDefinition,
  MCPClient,
  RemoteTool,
} from '../../src/client/index.ts';

test('a server definition is a command or a url, never both and never neither', () => {
  assertType<MastraMCPServerDefinition>({ command: 'node' });
  assertType<MastraMCPServerDefinition>({ url: 'http://127.0.0.1/mcp' });
  assertType<MastraMCPServerDefinition>({ url: new URL('http://127.0.0.1/mcp') });
  // @ts-expect-error both
  assertType<MastraMCPServerDefinition>({ command: 'node', url: 'http://127.0.0.1/mcp' });
  // @ts-expect-error neither
  assertType<MastraMCPServerDefinition>({});
});

test('options of the other transport do not compile', () => {
  // @ts-expect-error an option of stdio
  assertType<MastraMCPServerDefinition>({ url: 'http://127.0.0.1/mcp', args: [] });
  // @ts-expect-error an option of HTTP
  assertType<MastraMCPServerDefinition>({ command: 'node', allowedHosts: [] });
});

test('every option accepts an explicit undefined', () => {
  assertType<MastraMCPServerDefinition>({
    command: 'node',
    args: undefined,
    env: undefined,
    timeout: undefined,
    requireToolApproval: undefined,
    tools: undefined,
    roots: undefined,
  });
  assertType<ConstructorParameters<typeof MCPClient>[0]>({ id: undefined, timeout: undefined, servers: {} });
});

test('a remote tool fits an Agent and a direct call needs no context', () => {
  type AgentTools = NonNullable<
    Exclude<ConstructorParameters<typeof Agent>[0]['tools'], (...args: never) => unknown>
  >;
  expectTypeOf<Record<string, RemoteTool>>().toExtend<AgentTools>();
  const tool = {} as RemoteTool;
  expectTypeOf(tool.execute({})).resolves.toBeUnknown();
});

test('a code narrows an error to its class', () => {
  const error: unknown = undefined;
  if (!isMCPError(error)) return;
  expectTypeOf(error).toEqualTypeOf<AnyMCPError>();
  switch (error.code) {
    case 'MCP_CLIENT_CONNECTION_LOST':
      expectTypeOf(error.mayHaveExecuted).toBeBoolean();
      break;
    case 'MCP_CLIENT_CONFIGURATION_INVALID':
      expectTypeOf(error.option).toBeString();
      break;
    case 'MCP_CLIENT_TOOL_EXECUTION_FAILED':
      expectTypeOf(error.toolName).toBeString();
      break;
    default:
  }
});
