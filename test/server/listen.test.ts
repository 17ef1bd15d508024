import { once } from 'node:events';
import type http from 'node:http';
import net from 'node:net';
import { describe, expect, test } from 'vitest';
import { listen } from '../../src/server/http/listen.ts';

const answer = async (_: http.IncomingMessage, res: http.ServerResponse, path: string): Promise<void> =>
  void res.end(path);

describe('listen', () => {
  test('serves on a free port of the loopback interface, and stops', async () => {
    const listener = await listen(answer, { port: 0 });
    expect(listener.url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(await (await fetch(listener.url)).text()).toBe('/mcp');
    await listener.close();
    await listener.close();
    await expect(fetch(listener.url)).rejects.toThrow();
  });

  test('takes a host and a path, and names a url that can be connected to', async () => {
    const listener = await listen(answer, { port: 0, host: '0.0.0.0', path: '/other' });
    expect(listener.url.hostname).toBe('127.0.0.1');
    expect(await (await fetch(listener.url)).text()).toBe('/other');
    await listener.close();
  });

  test('cuts requests that outlast the drain', async () => {
    const listener = await listen(() => new Promise(() => {}), { port: 0 });
    const request = fetch(listener.url).catch(() => 'cut');
    await new Promise(resolve => setTimeout(resolve, 30));
    await listener.close({ drainMs: 20 });
    expect(await request).toBe('cut');
  });

  test('lets an answer leave that was written before it closed, and ends idle connections at once', async () => {
    const length = 16 * 1024 * 1024;
    const listener = await listen(async (_, res) => void res.end('x'.repeat(length)), { port: 0 });
    const idle = net.connect(Number(listener.url.port), '127.0.0.1');
    const idleEnd = once(idle.resume(), 'close');
    await once(idle, 'connect');
    const response = await fetch(listener.url);
    const closing = listener.close({ drainMs: 15_000 });
    await idleEnd;
    expect(await response.text()).toHaveLength(length);
    await closing;
  });

  test('refuses wrong options by name and passes on what node says about a port', async () => {
    for (const [option, options] of [
      ['port', { port: -1 }],
      ['port', { port: 70_000 }],
      ['path', { port: 0, path: 'mcp' }],
    ] as const)
      await expect(listen(answer, options)).rejects.toMatchObject({
        code: 'MCP_SERVER_CONFIGURATION_INVALID',
        option,
      });
    const listener = await listen(answer, { port: 0 });
    await expect(listen(answer, { port: Number(listener.url.port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await listener.close();
  });

  test('survives a handler that fails', async () => {
    let calls = 0;
    const listener = await listen(
      async (_, res) => {
        calls += 1;
        if (calls === 1) throw new Error('handler');
        res.end('ok');
      },
      { port: 0 },
    );
    await expect(fetch(listener.url)).rejects.toThrow();
    expect(await (await fetch(listener.url)).text()).toBe('ok');
    await listener.close();
  });
});
