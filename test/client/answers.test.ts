/** What a server gets when it asks, and what handlers can do wrong. */
import { describe, expect, test } from 'vitest';
import type { MCPClient, MastraMCPServerDefinition } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { RpcError, startScripted, type Script, type ScriptedServer } from '../support/scripted-server.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import { warningsOf } from '../support/warnings.ts';

interface Joined extends AsyncDisposable {
  readonly client: MCPClient;
  readonly server: ScriptedServer;
}

type Options = Partial<Omit<MastraMCPServerDefinition, 'url' | 'command'>>;

async function join(options: Options = {}, script?: Script): Promise<Joined> {
  const server = await startScripted(script);
  const client = openClient({ s: { ...(options as object), url: server.url } });
  return {
    client,
    server,
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await server.close();
    },
  };
}

const form = {
  message: 'Who?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', default: 'Ada' }, age: { type: 'integer' } },
  },
};
const page = (url: string): object => ({ mode: 'url', message: 'Log in', url, elicitationId: 'e1' });
const question = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
const reply = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } } as const;

const capabilitiesAt = (server: ScriptedServer): Record<string, unknown> => ({
  ...Object(server.received('initialize').at(-1)?.['capabilities']),
});

/** What is declared because of handlers and options. */
const declared = (server: ScriptedServer): unknown => {
  const { extensions, ...rest } = capabilitiesAt(server);
  expect(extensions).toBeDefined();
  return rest;
};

describe('elicitation', () => {
  verifies(['T9', 'X08', 'B44'], 'is declared and declined without a handler, and logged once', async () => {
    await using joined = await join();
    const { client, server } = joined;
    const warnings = warningsOf(client);
    await client.listTools();
    expect(declared(server)).toEqual({ elicitation: { form: {} } });
    for (const _ of [1, 2]) {
      expect(await server.ask('elicitation/create', form)).toMatchObject({ result: { action: 'decline' } });
    }
    expect(warnings.filter(text => text.includes('asked for input'))).toHaveLength(1);
  });

  verifies(
    ['S117', 'S118', 'S119', 'S120', 'T9', 'X08'],
    'reaches the handler, set before or after connecting, with the form and the name of the server',
    async () => {
      await using joined = await join();
      const { client, server } = joined;
      await client.listTools();
      const seen: unknown[] = [];
      await client.elicitation.onRequest('s', (request, { serverName, signal }) => {
        seen.push(request, serverName, signal.aborted);
        return { action: 'accept', content: { name: 'Grace' } };
      });
      expect(await server.ask('elicitation/create', form)).toMatchObject({
        result: { action: 'accept', content: { name: 'Grace' } },
      });
      expect(seen).toEqual([{ ...form, mode: 'form' }, 's', false]);
    },
  );

  verifies('S119', 'sends content only with an accepted form', async () => {
    await using joined = await join();
    const { client, server } = joined;
    const content = { name: 'x' };
    let action: 'accept' | 'decline' | 'cancel' = 'decline';
    await client.elicitation.onRequest('s', () => ({ action, content }));
    await client.listTools();
    for (action of ['decline', 'cancel'] as const) {
      expect(await server.ask('elicitation/create', form)).toMatchObject({ result: { action } });
    }
    action = 'accept';
    expect((await server.ask('elicitation/create', form)).result).toEqual({ action, content });
    const { result } = await server.ask('elicitation/create', page('https://example.com/'));
    expect(result).toEqual({ action });
  });

  verifies(
    ['D17', 'T9'],
    'by a page is declared with a handler there before connecting, and only for the web',
    async () => {
      await using joined = await join();
      const { client, server } = joined;
      const seen: unknown[] = [];
      await client.elicitation.onRequest('s', request => {
        seen.push(request.mode === 'url' ? [request.url, request.requestedSchema.properties] : 'form');
        return { action: 'accept' };
      });
      await client.listTools();
      expect(declared(server)).toEqual({ elicitation: { form: {}, url: {} } });
      for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'vscode://x/y']) {
        const { result } = await server.ask('elicitation/create', page(url));
        expect(result, url).toEqual({ action: 'decline' });
      }
      const hits = server.requests.length;
      for (const url of [`${server.origin}/login`, 'https://example.com/']) {
        expect((await server.ask('elicitation/create', page(url))).result).toEqual({ action: 'accept' });
      }
      expect(seen).toEqual([
        [`${server.origin}/login`, {}],
        ['https://example.com/', {}],
      ]);
      // The page itself was not fetched: all that came are the two answers.
      expect(server.requests.slice(hits).map(({ method, url }) => `${method} ${url}`)).toEqual([
        'POST /mcp',
        'POST /mcp',
      ]);
    },
  );

  verifies(
    'X08',
    'by a page that was not declared is an error, and one that was is declined without a handler',
    async () => {
      await using plain = await join();
      await plain.client.listTools();
      await plain.client.elicitation.onRequest('s', () => ({ action: 'accept' }));
      const refused = await plain.server.ask('elicitation/create', page('https://example.com/'));
      expect(refused.error?.code).toBe(-32602);
      await using declares = await join({ capabilities: { elicitation: { url: {} } } });
      await declares.client.listTools();
      const declined = await declares.server.ask('elicitation/create', page('https://example.com/'));
      expect(declined.result).toEqual({ action: 'decline' });
    },
  );

  verifies(
    'S108',
    'pages of MCP Apps are declared, beside extensions that the definition names',
    async () => {
      await using joined = await join({ capabilities: { extensions: { 'example.com/other': { a: 1 } } } });
      await joined.client.listTools();
      expect(capabilitiesAt(joined.server)['extensions']).toEqual({
        'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
        'example.com/other': { a: 1 },
      });
    },
  );

  verifies('D17', 'fills in defaults where the client says that it does', async () => {
    await using joined = await join({ capabilities: { elicitation: { form: { applyDefaults: true } } } });
    const { client, server } = joined;
    await client.elicitation.onRequest('s', () => ({ action: 'accept', content: { age: 36 } }));
    await client.listTools();
    expect(declared(server)).toEqual({ elicitation: { form: { applyDefaults: true }, url: {} } });
    const { result } = await server.ask('elicitation/create', form);
    expect(result).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } });
  });

  verifies('X08', 'has one handler: the last one, until it is removed', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.listTools();
    const answer = (name: string) => () => ({ action: 'accept' as const, content: { name } });
    const stopFirst = await client.elicitation.onRequest('s', answer('first'));
    const stopSecond = await client.elicitation.onRequest('s', answer('second'));
    stopFirst();
    expect((await server.ask('elicitation/create', form)).result).toMatchObject({
      content: { name: 'second' },
    });
    await client.reconnectServer('s');
    expect((await server.ask('elicitation/create', form)).result).toMatchObject({
      content: { name: 'second' },
    });
    stopSecond();
    expect((await server.ask('elicitation/create', form)).result).toEqual({ action: 'decline' });
  });

  verifies(
    ['D06', 'B44'],
    'whose handler throws, rejects or answers nonsense is an error without its text',
    async () => {
      using unhandled = collectUnhandled();
      await using joined = await join();
      const { client, server } = joined;
      const warnings = warningsOf(client);
      await client.listTools();
      const bad = [
        () => {
          throw new Error('secret-1');
        },
        () => Promise.reject(new Error('secret-2')),
        () => Promise.reject(Object.assign(new Error('secret-3'), { code: 20 })),
        () => ({ action: 'accepted: secret-4' }),
        () => undefined,
      ];
      for (const handler of bad) {
        await client.elicitation.onRequest('s', handler as never);
        const { error } = await server.ask('elicitation/create', form);
        expect(error).toEqual({ code: -32603, message: 'The handler of the client failed' });
      }
      expect(warnings.filter(text => text.includes('a handler failed'))).toHaveLength(bad.length);
      expect(warnings.join()).toContain('secret-1');
      expect(await unhandled.found()).toEqual([]);
      await client.ping('s');
    },
  );

  test('tells the server what a handler says with a JSON-RPC code', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.listTools();
    const refusal = Object.assign(new Error('Not at night'), { code: -32000, data: { until: 7 } });
    await client.elicitation.onRequest('s', () => Promise.reject(refusal));
    const { error } = await server.ask('elicitation/create', form);
    expect(error).toEqual({ code: -32000, message: 'Not at night', data: { until: 7 } });
  });

  test('that asks for a task is answered as if it did not: no tasks are declared', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.elicitation.onRequest('s', () => ({ action: 'cancel' }));
    await client.listTools();
    const { result } = await server.ask('elicitation/create', { ...form, task: { ttl: 1000 } });
    expect(result).toEqual({ action: 'cancel' });
  });

  test('that is taken back aborts the signal of its handler', async () => {
    await using joined = await join();
    const { client, server } = joined;
    const warnings = warningsOf(client);
    let aborted = false;
    await client.elicitation.onRequest('s', (_, { signal }) => {
      const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
      return ended.then(() => {
        aborted = true;
        throw new Error('gone');
      });
    });
    await client.listTools();
    void server.ask('elicitation/create', form);
    await server.takeBack();
    await until('the handler is told', () => aborted);
    await client.ping('s');
    expect(warnings.filter(text => text.includes('a handler failed'))).toEqual([]);
  });

  verifies('D17', 'tells once when the user has dealt with a page that the server asked for', async () => {
    await using joined = await join(
      {},
      {
        answers: {
          'resources/read': () => {
            throw new RpcError(-32042, 'Log in', { elicitations: [{ elicitationId: 'e2' }, null] });
          },
        },
      },
    );
    const { client, server } = joined;
    const done: string[] = [];
    await client.elicitation.onComplete('s', ({ elicitationId }) => void done.push(elicitationId));
    await client.elicitation.onRequest('s', () => ({ action: 'accept' }));
    await client.listTools();
    const complete = (elicitationId: string): Promise<void> =>
      server.notify('notifications/elicitation/complete', { elicitationId });
    await complete('e1');
    await server.ask('elicitation/create', page('https://example.com/'));
    expect(await rejection(client.resources.read('s', 'r://1'))).toMatchObject({ rpcCode: -32042 });
    for (const id of ['e1', 'e1', 'e2', 'unknown']) await complete(id);
    await until('the handler is told', () => done.includes('e2'));
    await server.ask('elicitation/create', form);
    expect(done).toEqual(['e1', 'e2']);
  });

  verifies('S117', 'of an unknown server is refused by its own code', async () => {
    await using client = openClient({ s: { command: 'never-started' } });
    const error = await rejection(client.elicitation.onRequest('x', () => ({ action: 'cancel' })));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED', serverName: 'x' });
  });
});

describe('sampling', () => {
  verifies(
    ['D17', 'X08'],
    'is declared only with a handler; one that comes later connects anew before the next call, losing none in flight',
    async () => {
      let finish: () => void = () => undefined;
      const finished = new Promise<void>(resolve => (finish = resolve));
      await using joined = await join(
        {},
        {
          answers: {
            'tools/call': async ({ arguments: args }, session) => {
              if ((args as { slow?: boolean }).slow === true) await finished;
              return { content: [{ type: 'text', text: session }] };
            },
          },
        },
      );
      const { client, server } = joined;
      const echo = await executeOf(client, 's_echo');
      expect(declared(server)).not.toHaveProperty('sampling');
      const first = client.sessionIds['s'];
      const slow = echo({ slow: true });
      await until('the call is in flight', () => server.count('POST', 'tools/call') === 1);

      const stop = await client.sampling.onRequest('s', () => reply);
      // Until the next call the old connection stays, and what it tells is heard.
      expect(client.sessionIds['s']).toBe(first);
      const second = textOf(await echo({}));
      expect(second).not.toBe(first);
      expect(declared(server)).toMatchObject({ sampling: {} });
      expect(server.count('DELETE')).toBe(0);
      finish();
      expect(textOf(await slow)).toBe(first);
      await until('the first session is ended', () => server.count('DELETE') === 1);

      expect((await server.ask('sampling/createMessage', question)).result).toEqual(reply);
      stop();
      expect((await server.ask('sampling/createMessage', question)).error?.code).toBe(-32601);
      await client.sampling.onRequest('s', () => reply);
      expect(textOf(await echo({}))).toBe(second);
    },
  );

  verifies('X08', 'is declared as well when the handler comes during the handshake', async () => {
    await using joined = await join();
    const { client, server } = joined;
    const listed = client.listTools();
    await until('the handshake began', () => client.getServerStatus()['s']?.state === 'connecting');
    await client.sampling.onRequest('s', () => reply);
    await client.ping('s');
    await listed;
    expect(declared(server)).toHaveProperty('sampling');
  });

  verifies('D17', 'passes on the refusal of the user', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.sampling.onRequest('s', () => {
      throw Object.assign(new Error('User rejected sampling request'), { code: -1 });
    });
    await client.listTools();
    const { error } = await server.ask('sampling/createMessage', question);
    expect(error).toEqual({ code: -1, message: 'User rejected sampling request' });
  });

  verifies('D17', 'with tools needs their declaration, and messages that fit together', async () => {
    const tools = [{ name: 't', inputSchema: { type: 'object' } }];
    const use = { type: 'tool_use', id: 'u1', name: 't', input: {} };
    const result = { type: 'tool_result', toolUseId: 'u1', content: [{ type: 'text', text: '1' }] };
    const used = (...content: readonly object[]): object => ({
      ...question,
      tools,
      messages: [...question.messages, { role: 'assistant', content: [use] }, { role: 'user', content }],
    });
    await using plain = await join();
    await plain.client.sampling.onRequest('s', () => reply);
    await plain.client.listTools();
    expect((await plain.server.ask('sampling/createMessage', { ...question, tools })).error?.code).toBe(
      -32602,
    );

    await using joined = await join({ capabilities: { sampling: { tools: {} } } });
    const { client, server } = joined;
    const seen: unknown[] = [];
    await client.sampling.onRequest('s', params => {
      seen.push(params.tools);
      return {
        role: 'assistant',
        model: 'm',
        stopReason: 'toolUse',
        content: [{ ...use, type: 'tool_use' }],
      };
    });
    await client.listTools();
    expect(declared(server)).toMatchObject({ sampling: { tools: {} } });
    expect((await server.ask('sampling/createMessage', used(result))).result).toMatchObject({
      stopReason: 'toolUse',
      content: [{ type: 'tool_use', id: 'u1' }],
    });
    expect(seen).toEqual([tools]);
    const text = { type: 'text', text: 'and' };
    for (const wrong of [used(result, text), used(text), used({ ...result, toolUseId: 'u2' })]) {
      expect((await server.ask('sampling/createMessage', wrong)).error?.code).toBe(-32602);
    }
    expect(seen).toHaveLength(1);
  });

  test('without tools cannot be answered with them', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.sampling.onRequest('s', () => ({ ...reply, content: { type: 'poem' } }) as never);
    await client.listTools();
    const { error } = await server.ask('sampling/createMessage', question);
    expect(error).toEqual({ code: -32603, message: 'The handler of the client failed' });
  });
});

describe('roots', () => {
  verifies(
    ['D17', 'X08', 'S246'],
    'come from the handler, else from the option, and only those that are files',
    async () => {
      await using joined = await join({ roots: [{ uri: 'file:///option' }] });
      const { client, server } = joined;
      const warnings = warningsOf(client);
      await client.listTools();
      expect(declared(server)).toMatchObject({ roots: { listChanged: true } });
      const roots = async (): Promise<unknown> => (await server.ask('roots/list')).result?.['roots'];
      expect(await roots()).toEqual([{ uri: 'file:///option' }]);
      const stop = await client.roots.onRequest('s', () =>
        Promise.resolve([
          { uri: 'file:///handler', name: 'h' },
          { uri: 'https://example.com' },
          null as never,
        ]),
      );
      await client.roots.notifyListChanged('s');
      expect(server.count('POST', 'notifications/roots/list_changed')).toBe(1);
      expect(await roots()).toEqual([{ uri: 'file:///handler', name: 'h' }]);
      expect(warnings.join()).toContain('2 roots without a file:// URI');
      stop();
      expect(await roots()).toEqual([{ uri: 'file:///option' }]);
      await client.roots.onRequest('s', () => 'file:///x' as never);
      expect((await server.ask('roots/list')).error?.code).toBe(-32603);
      // What was declared already is not declared anew.
      expect(server.count('POST', 'initialize')).toBe(1);
    },
  );

  verifies(['D17', 'X08'], 'that come later are declared before the next call', async () => {
    await using joined = await join();
    const { client, server } = joined;
    await client.listTools();
    expect(declared(server)).not.toHaveProperty('roots');
    expect((await server.ask('roots/list')).error?.code).toBe(-32601);
    await client.roots.onRequest('s', () => [{ uri: 'file:///late' }]);
    await client.roots.notifyListChanged('s');
    expect(server.count('POST', 'notifications/roots/list_changed')).toBe(0);
    await client.ping('s');
    expect((await server.ask('roots/list')).result).toEqual({ roots: [{ uri: 'file:///late' }] });
  });

  test('are not told of where nothing is connected', async () => {
    await using joined = await join({ roots: [] });
    await joined.client.roots.notifyListChanged('s');
    expect(joined.server.requests).toEqual([]);
  });
});

describe('handlers of notifications', () => {
  verifies(
    ['S127', 'D06', 'X08'],
    'are all told, whatever one of them throws, until they are removed',
    async () => {
      using unhandled = collectUnhandled();
      const logged: string[] = [];
      await using joined = await join({
        logger: ({ level }) => {
          logged.push(level);
          return Promise.reject(new Error('log')) as never;
        },
      });
      const { client, server } = joined;
      const heard: string[] = [];
      const note = (name: string) => (): void => void heard.push(name);
      const stop = await client.tools.onListChanged('s', note('removed'));
      await client.tools.onListChanged('s', () => {
        throw new Error('thrown');
      });
      await client.tools.onListChanged('s', () => Promise.reject(new Error('rejected')));
      await client.tools.onListChanged('s', note('last'));
      stop();
      const warnings = warningsOf(client);
      await client.listTools();
      await server.notify('notifications/tools/list_changed');
      await server.notify('notifications/message', { level: 'error', data: 'x' });
      await server.notify('notifications/message', { level: { toString: 1 }, data: 'x' });
      await until('all is told', () => logged.length === 2);
      expect(heard).toEqual(['last']);
      expect(logged).toEqual(['error', 'info']);
      await until('all is logged', () => warnings.length === 4);
      expect(warnings.join()).toMatch(/thrown.*rejected.*log.*log/);
      expect(await unhandled.found()).toEqual([]);
    },
  );

  verifies(['X29', 'S128'], 'get progress tokens as text, whatever they were on the wire', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>(resolve => (finish = resolve));
    const call = (): unknown => finished.then(() => ({ content: [] }));
    await using joined = await join({}, { answers: { 'tools/call': call } });
    const { client, server } = joined;
    const tokens: unknown[] = [];
    await client.progress.onUpdate('s', () => {
      throw new Error('one handler of two');
    });
    await client.progress.onUpdate('s', ({ progressToken }) => void tokens.push(progressToken));
    const result = (await executeOf(client, 's_echo'))({}, { runId: '7' });
    await until('the call is there', () => server.count('POST', 'tools/call') === 1);
    await server.notify('notifications/progress', { progressToken: 7, progress: 1 });
    await server.notify('notifications/progress', { progressToken: 8, progress: 1 });
    await server.notify('notifications/progress', { progressToken: '7', progress: 2 });
    await until('the handler is told twice', () => tokens.length === 2);
    finish();
    await result;
    expect(tokens).toEqual(['7', '7']);
  });
});
