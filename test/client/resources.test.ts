/** Resources of servers that behave well, badly, or forget their sessions. */
import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { RpcError, startScripted } from '../support/scripted-server.ts';
import { until } from '../support/processes.ts';

const resource = (uri: string): object => ({ uri, name: uri });
const never = (): Promise<never> => new Promise(() => undefined);

describe('listing', () => {
  verifies(['D16', 'S110'], 'reads every page, in order', async () => {
    await using server = await startScripted({
      answers: {
        'resources/list': ({ cursor }) =>
          cursor === undefined
            ? { resources: [resource('r://1')], nextCursor: 'two' }
            : { resources: [resource('r://2')] },
      },
    });
    await using client = openClient({ s: { url: server.url } });
    expect(await client.resources.list()).toEqual({ s: [resource('r://1'), resource('r://2')] });
    expect(server.received('resources/list')).toEqual([{}, { cursor: 'two' }]);
  });

  verifies(
    ['S110', 'S111'],
    'is empty for a server that declares no resources, which is not asked',
    async () => {
      await using server = await startScripted({ capabilities: { tools: {} } });
      await using client = openClient({ s: { url: server.url } });
      expect(await client.resources.list()).toEqual({ s: [] });
      expect(await client.resources.templates()).toEqual({ s: [] });
      expect(await client.prompts.list()).toEqual({ s: [] });
      expect(server.count('POST', 'resources/list') + server.count('POST', 'prompts/list')).toBe(0);
    },
  );

  test('is empty for tools as well where none are declared', async () => {
    await using server = await startScripted({ capabilities: { resources: {} } });
    await using client = openClient({ s: { url: server.url } });
    expect(await client.listToolsWithErrors()).toMatchObject({ tools: {}, errors: {} });
    expect(server.count('POST', 'tools/list')).toBe(0);
  });

  verifies('S111', 'is empty where the server does not know the method', async () => {
    const unknown = (): never => {
      throw new RpcError(-32601);
    };
    await using server = await startScripted({
      answers: { 'resources/templates/list': unknown, 'resources/list': unknown },
    });
    await using opener = openClient({ s: { url: server.url } });
    expect(await opener.resources.templatesWithErrors()).toMatchObject({ templates: { s: [] }, errors: {} });
    // Nothing is known of a session that was joined.
    const { s: sessionId = '' } = opener.sessionIds;
    await using client = openClient({ s: { url: server.url, sessionId } });
    expect(await client.resources.list()).toEqual({ s: [] });
  });

  verifies(['D06', 'S247'], 'leaves out what has no URI, and says so', async () => {
    const entries = [resource('r://1'), { name: 'no uri' }, null, 7, 'r://2', { uri: 3 }];
    await using server = await startScripted({
      answers: { 'resources/list': () => ({ resources: entries }) },
    });
    await using client = openClient({ s: { url: server.url } });
    const { resources, errors, errorDetails } = await client.resources.listWithErrors();
    expect(resources).toEqual({ s: [resource('r://1')] });
    expect(errors).toEqual({});
    expect(errorDetails['s']).toEqual({ leftOut: 5, tools: [] });
  });

  verifies(['S247', 'S110', 'D01'], 'leaves out a server that fails and says why by name', async () => {
    await using server = await startScripted({
      answers: {
        'resources/list': () => ({ resources: [resource('r://1')] }),
        'resources/templates/list': () => {
          throw new RpcError(-32000, 'the disk is gone');
        },
      },
    });
    await using client = openClient({ alive: { url: server.url }, dead: { command: '/does/not/exist' } });
    expect(await client.resources.list()).toEqual({ alive: [resource('r://1')] });
    const listed = await client.resources.listWithErrors();
    expect(Object.keys(listed)).toEqual(['resources', 'errors', 'errorDetails', 'durations']);
    expect(listed.errors).toEqual({ dead: expect.stringContaining('"dead"') as string });
    expect(listed.errorDetails['dead']?.error?.code).toBe('MCP_CLIENT_CONNECT_FAILED');
    expect(Object.keys(listed.durations)).toEqual(['alive', 'dead']);
    const { templates, errors } = await client.resources.templatesWithErrors();
    expect(templates).toEqual({});
    expect(errors['alive']).toContain('the disk is gone');
  });

  verifies(['S247', 'D01'], 'waits for each server only so long, and ends the request there', async () => {
    await using server = await startScripted({ answers: { 'resources/list': never } });
    await using client = openClient({ s: { url: server.url } });
    await client.listTools();
    const { errorDetails } = await client.resources.listWithErrors({ perServerTimeoutMs: 100 });
    expect(errorDetails['s']?.error).toMatchObject({ code: 'MCP_CLIENT_REQUEST_TIMEOUT' });
    await until('the server hears of it', () => server.count('POST', 'notifications/cancelled') === 1);
  });

  verifies('D16', 'keeps what was read when a later page fails, and says so', async () => {
    let next = '';
    await using server = await startScripted({
      answers: {
        'resources/list': ({ cursor }) => {
          if (cursor === 'broken') throw new RpcError(-32000);
          if (cursor === 'odd') return { resources: 'none' };
          return { resources: [resource('r://1')], nextCursor: next };
        },
      },
    });
    await using client = openClient({ s: { url: server.url } });
    for (next of ['broken', 'odd']) {
      const { resources, errors, errorDetails } = await client.resources.listWithErrors();
      expect(resources).toEqual({ s: [resource('r://1')] });
      expect(errors).toEqual({});
      expect(errorDetails['s']?.stopped).toContain('page 2 failed');
    }
  });

  verifies('D16', 'does not take a cursor along to another session', async () => {
    const seen: string[] = [];
    let lost = false;
    await using server = await startScripted({
      answers: {
        'resources/list': ({ cursor }) => {
          seen.push(String(cursor));
          if (!lost) {
            lost = true;
            server.forget();
          }
          return cursor === undefined
            ? { resources: [resource('r://1')], nextCursor: 'two' }
            : { resources: [resource('r://2')] };
        },
      },
    });
    await using client = openClient({ s: { url: server.url } });
    expect(await client.resources.listWithErrors()).toMatchObject({
      resources: { s: [resource('r://1'), resource('r://2')] },
      errorDetails: {},
    });
    // The page of the first session, then all over in the second.
    expect(seen).toEqual(['undefined', 'undefined', 'two']);
  });

  verifies('D16', 'ends a listing that has no end by its time', async () => {
    let page = 0;
    await using server = await startScripted({
      answers: {
        'resources/list': async () => {
          page += 1;
          await new Promise(resolve => setTimeout(resolve, 20));
          return { resources: [resource(`r://${page}`)], nextCursor: `c${page}` };
        },
      },
    });
    await using client = openClient({ s: { url: server.url, timeout: 300 } });
    const { resources, errorDetails } = await client.resources.listWithErrors();
    expect(resources['s']?.length).toBeGreaterThan(0);
    expect(errorDetails['s']?.stopped).toMatch(/failed|not at its end/);
  });
});

describe('reading', () => {
  verifies('S112', 'gives the contents, or the error of the server', async () => {
    await using server = await startScripted({
      answers: {
        'resources/read': ({ uri }) => {
          if (uri !== 'weather://current') throw new RpcError(-32602, 'unknown');
          return { contents: [{ uri, text: 'sunny' }] };
        },
      },
    });
    await using client = openClient({ myWeatherServer: { url: server.url } });
    const content = await client.resources.read('myWeatherServer', 'weather://current');
    expect(content.contents[0]).toHaveProperty('text', 'sunny');
    await expect(client.resources.read('myWeatherServer', 'x://y')).rejects.toMatchObject({
      code: 'MCP_CLIENT_REQUEST_FAILED',
      rpcCode: -32602,
    });
  });

  verifies('S112', 'refuses an unknown server by its own code', async () => {
    await using client = openClient({ s: { command: 'never-started' } });
    const error = await rejection(client.resources.read('x', 'r://1'));
    expect(error).toMatchObject({
      code: 'MCP_CLIENT_READ_RESOURCE_FAILED',
      id: 'MCP_CLIENT_READ_RESOURCE_FAILED',
      serverName: 'x',
      mayHaveExecuted: false,
    });
    for (const call of [
      client.resources.subscribe('x', 'r://1'),
      client.resources.unsubscribe('x', 'r://1'),
      client.resources.onUpdated('x', () => undefined),
      client.resources.onListChanged('x', () => undefined),
      client.resources.listOne('x'),
      client.logging.setLevel('x', 'info'),
      client.roots.notifyListChanged('x'),
    ]) {
      expect(await rejection(call)).toMatchObject({ code: 'MCP_CLIENT_CONFIGURATION_INVALID' });
    }
  });

  test('refuses a result without contents', async () => {
    await using server = await startScripted({ answers: { 'resources/read': () => ({ contents: 'x' }) } });
    await using client = openClient({ s: { url: server.url } });
    const error = await rejection(client.resources.read('s', 'r://1'));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_RESPONSE_INVALID', method: 'resources/read' });
  });

  test('ends by the signal of the caller', async () => {
    await using server = await startScripted({ answers: { 'resources/read': never } });
    await using client = openClient({ s: { url: server.url } });
    const controller = new AbortController();
    const read = client.resources.read('s', 'r://1', { signal: controller.signal });
    await until('the server is asked', () => server.count('POST', 'resources/read') === 1);
    controller.abort();
    expect(await rejection(read)).toMatchObject({ code: 'MCP_CLIENT_REQUEST_ABORTED' });
  });

  verifies('D04', 'opens a new session when the server forgot the old one, whatever is asked', async () => {
    await using server = await startScripted({
      answers: {
        'resources/list': () => ({ resources: [resource('r://1')] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'x' }] }),
        'prompts/get': () => ({ messages: [] }),
        'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
        'completion/complete': () => ({ completion: { values: ['a'] } }),
      },
    });
    await using client = openClient({ s: { url: server.url } });
    const ref = { type: 'ref/prompt', name: 'p' } as const;
    for (const ask of [
      () => client.resources.list(),
      () => client.resources.read('s', 'r://1'),
      () => client.resources.subscribe('s', 'r://1'),
      () => client.prompts.list(),
      () => client.prompts.get({ serverName: 's', name: 'p' }),
      () => client.completions.complete({ serverName: 's', ref, argument: { name: 'a', value: '' } }),
      () => client.logging.setLevel('s', 'info'),
      () => client.ping('s'),
    ]) {
      await client.listTools();
      const before = server.count('POST', 'initialize');
      server.forget();
      await ask();
      expect(server.count('POST', 'initialize'), String(ask)).toBe(before + 1);
    }
  });
});
