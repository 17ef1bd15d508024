import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import express from 'express';
import { expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw, initialize } from '../server/http-harness.ts';
import { regressionInput } from '../support/client.ts';

const create = (): MCPServer => new MCPServer({ id: 'odd', name: 'Odd', version: '1.0.0', tools: {} });
const ping = { jsonrpc: '2.0', id: 3, method: 'ping' };

verifies(
  ['B67', 'B73', 'S173', 'D12'],
  'each odd request gets the status and code that says what is wrong',
  async () => {
    await using server = create();
    const { url } = await server.listen({ port: 0 });
    const { command, args } = regressionInput('B67-raw-http-probes.mjs');
    const { stdout } = await promisify(execFile)(command, [...args, url.href], { timeout: 20_000 });
    const seen: Record<string, string> = {};
    for (const line of stdout.trimEnd().split('\n')) {
      const [status = '', ...rest] = line.slice(34).trim().split(' ');
      const code = /"code":(?<code>-?\d+)/.exec(rest.join(' '))?.groups?.['code'];
      seen[line.slice(0, 34).trim()] = code === undefined ? status : `${status} ${code}`;
    }
    expect(seen).toEqual({
      'body is not JSON': '400 -32700',
      'empty body': '400 -32700',
      'JSON null': '400 -32600',
      'byte order mark first': '400 -32700',
      'batch of two': '400 -32600',
      'empty batch': '400 -32600',
      'Accept: application/json': '406 -32000',
      'Accept: */*': '200',
      'Content-Type: text/plain': '415 -32000',
      'Host: evil.example': '403 -32000',
      'Origin: https://evil.example': '403 -32000',
      'OPTIONS preflight': '403 -32000',
      'unknown version header': '400 -32022',
      'stale session': '404 -32000',
      'no session': '400 -32000',
      'unknown method': '200 -32601',
      'params is an array': '400 -32600',
      'id is null': '400 -32600',
      '6 MB of arguments': '413 -32000',
      'trailing slash': '404',
      PUT: '405 -32000',
      'GET without session': '400 -32000',
      'second GET stream': '409 -32000',
      'second initialize, same session': '400 -32600',
      DELETE: '200',
      'after DELETE': '404 -32000',
      'DELETE again': '404 -32000',
    });
  },
  30_000,
);

verifies(
  ['B67', 'S174'],
  'a body that express has parsed is used, and a larger one than express takes by itself is, too',
  async () => {
    await using server = create();
    const app = express();
    app.use('/parsed', express.json({ limit: '8mb' }));
    app.use('/text', express.text({ type: 'application/json', limit: '8mb' }));
    app.use('/raw', express.raw({ type: 'application/json', limit: '8mb' }));
    app.all('/{*path}', (req, res) => {
      const url = new URL(req.url, 'http://127.0.0.1');
      return server.startHTTP({ url, httpPath: url.pathname, req, res });
    });
    const host = app.listen(0, '127.0.0.1');
    await once(host, 'listening');
    using client = connectRaw((host.address() as AddressInfo).port);
    const session = await client.open();
    for (const path of ['/parsed', '/text', '/raw', '/mcp']) {
      const send = async (body: unknown, headers: Record<string, string> = session): Promise<unknown[]> => {
        const answer = await client.send({ path, body, headers });
        const { id, error } = await answer.json();
        return [path, answer.status, id, error?.code];
      };
      expect(await send(ping)).toEqual([path, 200, 3, undefined]);
      expect(await send(initialize(), {})).toEqual([path, 200, 1, undefined]);
      // Above the 100 kB that express.json() takes unless told otherwise.
      expect(await send(callTool(4, 'none', { pad: 'x'.repeat(200_000) }))).toEqual([path, 200, 4, -32602]);
      expect(await send(callTool(5, 'none', { pad: 'x'.repeat(5_000_000) }))).toEqual([
        path,
        413,
        null,
        -32000,
      ]);
      expect(await send({ ...ping, params: [] })).toEqual([path, 400, 3, -32600]);
      expect(await send({ jsonrpc: '2.0' })).toEqual([path, 400, null, -32600]);
      expect(await send([ping])).toEqual([path, 400, null, -32600]);
      expect(await send({})).toEqual([path, 400, null, -32600]);
      if (path !== '/parsed') expect(await send('{nope')).toEqual([path, 400, null, -32700]);
    }
    host.closeAllConnections();
    host.close();
  },
);

verifies(
  ['B67', 'S2'],
  'a charset beside the content type changes nothing, and any other type is refused',
  async () => {
    await using server = create();
    const { url } = await server.listen({ port: 0 });
    using client = connectRaw(Number(url.port));
    for (const [type, status] of [
      ['application/json; charset=utf-8', 200],
      ['application/json;charset="UTF-8"', 200],
      ['APPLICATION/JSON', 200],
      ['application/json-patch+json', 415],
      ['text/plain; application/json', 415],
      ['application/x-www-form-urlencoded', 415],
    ] as const)
      expect([type, (await client.post(initialize(), { 'content-type': type })).status]).toEqual([
        type,
        status,
      ]);
  },
);
