/** Prompts and completions of servers that behave well and badly. */
import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { RpcError, startScripted } from '../support/scripted-server.ts';

describe('prompts', () => {
  verifies(
    ['S124', 'D16', 'D06'],
    'are listed by server: all pages, with versions, none that is malformed',
    async () => {
      await using server = await startScripted({
        answers: {
          'prompts/list': ({ cursor }) =>
            cursor === undefined
              ? {
                  prompts: [{ name: 'a', _meta: { version: 'v1' } }, { title: 'no name' }],
                  nextCursor: 'two',
                }
              : { prompts: [{ name: 'b', _meta: { version: 7 } }, { name: '__proto__' }] },
        },
      });
      await using client = openClient({ s: { url: server.url }, none: { url: server.url, enabled: false } });
      const entries = [
        { name: 'a', version: 'v1', _meta: { version: 'v1' } },
        { name: 'b', _meta: { version: 7 } },
        { name: '__proto__' },
      ];
      expect(await client.prompts.list()).toEqual({ s: entries });
      expect(await client.prompts.listWithErrors()).toEqual({
        prompts: { s: entries },
        errors: {},
        errorDetails: { s: { leftOut: 1, tools: [] } },
        durations: { s: expect.any(Number) as number },
      });
    },
  );

  verifies(['S247', 'S124'], 'of a server that fails are missing, with the reason by name', async () => {
    await using server = await startScripted({
      answers: {
        'prompts/list': () => {
          throw new RpcError(-32000, 'out of ideas');
        },
      },
    });
    await using client = openClient({ s: { url: server.url } });
    expect(await client.prompts.list()).toEqual({});
    const { prompts, errors, errorDetails } = await client.prompts.listWithErrors({
      perServerTimeoutMs: 60_000,
    });
    expect(prompts).toEqual({});
    expect(errors['s']).toContain('out of ideas');
    expect(errorDetails['s']?.error).toMatchObject({ code: 'MCP_CLIENT_REQUEST_FAILED', rpcCode: -32000 });
  });

  verifies(
    ['S125', 'X09'],
    'are filled in: arguments as text, the version as meta, and with the prompt beside the messages',
    async () => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }];
      await using server = await startScripted({
        answers: {
          'prompts/get': ({ name }) => ({ description: name === 'odd' ? 7 : 'd', messages, _meta: { a: 1 } }),
        },
      });
      await using client = openClient({ s: { url: server.url } });
      const args = { text: 'x', n: 1, list: [1, { a: 2 }], no: undefined, nothing: null, call: () => 1 };
      expect(await client.prompts.get({ serverName: 's', name: 'p', args, version: 'v2' })).toEqual({
        description: 'd',
        messages,
        _meta: { a: 1 },
        prompt: { name: 'p', description: 'd', version: 'v2' },
      });
      const { prompt } = await client.prompts.get({ serverName: 's', name: 'odd' });
      expect(prompt).toEqual({ name: 'odd' });
      expect(server.received('prompts/get')).toEqual([
        {
          name: 'p',
          arguments: { text: 'x', n: '1', list: '[1,{"a":2}]', nothing: 'null' },
          _meta: { version: 'v2' },
        },
        { name: 'odd', arguments: {} },
      ]);
    },
  );

  verifies(
    'S125',
    'of an unknown server are refused by their own code, and results without messages too',
    async () => {
      await using server = await startScripted({ answers: { 'prompts/get': () => ({ messages: {} }) } });
      await using client = openClient({ s: { url: server.url } });
      expect(await rejection(client.prompts.get({ serverName: 'x', name: 'p' }))).toMatchObject({
        code: 'MCP_CLIENT_GET_PROMPT_FAILED',
        serverName: 'x',
        mayHaveExecuted: false,
      });
      expect(await rejection(client.prompts.get({ serverName: 's', name: 'p' }))).toMatchObject({
        code: 'MCP_CLIENT_RESPONSE_INVALID',
        method: 'prompts/get',
      });
      expect(await rejection(client.prompts.onListChanged('x', () => undefined))).toMatchObject({
        code: 'MCP_CLIENT_CONFIGURATION_INVALID',
      });
    },
  );
});

describe('completions', () => {
  verifies('D17', 'go out with their context and come back as text only', async () => {
    await using server = await startScripted({
      answers: {
        'completion/complete': () => ({ completion: { values: ['a', 7, 'b'], total: 3, hasMore: true } }),
      },
    });
    await using client = openClient({ s: { url: server.url } });
    const request = {
      ref: { type: 'ref/resource', uri: 'file:///{path}' },
      argument: { name: 'path', value: 'x' },
      context: { arguments: { drive: 'c' } },
    } as const;
    expect(await client.completions.complete({ serverName: 's', ...request })).toEqual({
      values: ['a', 'b'],
      total: 3,
      hasMore: true,
    });
    expect(server.received('completion/complete')).toEqual([request]);
  });

  test('that are none are refused', async () => {
    await using server = await startScripted({
      answers: { 'completion/complete': () => ({ completion: null }) },
    });
    await using client = openClient({ s: { url: server.url } });
    const ref = { type: 'ref/prompt', name: 'p' } as const;
    const argument = { name: 'a', value: '' };
    const complete = (serverName: string) =>
      rejection(client.completions.complete({ serverName, ref, argument }));
    expect(await complete('s')).toMatchObject({ code: 'MCP_CLIENT_RESPONSE_INVALID' });
    expect(await complete('x')).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID' });
  });
});
