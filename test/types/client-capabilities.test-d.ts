import { assertType, expectTypeOf, test } from 'vitest';
import type {
  ElicitationHandler,
  ElicitationRequest,
  MastraMCPServerDefinition,
  MCPClient,
  RemoteTool,
} from '../../src/client/index.ts';

test('a handler of forms needs no look at the mode, a handler of pages does', () => {
  const handler: ElicitationHandler = request => {
    expectTypeOf(request.message).toBeString();
    expectTypeOf(request.requestedSchema.properties).toBeObject();
    expectTypeOf(request.requestedSchema.required).toEqualTypeOf<string[] | undefined>();
    // @ts-expect-error a form has no address
    void request.url;
    if (request.mode === 'url') expectTypeOf(request.url).toBeString();
    return { action: 'decline' };
  };
  assertType<ElicitationHandler>(handler);
  expectTypeOf<ElicitationRequest['mode']>().toEqualTypeOf<'form' | 'url'>();
  assertType<ElicitationHandler>(() => Promise.resolve({ action: 'accept', content: { name: 'x', n: 1 } }));
  // @ts-expect-error not an action
  assertType<ElicitationHandler>(() => ({ action: 'ok' }));
});

test('handlers may be asynchronous, and registering them gives a way back', () => {
  const client = {} as MCPClient;
  const handler = (): Promise<void> => Promise.resolve();
  expectTypeOf(client.resources.onListChanged('s', handler)).resolves.toEqualTypeOf<() => void>();
  expectTypeOf(client.tools.onListChanged('s', () => undefined)).resolves.toEqualTypeOf<() => void>();
  expectTypeOf(client.prompts.onListChanged('s', handler)).resolves.toEqualTypeOf<() => void>();
  assertType<Promise<unknown>>(client.resources.onUpdated('s', ({ uri }) => void uri.length));
});

test('lists are records by server, and a prompt comes with its messages', () => {
  const client = {} as MCPClient;
  expectTypeOf(client.resources.list()).resolves.toExtend<Record<string, { uri: string; name: string }[]>>();
  expectTypeOf(client.resources.templates()).resolves.toExtend<Record<string, { uriTemplate: string }[]>>();
  expectTypeOf(client.prompts.list()).resolves.toExtend<
    Record<string, { name: string; version?: string }[]>
  >();
  const args: Record<string, unknown> = {};
  const result = client.prompts.get({ serverName: 's', name: 'p', args, version: undefined });
  expectTypeOf(result).resolves.toExtend<{ prompt: { name: string }; messages: { role: string }[] }>();
  const listed = client.resources.listWithErrors({ perServerTimeoutMs: 1 });
  expectTypeOf(listed).resolves.toExtend<{
    errors: Record<string, string>;
    durations: Record<string, number>;
  }>();
});

test('a tool has its digest, and a definition what to do about another one', () => {
  expectTypeOf<RemoteTool['mcpMetadata']['digest']>().toBeString();
  assertType<MastraMCPServerDefinition>({ command: 'x', onToolChanged: 'block', pinnedTools: { a: 'b' } });
  assertType<MastraMCPServerDefinition>({ command: 'x', onToolChanged: undefined, pinnedTools: undefined });
  // @ts-expect-error not a reaction
  assertType<MastraMCPServerDefinition>({ command: 'x', onToolChanged: 'warn' });
});
