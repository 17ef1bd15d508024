import { describe, expect, test } from 'vitest';
import { MCPServerError } from '../../src/server/index.ts';
import type { MCPServerPrompts, Prompt, PromptMessage, PromptRequest } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';
import type { Caller } from './call-harness.ts';
import { ask, logsOf, refusalOf, serverWith } from './capability-harness.ts';

const say = (text: string): PromptMessage => ({ role: 'user', content: { type: 'text', text } });

/** A prompt in two versions, as the sample of the reference has it, and one without. */
const listed: Prompt[] = [
  { name: 'analyze-code', version: 'v1', description: 'Analyze code', arguments: [{ name: 'code' }] },
  { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
  { name: 'analyze-code', version: 'v2', description: 'Analyze code (new logic)' },
];

const prompts: MCPServerPrompts = {
  listPrompts: async () => listed,
  getPromptMessages: async ({ name, version, args }) => [
    say(`${name} ${version ?? 'unversioned'} ${JSON.stringify(args)}`),
  ],
};

const connect = (given: MCPServerPrompts): Promise<Caller> => callInMemory(serverWith({ prompts: given }));

const get = (caller: Caller, name: unknown, more: object = {}): Promise<Record<string, unknown>> =>
  ask(caller, 'prompts/get', { name, ...more });

const textOf = async (answer: Promise<Record<string, unknown>>): Promise<string> =>
  ((await answer)['messages'] as { content: { text: string } }[])[0]?.content.text ?? '';

describe('a list', () => {
  verifies(
    ['S194', 'S195', 'X17'],
    'has the first version under the bare name and others by theirs',
    async () => {
      await using caller = await connect(prompts);
      expect(await ask(caller, 'prompts/list')).toEqual({
        prompts: [
          {
            name: 'analyze-code',
            description: 'Analyze code',
            arguments: [{ name: 'code' }],
            _meta: { version: 'v1' },
          },
          { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
          { name: 'analyze-code@v2', description: 'Analyze code (new logic)', _meta: { version: 'v2' } },
        ],
      });
    },
  );

  verifies('S194', 'has every field of its entries', async () => {
    const full = {
      name: 'full',
      title: 'Full',
      description: 'Everything',
      icons: [{ src: 'https://example.com/i.png' }],
      arguments: [{ name: 'a', title: 'A', description: 'An argument', required: false }],
      _meta: { 'example.com/x': 1 },
    };
    await using caller = await connect({ listPrompts: () => [full, { ...full, version: '2' }] });
    expect(await ask(caller, 'prompts/list')).toEqual({
      prompts: [full, { ...full, name: 'full@2', _meta: { 'example.com/x': 1, version: '2' } }],
    });
  });

  verifies('D16', 'refuses a cursor', async () => {
    await using caller = await connect(prompts);
    expect(await refusalOf(ask(caller, 'prompts/list', { cursor: 'x' }))).toEqual({
      code: -32602,
      message: 'Unknown cursor',
    });
  });

  verifies(
    'S195',
    'has every name once: what could not be asked for is left out with a warning',
    async () => {
      const server = serverWith({
        prompts: {
          ...prompts,
          listPrompts: () => [
            { name: 'a', version: '1' },
            { name: 'a', version: '1', description: 'again' },
            { name: 'a' },
            { name: 'a@1' },
            { name: 'a', version: '2' },
          ],
        },
      });
      const { warnings } = logsOf(server);
      await using caller = await callInMemory(server);
      const { prompts: shown } = await caller.client.listPrompts();
      await caller.client.listPrompts();
      expect(shown.map(({ name }) => name)).toEqual(['a', 'a@2']);
      expect(warnings).toEqual(
        ['a@1', 'a'].map(name => `listPrompts returned "${name}" more than once; the first one counts`),
      );
    },
  );

  test('leaves out entries that clients refuse, and warns', async () => {
    const bad = [null, {}, { name: 7 }, { name: 'x', version: 2 }, { name: 'y', arguments: ['code'] }];
    const server = serverWith({
      prompts: { ...prompts, listPrompts: () => [...bad, { name: 'good' }] as Prompt[] },
    });
    const { warnings } = logsOf(server);
    await using caller = await callInMemory(server);
    expect(await ask(caller, 'prompts/list')).toEqual({ prompts: [{ name: 'good' }] });
    expect(warnings).toHaveLength(bad.length);
    expect(warnings[3]).toBe('Entry 3 of listPrompts is left out: version: must be a string');
  });

  test('that fails, or is none, is an internal error with one line', async () => {
    const failing = [
      [() => Promise.reject(new Error('No\nprompts')), 'listPrompts failed: No prompts'],
      [() => undefined as never, 'listPrompts must return an array'],
    ] as const;
    for (const [listPrompts, message] of failing) {
      await using caller = await connect({ listPrompts });
      expect(await refusalOf(ask(caller, 'prompts/list'))).toEqual({ code: -32603, message });
      expect(await refusalOf(get(caller, 'x'))).toEqual({ code: -32603, message });
    }
  });
});

describe('a prompt', () => {
  verifies(
    ['S195', 'S196', 'X17'],
    'is found by name, by name with version, and by _meta; the first version is the default',
    async () => {
      await using caller = await connect(prompts);
      const meta = (version: unknown) => ({ _meta: { version } });
      expect(await textOf(get(caller, 'analyze-code'))).toBe('analyze-code v1 {}');
      expect(await textOf(get(caller, 'analyze-code@v1'))).toBe('analyze-code v1 {}');
      expect(await textOf(get(caller, 'analyze-code@v2'))).toBe('analyze-code v2 {}');
      expect(await textOf(get(caller, 'analyze-code', meta('v1')))).toBe('analyze-code v1 {}');
      expect(await textOf(get(caller, 'analyze-code', meta('v2')))).toBe('analyze-code v2 {}');
      expect(await textOf(get(caller, 'analyze-code@v2', meta('v2')))).toBe('analyze-code v2 {}');
      expect(await textOf(get(caller, 'greet', { arguments: { who: 'Ada' } }))).toBe(
        'greet unversioned {"who":"Ada"}',
      );
      // Metadata of other people means nothing.
      expect(await textOf(get(caller, 'analyze-code', meta(2)))).toBe('analyze-code v1 {}');
    },
  );

  verifies(['S196', 'X17'], 'that is unknown, also in this version, is refused', async () => {
    await using caller = await connect(prompts);
    const unknown = [
      ['nope', {}, 'nope'],
      ['analyze-code@v3', {}, 'analyze-code@v3'],
      ['analyze-code', { _meta: { version: 'v3' } }, 'analyze-code@v3'],
      ['greet', { _meta: { version: 'v1' } }, 'greet@v1'],
      ['greet@', {}, 'greet@'],
      ['', {}, ''],
    ] as const;
    for (const [name, more, shown] of unknown) {
      expect(await refusalOf(get(caller, name, more))).toEqual({
        code: -32602,
        message: `Unknown prompt: ${shown}`,
      });
    }
    expect((await refusalOf(get(caller, 7))).code).toBe(-32602);
    expect((await refusalOf(ask(caller, 'prompts/get'))).code).toBe(-32602);
  });

  verifies('T2', 'may have a name that means something to JavaScript', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    await using caller = await connect({ ...prompts, listPrompts: () => names.map(name => ({ name })) });
    for (const name of names) expect(await textOf(get(caller, name))).toBe(`${name} unversioned {}`);
    expect((await refusalOf(get(caller, 'valueOf'))).code).toBe(-32602);
    await using greeter = await connect(prompts);
    for (const name of names) expect((await refusalOf(get(greeter, name))).code).toBe(-32602);
  });

  verifies('S198', 'is not asked for without its required arguments, or with others than text', async () => {
    let asked = 0;
    await using caller = await connect({
      listPrompts: () => [{ name: 'p', arguments: [{ name: 'toString', required: true }, { name: 'b' }] }],
      getPromptMessages: ({ args }) => {
        asked += 1;
        return [say(JSON.stringify(args))];
      },
    });
    const refused = [
      [undefined, 'The prompt "p" needs the argument "toString"'],
      [{ b: 'x' }, 'The prompt "p" needs the argument "toString"'],
      [{ toString: 7 }, '"arguments" of prompts/get: "toString" must be a string'],
      [{ toString: 'x', b: null }, '"arguments" of prompts/get: "b" must be a string'],
      [['x'], '"arguments" of prompts/get must be an object'],
      ['x', '"arguments" of prompts/get must be an object'],
    ] as const;
    for (const [args, message] of refused) {
      expect(await refusalOf(get(caller, 'p', { arguments: args }))).toEqual({ code: -32602, message });
    }
    expect(asked).toBe(0);
    const args = { toString: '', unknown: 'kept' };
    expect(await textOf(get(caller, 'p', { arguments: args }))).toBe(JSON.stringify(args));
  });

  verifies(
    ['S194', 'X09'],
    'is messages, or messages beside the prompt; its answer is what the protocol has',
    async () => {
      const messages = [
        say('text'),
        {
          role: 'assistant' as const,
          content: { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' },
        },
        { role: 'user' as const, content: { type: 'audio' as const, data: 'aGk=', mimeType: 'audio/wav' } },
        {
          role: 'user' as const,
          content: {
            type: 'resource' as const,
            resource: { uri: 'n://1', text: 'a', mimeType: 'text/plain' },
          },
        },
        { role: 'user' as const, content: { type: 'resource_link' as const, uri: 'n://1', name: 'Link' } },
      ];
      const [v1] = listed;
      const forms: readonly (readonly [
        Awaited<ReturnType<NonNullable<MCPServerPrompts['getPromptMessages']>>>,
        string,
      ])[] = [
        [messages, 'Analyze code'],
        [{ messages }, 'Analyze code'],
        [{ prompt: v1, messages }, 'Analyze code'],
        [{ prompt: { name: 'x', description: 'For you' }, messages }, 'For you'],
        [{ prompt: null as never, messages }, 'Analyze code'],
      ];
      for (const [form, description] of forms) {
        await using caller = await connect({ ...prompts, getPromptMessages: () => form });
        expect(await get(caller, 'analyze-code')).toEqual({
          description,
          messages,
          _meta: { version: 'v1' },
        });
      }
    },
  );

  test.each([
    ['nothing', undefined],
    ['text', 'hello'],
    ['an object without messages', { prompt: listed[0] }],
    ['a message without a role', [{ content: { type: 'text', text: 'x' } }]],
    ['a message of the system', [{ role: 'system', content: { type: 'text', text: 'x' } }]],
    ['content that is a string', [{ role: 'user', content: 'x' }]],
    ['an image without a type', [say('fine'), { role: 'user', content: { type: 'image', data: 'aGk=' } }]],
  ])('that the author answers with %s is named as the author’s failure', async (_, answer) => {
    await using caller = await connect({ ...prompts, getPromptMessages: () => answer as never });
    const refusal = await refusalOf(get(caller, 'analyze-code'));
    expect(refusal.code).toBe(-32603);
    expect(refusal.message).toMatch(/^getPromptMessages (?:must return messages|returned a message \d)/);
  });

  verifies('S198', 'whose author throws is an internal error with one readable line', async () => {
    const failures = [
      [
        new Error('No model\n    at x (/srv/app.js:1:1)'),
        { code: -32603, message: 'getPromptMessages failed: No model' },
      ],
      [
        new MCPServerError('MCP_SERVER_PARAMS_INVALID', { message: '"code" must be JavaScript' }),
        { code: -32602, message: '"code" must be JavaScript' },
      ],
    ] as const;
    for (const [error, refusal] of failures) {
      await using caller = await connect({ ...prompts, getPromptMessages: () => Promise.reject(error) });
      expect(await refusalOf(get(caller, 'analyze-code'))).toEqual(refusal);
    }
    await using silent = await connect({ listPrompts: prompts.listPrompts });
    expect(await refusalOf(get(silent, 'analyze-code'))).toEqual({
      code: -32603,
      message: 'getPromptMessages is not given',
    });
  });

  verifies('S194', 'is made for whoever calls', async () => {
    const seen: PromptRequest[] = [];
    const server = serverWith({
      mapAuthInfoToUser: ({ authInfo }) => (authInfo as { clientId: string }).clientId,
      prompts: {
        ...prompts,
        getPromptMessages: request => {
          seen.push(request);
          return [];
        },
      },
    });
    await using caller = await callByFetch(server, { facts: { authInfo: { clientId: 'ada' } } });
    await caller.client.getPrompt({ name: 'analyze-code@v2' });
    expect(seen[0]).toMatchObject({ name: 'analyze-code', version: 'v2', args: {} });
    expect(seen[0]?.extra.authInfo).toEqual({ clientId: 'ada' });
    expect(seen[0]?.requestContext.get('user')).toBe('ada');
    await server.close();
  });
});

describe('the capability', () => {
  verifies('S142', 'is absent without the option, and so are the methods', async () => {
    await using caller = await callInMemory(serverWith({}));
    expect(caller.client.getServerCapabilities()).not.toHaveProperty('prompts');
    for (const method of ['prompts/list', 'prompts/get']) {
      expect((await refusalOf(ask(caller, method, { name: 'x' }))).code).toBe(-32601);
    }
  });

  verifies(['S194', 'S197'], 'says whether changes are told; then every client is', async () => {
    const server = serverWith({ prompts });
    const heard: string[] = [];
    const onNotification = (method: string): void => void heard.push(method);
    await using a = await callInMemory(server, { onNotification });
    await using b = await callInMemory(server, { onNotification });
    for (const { client } of [a, b]) {
      expect(client.getServerCapabilities()?.prompts).toEqual({ listChanged: true });
      await client.ping();
    }
    await using stateless = await callByFetch(server, { facts: { options: { serverless: true } } });
    expect(stateless.client.getServerCapabilities()?.prompts).toEqual({});
    await server.prompts.notifyListChanged();
    await until(() => heard.length === 2);
    expect(heard).toEqual(Array.from({ length: 2 }, () => 'notifications/prompts/list_changed'));
    await server.close();
  });
});
