import { describe, expect, test } from 'vitest';
import { MCPServerError } from '../../src/server/index.ts';
import type { MCPServerResources, RequestFacts, Resource } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';
import type { Caller } from './call-harness.ts';
import { ask, logsOf, refusalOf, serverWith } from './capability-harness.ts';

const GREETING = 'notes://greeting';

/** Two listed resources, one hidden one, and a family of them. */
const notes: MCPServerResources = {
  listResources: async () => [
    { uri: GREETING, name: 'Greeting', mimeType: 'text/plain' },
    { uri: 'notes://logo', name: 'Logo', mimeType: 'image/png' },
  ],
  resourceTemplates: async () => [
    { uriTemplate: 'notes://by-day/{day}', name: 'Notes of a day', mimeType: 'text/markdown' },
  ],
  getResourceContent: async ({ uri }) => {
    if (uri === GREETING) return { text: 'Hello' };
    if (uri === 'notes://logo') return { blob: 'iVBORw0KGgo=' };
    if (uri === 'notes://hidden') return { text: 'Found me' };
    const day = /^notes:\/\/by-day\/(?<day>\w+)$/.exec(uri)?.groups?.['day'];
    return day === undefined ? undefined : { text: `# ${day}` };
  },
};

const connect = (resources: MCPServerResources): Promise<Caller> => callInMemory(serverWith({ resources }));

const read = (caller: Caller, uri: unknown): Promise<Record<string, unknown>> =>
  ask(caller, 'resources/read', { uri });

describe('lists', () => {
  verifies(['S187', 'S189'], 'hold what the callbacks listed, with every field', async () => {
    const full = {
      uri: GREETING,
      name: 'greeting',
      title: 'Greeting',
      description: 'Says hello',
      mimeType: 'text/plain',
      size: 5,
      icons: [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'] }],
      annotations: { audience: ['user' as const], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' },
      _meta: { 'example.com/x': { y: 1 } },
    };
    const template = { uriTemplate: 'notes://by-day/{day}', name: 'day', title: 'Day', _meta: { a: 1 } };
    await using caller = await connect({
      listResources: async () => [full],
      getResourceContent: async () => undefined,
      resourceTemplates: async () => [template],
    });
    expect(await ask(caller, 'resources/list')).toEqual({ resources: [full] });
    expect(await ask(caller, 'resources/templates/list')).toEqual({ resourceTemplates: [template] });
  });

  verifies('S187', 'come from callbacks that may be synchronous, methods, or without templates', async () => {
    class Shelf implements MCPServerResources {
      readonly #titles = ['one', 'two'];

      listResources = (): Resource[] => this.#titles.map(name => ({ uri: `shelf://${name}`, name }));

      getResourceContent({ uri }: { uri: string }): { text: string } {
        return { text: `${uri} of ${this.#titles.length}` };
      }
    }
    await using caller = await connect(new Shelf());
    expect((await caller.client.listResources()).resources).toHaveLength(2);
    expect((await caller.client.listResourceTemplates()).resourceTemplates).toEqual([]);
    expect((await caller.client.readResource({ uri: 'shelf://one' })).contents).toEqual([
      { uri: 'shelf://one', text: 'shelf://one of 2' },
    ]);
  });

  verifies('D16', 'refuse a cursor: there is one page, so nobody can have one', async () => {
    await using caller = await connect(notes);
    for (const method of ['resources/list', 'resources/templates/list']) {
      const refusal = await refusalOf(ask(caller, method, { cursor: 'x' }));
      expect(refusal).toEqual({ code: -32602, message: 'Unknown cursor' });
    }
  });

  test('may be long', async () => {
    const long = Array.from({ length: 10_000 }, (_, at) => ({ uri: `n://${at}`, name: `${at}` }));
    await using caller = await connect({ ...notes, listResources: () => long });
    expect((await caller.client.listResources()).resources).toEqual(long);
  });

  test('leave out entries that clients refuse, which would cost them the whole list, and warn once', async () => {
    const good = { uri: GREETING, name: 'Greeting', future: { kept: true } };
    const bad = [
      null,
      7,
      {},
      { uri: 'n://1' },
      { uri: 'n://2', name: 'b', size: '5' },
      { uri: 1, name: 'c' },
    ];
    const server = serverWith({
      resources: {
        listResources: () => [good, ...bad] as Resource[],
        getResourceContent: () => undefined,
        resourceTemplates: () => [{ name: 'x' }, { uriTemplate: 'n://{a}{b}', name: 'y' }] as never,
      },
    });
    const { warnings } = logsOf(server);
    await using caller = await callInMemory(server);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await ask(caller, 'resources/list')).toEqual({ resources: [good] });
      expect(await ask(caller, 'resources/templates/list')).toEqual({ resourceTemplates: [] });
    }
    expect(warnings).toHaveLength(bad.length + 2);
    expect(warnings[4]).toMatch(/^Entry 5 of listResources is left out: size: /);
    expect(warnings.at(-1)).toContain('"n://{a}{b}"');
  });

  test('are answered also where an entry holds what JSON cannot', async () => {
    const circular: Record<string, unknown> = { big: 12n, when: new Date(0) };
    circular['self'] = circular;
    await using caller = await connect({
      ...notes,
      listResources: () => [{ uri: GREETING, name: 'Greeting', _meta: circular }],
    });
    expect(await ask(caller, 'resources/list')).toEqual({
      resources: [
        {
          uri: GREETING,
          name: 'Greeting',
          _meta: { big: 12, when: '1970-01-01T00:00:00.000Z', self: '[Circular]' },
        },
      ],
    });
  });

  test('that fail, or are none, are internal errors with one line', async () => {
    const failing = [
      [() => Promise.reject(new Error('The disk\nis gone')), 'listResources failed: The disk is gone'],
      [() => ({ resources: [] }) as never, 'listResources must return an array'],
    ] as const;
    for (const [listResources, message] of failing) {
      await using caller = await connect({ ...notes, listResources });
      expect(await refusalOf(ask(caller, 'resources/list'))).toEqual({ code: -32603, message });
    }
  });
});

describe('reading', () => {
  verifies(['S188', 'S189'], 'gives text or Base64, with the media type of the list', async () => {
    await using caller = await connect(notes);
    expect(await read(caller, GREETING)).toEqual({
      contents: [{ uri: GREETING, mimeType: 'text/plain', text: 'Hello' }],
    });
    expect(await read(caller, 'notes://logo')).toEqual({
      contents: [{ uri: 'notes://logo', mimeType: 'image/png', blob: 'iVBORw0KGgo=' }],
    });
  });

  verifies(
    ['S189', 'X16'],
    'asks the callback for every URI: of a template, with its media type, and hidden ones',
    async () => {
      await using caller = await connect(notes);
      expect(await read(caller, 'notes://by-day/monday')).toEqual({
        contents: [{ uri: 'notes://by-day/monday', mimeType: 'text/markdown', text: '# monday' }],
      });
      expect(await read(caller, 'notes://hidden')).toEqual({
        contents: [{ uri: 'notes://hidden', text: 'Found me' }],
      });
    },
  );

  verifies(
    ['S187', 'S188'],
    'gives several contents, each with what the author said of it and what is known of its URI',
    async () => {
      await using caller = await connect({
        ...notes,
        getResourceContent: async () => [
          { text: 'a', mimeType: 'text/html', _meta: { ui: { prefersBorder: true } } },
          { uri: 'notes://logo', blob: '', future: 1 } as never,
          { uri: 'notes://by-day/1', text: '' },
          { uri: 'notes://elsewhere', text: 'b' },
        ],
      });
      expect(await read(caller, GREETING)).toEqual({
        contents: [
          { uri: GREETING, mimeType: 'text/html', text: 'a', _meta: { ui: { prefersBorder: true } } },
          { uri: 'notes://logo', mimeType: 'image/png', blob: '', future: 1 },
          { uri: 'notes://by-day/1', mimeType: 'text/markdown', text: '' },
          { uri: 'notes://elsewhere', text: 'b' },
        ],
      });
    },
  );

  test('does not ask for the lists where the media type is given', async () => {
    let lists = 0;
    await using caller = await connect({
      listResources: () => {
        lists += 1;
        return [];
      },
      getResourceContent: ({ uri }) => [
        { text: 'x', ...(uri === 'n://typed' ? { mimeType: 'text/plain' } : {}) },
        { text: 'y', mimeType: 'text/plain' },
      ],
    });
    await read(caller, 'n://typed');
    expect(lists).toBe(0);
    await read(caller, 'n://untyped');
    expect(lists).toBe(1);
  });

  verifies('S189', 'says not found where the callback gives nothing', async () => {
    await using caller = await connect(notes);
    for (const uri of ['notes://nothing', 'notes://by-day/1/2', '__proto__', 'no uri at all']) {
      expect(await refusalOf(read(caller, uri))).toEqual({
        code: -32002,
        message: `Resource not found: ${uri}`,
        data: { uri },
      });
    }
  });

  verifies('S189', 'says not found for a throw about a URI that nobody listed', async () => {
    const getResourceContent = ({ uri }: { uri: string }): never => {
      throw new Error(`Resource content not found for ${uri}\n    at secret (/srv/app.js:1:1)`);
    };
    await using caller = await connect({ ...notes, getResourceContent });
    expect(await refusalOf(read(caller, 'notes://x'))).toMatchObject({
      code: -32002,
      message: 'Resource not found: notes://x',
    });
    for (const uri of [GREETING, 'notes://by-day/monday']) {
      expect(await refusalOf(read(caller, uri))).toEqual({
        code: -32603,
        message: `getResourceContent failed: Resource content not found for ${uri}`,
      });
    }
  });

  test('does not call a URI unknown when the lists cannot be had', async () => {
    const server = serverWith({
      resources: {
        listResources: () => Promise.reject(new Error('No list')),
        getResourceContent: ({ uri }) => {
          if (uri === 'n://fine') return { text: 'fine' };
          throw new Error('No content');
        },
      },
    });
    const { errors } = logsOf(server);
    await using caller = await callInMemory(server);
    expect(await read(caller, 'n://fine')).toEqual({ contents: [{ uri: 'n://fine', text: 'fine' }] });
    expect(await refusalOf(read(caller, 'n://x'))).toEqual({
      code: -32603,
      message: 'getResourceContent failed: No content',
    });
    expect(errors).toEqual(['resources/read failed']);
  });

  test('lets authors answer with errors of ours, whatever is listed', async () => {
    const answers = {
      MCP_SERVER_RESOURCE_NOT_FOUND: { code: -32002, message: 'Gone', data: { since: 1 } },
      MCP_SERVER_PARAMS_INVALID: { code: -32602, message: 'Gone' },
      MCP_SERVER_ACCESS_DENIED: { code: -32603, message: 'getResourceContent failed: Gone' },
    } as const;
    for (const [code, answer] of Object.entries(answers)) {
      await using caller = await connect({
        ...notes,
        getResourceContent: () => {
          throw new MCPServerError(code as 'MCP_SERVER_PARAMS_INVALID', {
            message: 'Gone',
            data: { since: 1 },
          });
        },
      });
      expect(await refusalOf(read(caller, GREETING))).toEqual(answer);
    }
  });

  test('lets authors ask for a page that the user must open first', async () => {
    const elicitations = [
      { mode: 'url', elicitationId: '1', url: 'https://example.com/', message: 'Log in' },
    ];
    await using caller = await connect({
      ...notes,
      getResourceContent: () => {
        throw new MCPServerError('MCP_SERVER_URL_ELICITATION_REQUIRED', {
          message: 'Log in first',
          data: { elicitations },
        });
      },
    });
    expect(await refusalOf(read(caller, GREETING))).toMatchObject({ code: -32042, data: { elicitations } });
  });

  test.each([
    ['neither', {}],
    ['both', { text: 'a', blob: 'YQ==' }],
    ['a text that is none', { text: 7 }],
    ['a blob that is no Base64', { blob: '*' }],
    ['a media type that is none', { text: 'a', mimeType: 7 }],
    ['metadata that is none', { text: 'a', _meta: 'x' }],
    ['a URI that is none', { text: 'a', uri: 7 }],
    ['plain text', 'hello'],
    ['one of several', [{ text: 'a' }, null]],
  ])('names contents with %s as the failure of the author', async (_, contents) => {
    await using caller = await connect({ ...notes, getResourceContent: () => contents as never });
    const refusal = await refusalOf(read(caller, GREETING));
    expect(refusal.code).toBe(-32603);
    expect(refusal.message).toMatch(/^getResourceContent (?:must return|returned) contents/);
  });

  verifies('S9', 'refuses URIs that are none or longer than 8 KB', async () => {
    await using caller = await connect(notes);
    for (const uri of [undefined, 7, '', { toString: () => GREETING }, 'x'.repeat(8193)]) {
      const refusal = await refusalOf(read(caller, uri));
      expect(refusal).toEqual({ code: -32602, message: '"uri" must be a string of 1 to 8192 characters' });
    }
    expect((await refusalOf(read(caller, 'x'.repeat(8192)))).code).toBe(-32002);
  });

  verifies('S9', 'is not held up by URIs made to be costly', async () => {
    await using caller = await connect({
      ...notes,
      listResources: () => [],
      resourceTemplates: () =>
        ['x://{a}{b}{c}{d}', 'x://{a}-{b}-{c}-{d}!', 'x://{+a}a{+b}a{+c}a{+d}!'].map(uriTemplate => ({
          uriTemplate,
          name: 't',
        })),
    });
    const start = performance.now();
    for (const uri of [`x://${'a'.repeat(300)}`, `x://${'a-'.repeat(4094)}`, `x://${'a'.repeat(8188)}`]) {
      expect((await refusalOf(read(caller, uri))).code).toBe(-32002);
    }
    expect(performance.now() - start).toBeLessThan(2000);
  });

  verifies('T2', 'takes names that mean something to JavaScript as plain names', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    await using caller = await connect({
      listResources: () => names.map(name => ({ uri: name, name, mimeType: 'text/plain' })),
      getResourceContent: ({ uri }) => (names.includes(uri) ? { text: uri } : undefined),
    });
    expect((await caller.client.listResources()).resources.map(({ uri }) => uri)).toEqual(names);
    for (const uri of names) {
      expect(await read(caller, uri)).toEqual({ contents: [{ uri, mimeType: 'text/plain', text: uri }] });
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('callbacks', () => {
  verifies('S187', 'learn who calls, what the host prepared, and when the caller gives up', async () => {
    const seen: (RequestFacts & { readonly uri?: string })[] = [];
    const server = serverWith({
      mapAuthInfoToUser: ({ authInfo }) => (authInfo as { clientId: string }).clientId,
      resources: {
        listResources: request => {
          seen.push(request);
          return [];
        },
        getResourceContent: async request => {
          seen.push(request);
          await new Promise(resolve => request.extra.signal.addEventListener('abort', resolve));
          return { text: 'late' };
        },
      },
    });
    await using caller = await callByFetch(server, { facts: { authInfo: { clientId: 'ada' } } });
    await caller.client.listResources();
    const abort = new AbortController();
    const reading = caller.client.readResource({ uri: GREETING }, { signal: abort.signal });
    await until(() => seen.length === 2);
    abort.abort();
    await expect(reading).rejects.toThrow();
    await until(() => seen[1]?.extra.signal.aborted === true);
    for (const { extra, requestContext } of seen) {
      expect(extra.authInfo).toEqual({ clientId: 'ada' });
      expect(requestContext.get('user')).toBe('ada');
      expect(extra.sessionId).toBe(seen[0]?.extra.sessionId);
    }
    expect(seen[1]?.uri).toBe(GREETING);
    await server.close();
  });
});

describe('capabilities', () => {
  verifies('S193', 'are subscribe and listChanged where there is a session, and none where not', async () => {
    const server = serverWith({ resources: notes });
    await using session = await callByFetch(server);
    expect(session.client.getServerCapabilities()?.resources).toEqual({ subscribe: true, listChanged: true });
    for (const serverlessStreaming of [false, true]) {
      const facts = { options: { serverless: true, serverlessStreaming } };
      await using stateless = await callByFetch(server, { facts });
      expect(stateless.client.getServerCapabilities()?.resources).toEqual({});
      expect((await stateless.client.listResources()).resources).toHaveLength(2);
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        const asked = ask(stateless, method, { uri: GREETING });
        // With streaming a subscription is taken and ends with its request; it is not declared.
        if (serverlessStreaming) await expect(asked).resolves.toEqual({});
        else expect((await refusalOf(asked)).code).toBe(-32601);
      }
    }
    await server.close();
  });

  verifies('S142', 'are absent without the option, and so are the methods', async () => {
    await using caller = await callInMemory(serverWith({}));
    expect(caller.client.getServerCapabilities()).not.toHaveProperty('resources');
    const methods = ['list', 'read', 'templates/list', 'subscribe', 'unsubscribe'];
    for (const method of methods) {
      const refusal = await refusalOf(ask(caller, `resources/${method}`, { uri: GREETING }));
      expect(refusal).toEqual({ code: -32601, message: 'Method not found' });
    }
  });
});

describe('subscriptions', () => {
  verifies(
    ['S191', 'S192', 'S209'],
    'tell a client of the URIs it subscribed to, and every client of the list',
    async () => {
      const server = serverWith({ resources: notes });
      const heard: Record<'a' | 'b', string[]> = { a: [], b: [] };
      const listen = (name: 'a' | 'b') => (method: string, params: Record<string, unknown>) =>
        void heard[name].push([method.slice('notifications/resources/'.length), params['uri']].join(' '));
      await using a = await callInMemory(server, { onNotification: listen('a') });
      await using _b = await callInMemory(server, { onNotification: listen('b') });
      await a.client.subscribeResource({ uri: GREETING });
      await a.client.subscribeResource({ uri: GREETING });
      await server.resources.notifyUpdated({ uri: GREETING });
      await server.resources.notifyUpdated({ uri: 'notes://logo' });
      await a.client.unsubscribeResource({ uri: GREETING });
      await a.client.unsubscribeResource({ uri: GREETING });
      await server.resources.notifyUpdated({ uri: GREETING });
      await server.resources.notifyListChanged();
      await until(() => heard.a.length === 2 && heard.b.length === 1);
      expect(heard).toEqual({ a: [`updated ${GREETING}`, 'list_changed '], b: ['list_changed '] });
    },
  );

  test('are at most a thousand for each client', async () => {
    const server = serverWith({ resources: notes });
    await using greedy = await callInMemory(server);
    await using other = await callInMemory(server);
    for (let at = 0; at < 1000; at += 1) await greedy.client.subscribeResource({ uri: `n://${at}` });
    const refusal = await refusalOf(greedy.client.subscribeResource({ uri: 'n://1000' }));
    expect(refusal).toEqual({ code: -32602, message: 'A client may have at most 1000 subscriptions' });
    await greedy.client.subscribeResource({ uri: 'n://0' });
    await greedy.client.unsubscribeResource({ uri: 'n://0' });
    await greedy.client.subscribeResource({ uri: 'n://1000' });
    await other.client.subscribeResource({ uri: 'n://1000' });
  });

  verifies('S9', 'are refused for URIs that are none or too long', async () => {
    await using caller = await connect(notes);
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
      for (const uri of [undefined, 7, '', 'x'.repeat(8193)]) {
        expect((await refusalOf(ask(caller, method, { uri }))).code).toBe(-32602);
      }
    }
  });

  verifies('S191', 'are not told of what is no URI: the host learns that it is none', async () => {
    const server = serverWith({ resources: notes });
    for (const params of [undefined, {}, { uri: 7 }, { uri: '' }]) {
      const told = server.resources.notifyUpdated(params as never);
      await expect(told).rejects.toMatchObject({ code: 'MCP_SERVER_PARAMS_INVALID' });
    }
    await server.resources.notifyUpdated({ uri: GREETING });
  });
});

describe('the host', () => {
  verifies('S250', 'lists and reads what clients get', async () => {
    const server = serverWith({ resources: notes });
    await using caller = await callInMemory(server);
    expect(await server.listResources()).toEqual(await ask(caller, 'resources/list'));
    expect(await server.readResource(GREETING)).toEqual(await read(caller, GREETING));
    expect(await serverWith({}).listResources()).toEqual({ resources: [] });
  });

  verifies(['S250', 'S189'], 'gets errors with a code, and the status of a REST layer', async () => {
    const server = serverWith({ resources: notes });
    await expect(server.readResource('notes://x')).rejects.toMatchObject({
      code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
      message: 'Resource not found: notes://x',
      details: { status: 404 },
    });
    await expect(serverWith({}).readResource(GREETING)).rejects.toMatchObject({
      code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
    });
    await expect(server.readResource(7 as never)).rejects.toMatchObject({
      code: 'MCP_SERVER_PARAMS_INVALID',
    });
    const cause = new Error('No disk');
    const failing = serverWith({ resources: { ...notes, getResourceContent: () => Promise.reject(cause) } });
    await expect(failing.readResource(GREETING)).rejects.toMatchObject({
      code: 'MCP_SERVER_CALLBACK_FAILED',
      message: 'getResourceContent failed: No disk',
      cause,
    });
  });

  test('gets nothing from a closed server, and what it reads meanwhile is aborted', async () => {
    let signal: AbortSignal | undefined;
    const server = serverWith({
      resources: {
        ...notes,
        getResourceContent: async ({ extra }) => {
          ({ signal } = extra);
          await new Promise(resolve => extra.signal.addEventListener('abort', resolve));
          return undefined;
        },
      },
    });
    const reading = server.readResource(GREETING);
    await until(() => signal !== undefined);
    await server.close();
    await expect(reading).rejects.toMatchObject({ code: 'MCP_SERVER_RESOURCE_NOT_FOUND' });
    await expect(server.listResources()).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
    await expect(server.readResource(GREETING)).rejects.toMatchObject({ code: 'MCP_SERVER_CLOSED' });
  });
});
