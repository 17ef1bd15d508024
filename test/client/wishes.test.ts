/** What a server was told once is told to every connection after it. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Wishes } from '../../src/client/connection/wishes.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { until } from '../support/processes.ts';
import { RpcError, startScripted } from '../support/scripted-server.ts';

const subscribe = (uri: string) => ({ method: 'resources/subscribe', params: { uri } }) as const;
const setLevel = (level: 'info' | 'error') => ({ method: 'logging/setLevel', params: { level } }) as const;

describe('wishes', () => {
  test('are kept until they are taken back', () => {
    const wishes = new Wishes();
    wishes.add(subscribe('r://1'));
    const second = wishes.add(subscribe('r://2'));
    wishes.add(setLevel('info'));
    const louder = wishes.add(setLevel('error'));
    expect([...wishes]).toEqual([setLevel('error'), subscribe('r://1'), subscribe('r://2')]);
    second();
    louder();
    expect([...wishes]).toEqual([setLevel('info'), subscribe('r://1')]);
    wishes.unsubscribe('r://1');
    expect([...wishes]).toEqual([setLevel('info')]);
  });

  test('stay when the same one is refused a second time', () => {
    const wishes = new Wishes();
    wishes.add(subscribe('r://1'));
    wishes.add(subscribe('r://1'))();
    expect([...wishes]).toEqual([subscribe('r://1')]);
  });
});

describe('a new connection', () => {
  verifies(['S115', 'D04'], 'is told what was wished for when the server forgot the session', async () => {
    await using server = await startScripted();
    await using client = openClient({ s: { url: server.url } });
    const updated: string[] = [];
    await client.resources.onUpdated('s', ({ uri }) => void updated.push(uri));
    await client.resources.subscribe('s', 'r://1');
    await client.resources.subscribe('s', 'r://gone');
    await client.resources.unsubscribe('s', 'r://gone');
    await client.logging.setLevel('s', 'error');
    expect(server.received('resources/subscribe')).toEqual([{ uri: 'r://1' }, { uri: 'r://gone' }]);

    server.forget();
    await client.ping('s');
    expect(server.received('resources/subscribe').slice(2)).toEqual([{ uri: 'r://1' }]);
    expect(server.received('logging/setLevel')).toEqual([{ level: 'error' }, { level: 'error' }]);
    // Told before the request that needed the connection.
    expect(server.requests.findLast(({ method }) => method === 'POST')?.message?.method).toBe('ping');
    await server.notify('notifications/resources/updated', { uri: 'r://1' });
    await until('the handler is told', () => updated.length === 1);
  });

  verifies('S115', 'is told what was wished for when the process crashed', async () => {
    const told = `
      capabilities = { tools: {}, resources: { subscribe: true }, logging: {} };
      const told = [];
      input.on('line', line => {
        const { id, method, params } = JSON.parse(line);
        if (method !== 'resources/subscribe' && method !== 'logging/setLevel') return;
        told.push(params.uri ?? params.level);
        answer(id, {});
      });
      call = message => {
        if (message.params.arguments.die) process.exit(1);
        answer(message.id, text(told.join(' ')));
      };`;
    await using client = openClient({ s: serverProgram(told) });
    await client.resources.subscribe('s', 'r://1');
    await client.logging.setLevel('s', 'error');
    const echo = await executeOf(client, 's_echo');
    expect(textOf(await echo({}))).toBe('r://1 error');
    expect(await rejection(echo({ die: true }))).toMatchObject({ code: 'MCP_CLIENT_CONNECTION_LOST' });
    expect(textOf(await echo({}))).toBe('error r://1');
  });

  test('is not told what the server refused', async () => {
    await using server = await startScripted({
      answers: {
        'resources/subscribe': ({ uri }) => {
          if (uri === 'r://secret') throw new RpcError(-32602);
        },
      },
    });
    await using client = openClient({ s: { url: server.url } });
    await client.resources.subscribe('s', 'r://1');
    expect(await rejection(client.resources.subscribe('s', 'r://secret'))).toMatchObject({ rpcCode: -32602 });
    await client.reconnectServer('s');
    expect(server.received('resources/subscribe').map(({ uri }) => uri)).toEqual([
      'r://1',
      'r://secret',
      'r://1',
    ]);
  });

  test('is of use although the server does not answer about wishes, within the limit of connecting', async () => {
    let silent = false;
    await using server = await startScripted({
      answers: { 'resources/subscribe': () => (silent ? new Promise(() => undefined) : {}) },
    });
    await using client = openClient({ s: { url: server.url, connectTimeout: 2000 } });
    await client.resources.subscribe('s', 'r://1');
    silent = true;
    const started = performance.now();
    await client.reconnectServer('s');
    expect(performance.now() - started).toBeLessThan(8000);
    await client.ping('s');
    expect(client.getServerStatus()['s']?.state).toBe('ready');
  });

  test('is given up at once by a disconnect while it is being told', async () => {
    let silent = false;
    await using server = await startScripted({
      answers: { 'resources/subscribe': () => (silent ? new Promise(() => undefined) : {}) },
    });
    await using client = openClient({ s: { url: server.url } });
    await client.resources.subscribe('s', 'r://1');
    silent = true;
    const reconnected = rejection(client.reconnectServer('s'));
    await until('it is told', () => server.count('POST', 'resources/subscribe') === 2);
    const disconnected = client.disconnect().then(() => 'in time');
    expect(await Promise.race([disconnected, delay(8000, 'late', { ref: false })])).toBe('in time');
    expect(await reconnected).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
    expect(client.getServerStatus()['s']?.state).toBe('closed');
  });

  test('that ends while it is being told is a failed one', async () => {
    const dies = `
      capabilities = { tools: {}, resources: { subscribe: true } };
      const marker = process.env.MARKER;
      input.on('line', line => {
        const { id, method } = JSON.parse(line);
        if (method !== 'resources/subscribe') return;
        if (fs.existsSync(marker)) process.exit(3);
        fs.writeFileSync(marker, '');
        answer(id, {});
      });`;
    const program = { ...serverProgram(dies), env: { MARKER: temporaryFile() } };
    await using client = openClient({ s: program });
    await client.resources.subscribe('s', 'r://1');
    expect(await rejection(client.reconnectServer('s'))).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
    expect(client.getServerStatus()['s']?.state).toBe('failed');
  });
});
