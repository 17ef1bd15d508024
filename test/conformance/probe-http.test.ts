/** Rules of revision 2025-11-25 that the official suite does not look at, over raw HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRawSession, post, readAnswer, REVISION, send } from '../support/raw-http.ts';
import type { RawAnswer, RawSession } from '../support/raw-http.ts';
import { startServerFile } from '../support/server-file.ts';
import type { ServerFile } from '../support/server-file.ts';

let server: ServerFile;
let url: string;
let session: RawSession;

beforeAll(async () => {
  server = await startServerFile('../conformance/server.ts');
  url = server.urls[0] ?? '';
  session = await openRawSession(url);
}, 60_000);

afterAll(() => server[Symbol.asyncDispose]());

const ping = { jsonrpc: '2.0', id: 'ping', method: 'ping' };
const pingWith = (headers: Readonly<Record<string, string>>): Promise<RawAnswer> =>
  post(url, ping, { ...session.headers, ...headers });
const without = (name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(session.headers).filter(([header]) => header !== name));
const notifications = ({ messages }: RawAnswer, method: string) =>
  messages.filter(message => message.method === method).map(({ params }) => params);

describe('a server MUST', () => {
  test.each([REVISION, '2025-06-18', '2025-03-26', '2024-11-05'])(
    'speak %s when asked to',
    async revision => {
      const { initialized } = await openRawSession(url, { revision });
      expect(initialized['protocolVersion']).toBe(revision);
    },
  );

  test('answer an unknown revision with one it speaks', async () => {
    const { initialized } = await openRawSession(url, { revision: '1999-01-01' });
    expect(initialized['protocolVersion']).toBe(REVISION);
  });

  test('answer a notification with 202 and no body', async () => {
    const { status, body } = await session.notify('notifications/initialized');
    expect({ status, body }).toEqual({ status: 202, body: '' });
  });

  test('answer an answer with 202 and no body', async () => {
    const { status, body } = await post(url, { jsonrpc: '2.0', id: 99, result: {} }, session.headers);
    expect({ status, body }).toEqual({ status: 202, body: '' });
  });

  test('refuse a foreign Origin with 403, whatever the Host', async () => {
    expect((await pingWith({ origin: 'http://evil.example.com' })).status).toBe(403);
    expect((await pingWith({ origin: 'http://localhost:1234' })).status).toBe(200);
  });

  test('refuse a revision header it does not know with 400', async () => {
    expect((await pingWith({ 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  test('answer a session it does not know, and one that was ended, with 404', async () => {
    expect((await pingWith({ 'mcp-session-id': 'nope' })).status).toBe(404);
    const { headers } = await openRawSession(url);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await post(url, ping, headers)).status).toBe(404);
  });

  test('refuse a batch and what is not JSON with 400', async () => {
    const batch = [ping, { ...ping, id: 'second' }];
    expect((await post(url, batch, session.headers)).status).toBe(400);
    expect((await post(url, '{"jsonrpc":', session.headers)).status).toBe(400);
  });

  test('answer GET with an event stream', async () => {
    const closing = new AbortController();
    const headers = { ...session.headers, accept: 'text/event-stream' };
    const response = await fetch(url, { headers, signal: closing.signal });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    closing.abort();
  });

  test('answer a method it does not have with -32601', async () => {
    expect((await session.request('no/such')).answer?.error?.code).toBe(-32601);
  });

  test('declare what it has: tools, resources, prompts, completions, logging', () => {
    expect(session.initialized['capabilities']).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    });
  });

  test('report progress only for a token, and only upwards', async () => {
    const silent = await session.callTool('test_tool_with_progress');
    expect(notifications(silent, 'notifications/progress')).toEqual([]);
    const told = await session.callTool('test_tool_with_progress', {}, { progressToken: 'token' });
    expect(notifications(told, 'notifications/progress')).toEqual(
      [0, 50, 100].map(progress => ({ progressToken: 'token', progress, total: 100 })),
    );
  });

  test.each([
    ['elicitation/create', 'test_elicitation', { message: 'Who?' }],
    ['sampling/createMessage', 'test_sampling', { prompt: 'Hello' }],
  ])('not send %s to a client that did not declare it', async (method, tool, args) => {
    const called = await session.callTool(tool, args);
    expect(called.messages.map(message => message.method)).not.toContain(method);
    expect(called.answer?.result).toMatchObject({ isError: true });
  });
});

describe('a server SHOULD', () => {
  test('take a request without a revision header', async () => {
    expect((await post(url, ping, without('mcp-protocol-version'))).status).toBe(200);
  });

  test('refuse a request without a session with 400', async () => {
    expect((await post(url, ping, without('mcp-session-id'))).status).toBe(400);
  });

  test('refuse a client that cannot read event streams with 406', async () => {
    expect((await pingWith({ accept: 'application/json' })).status).toBe(406);
  });

  test('answer an unknown tool with -32602', async () => {
    expect((await session.callTool('no_such_tool')).answer?.error?.code).toBe(-32602);
  });

  test('answer wrong arguments with a result that is an error (SEP-1303)', async () => {
    const { answer } = await session.callTool('test_elicitation', { message: 5 });
    expect(answer?.result).toMatchObject({ isError: true });
  });

  test('answer an unknown resource with -32002', async () => {
    const { answer } = await session.request('resources/read', { uri: 'test://no-such' });
    expect(answer?.error).toMatchObject({ code: -32002, data: { uri: 'test://no-such' } });
  });

  test('answer an unknown prompt, and one without its arguments, with -32602', async () => {
    const get = async (name: string) =>
      (await session.request('prompts/get', { name, arguments: {} })).answer?.error?.code;
    expect(await get('no_such')).toBe(-32602);
    expect(await get('test_prompt_with_arguments')).toBe(-32602);
  });

  test.each(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'])(
    'answer a cursor of %s that it never gave out with -32602',
    async method => {
      expect((await session.request(method, { cursor: '!!!' })).answer?.error?.code).toBe(-32602);
    },
  );

  test('answer an unknown log level with -32602', async () => {
    expect((await session.request('logging/setLevel', { level: 'loud' })).answer?.error?.code).toBe(-32602);
  });

  test('log nothing below the level that was set', async () => {
    const quiet = await openRawSession(url);
    const all = await quiet.callTool('test_tool_with_logging');
    expect(notifications(all, 'notifications/message')).toHaveLength(3);
    await quiet.request('logging/setLevel', { level: 'error' });
    const few = await quiet.callTool('test_tool_with_logging');
    expect(notifications(few, 'notifications/message')).toEqual([]);
  });

  test('give a cancelled request no answer', async () => {
    const params = { name: 'test_tool_with_progress', arguments: {}, _meta: { progressToken: 'token' } };
    const call = { jsonrpc: '2.0', id: 'slow', method: 'tools/call', params };
    // The answer begins with the first report, so the call is running.
    const begun = await send(url, call, session.headers);
    await session.notify('notifications/cancelled', { requestId: 'slow' });
    expect((await readAnswer(begun)).answer).toBeUndefined();
  });

  test('describe tools in JSON Schema 2020-12', async () => {
    const { answer } = await session.request('tools/list');
    const tools = answer?.result?.['tools'] as readonly { inputSchema: { $schema?: string } }[];
    const dialects = new Set(tools.map(tool => tool.inputSchema.$schema));
    expect([...dialects].filter(dialect => dialect !== undefined)).toEqual([
      'https://json-schema.org/draft/2020-12/schema',
    ]);
  });
});
