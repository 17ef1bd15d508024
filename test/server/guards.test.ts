import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { isTextDeeper } from '../../src/server/http/guards.ts';
import { verifies } from '../requirements/requirements.ts';
import { adapters, initialize, startHarness } from './http-harness.ts';

describe('Host and Origin over a loopback socket', () => {
  verifies(['S1', 'D12'], 'must be loopback', async () => {
    await using server = await startHarness('node');
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '[::2]:80',
    ]) {
      const answer = await server.post(initialize(), { host });
      expect([host, answer.status]).toEqual([host, 403]);
      expect((await answer.json()).error?.message).toContain('allowedHosts');
    }
    for (const host of [`localhost:${server.port}`, 'LOCALHOST', '127.8.9.1', '[::1]:9'])
      expect([host, (await server.post(initialize(), { host })).status]).toEqual([host, 200]);
  });

  verifies(['S1', 'D12'], 'let no page of another origin in', async () => {
    await using server = await startHarness('node');
    for (const origin of [
      'http://evil.example',
      'https://localhost.evil.example',
      'null',
      'http://127.0.0.1.evil.example',
    ]) {
      const answer = await server.post(initialize(), { origin });
      expect([origin, answer.status]).toEqual([origin, 403]);
      expect((await answer.json()).error?.message).toContain('allowedOrigins');
    }
    expect((await server.post(initialize())).status).toBe(200);
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'https://[::1]:8443'])
      expect([origin, (await server.post(initialize(), { origin })).status]).toEqual([origin, 200]);
  });

  verifies('D12', 'can be listed, by the server or by one call', async () => {
    const allowedHosts = ['mcp.example', 'other.example:8080'];
    const allowedOrigins = ['https://App.example'];
    for (const init of [
      { security: { allowedHosts, allowedOrigins } },
      { options: { allowedHosts, allowedOrigins } },
    ]) {
      await using server = await startHarness('node', init);
      for (const host of ['mcp.example', 'MCP.example:99', 'other.example:8080', server.host])
        expect([host, (await server.post(initialize(), { host })).status]).toEqual([host, 200]);
      expect((await server.post(initialize(), { host: 'other.example' })).status).toBe(403);
      expect((await server.post(initialize(), { origin: 'https://app.example' })).status).toBe(200);
      expect((await server.post(initialize(), { origin: 'https://app.example:444' })).status).toBe(403);
    }
  });
});

describe('Host and Origin over a socket of another machine', () => {
  const fromElsewhere = (req: IncomingMessage): void =>
    void Object.defineProperty(req.socket, 'remoteAddress', { value: '192.0.2.7' });
  const [host, origin] = ['mcp.example', 'https://app.example'];

  verifies(['S1', 'D12'], 'are not checked without lists, which is said once', async () => {
    await using server = await startHarness('node', { middleware: fromElsewhere });
    for (const headers of [{ host }, { host, origin }, { origin }])
      expect((await server.post(initialize(), headers)).status).toBe(200);
    expect(server.logs.filter(line => line.includes('allowedHosts'))).toHaveLength(1);
  });

  verifies(['S1', 'D12'], 'are checked as soon as there is a list', async () => {
    const middleware = fromElsewhere;
    await using hosts = await startHarness('node', { middleware, security: { allowedHosts: [host] } });
    expect((await hosts.post(initialize(), { host })).status).toBe(200);
    expect((await hosts.post(initialize(), { host: 'evil.example' })).status).toBe(403);
    await using origins = await startHarness('node', { middleware, security: { allowedOrigins: [origin] } });
    expect((await origins.post(initialize(), { host, origin })).status).toBe(200);
    expect((await origins.post(initialize(), { host, origin: 'https://evil.example' })).status).toBe(403);
    expect([...hosts.logs, ...origins.logs].filter(line => line.includes('allowedHosts'))).toEqual([]);
  });
});

verifies(
  'D12',
  'where the socket is hidden, a foreign Host passes and the Origin is checked on loopback',
  async () => {
    await using server = await startHarness('fetch');
    expect(
      (await server.post(initialize(), { host: 'mcp.example', origin: 'https://app.example' })).status,
    ).toBe(200);
    expect(
      (await server.post(initialize(), { host: 'localhost:3000', origin: 'https://app.example' })).status,
    ).toBe(403);
    expect((await server.post(initialize(), { origin: 'https://app.example' })).status).toBe(403);
  },
);

describe.each(adapters)('CORS over %s', adapter => {
  const origin = 'https://app.example';

  verifies('D12', 'answers a preflight without a session and exposes the session id', async () => {
    await using server = await startHarness(adapter, {
      security: { cors: { origins: [origin], headers: ['X-Own'], exposedHeaders: ['X-Seen'] } },
    });
    const preflight = await server.send({
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-session-id',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-max-age': '600',
      vary: 'origin',
    });
    for (const name of [
      'content-type',
      'mcp-session-id',
      'mcp-protocol-version',
      'last-event-id',
      'authorization',
      'x-own',
    ])
      expect(preflight.headers['access-control-allow-headers']).toContain(name);
    const opened = await server.post(initialize(), { origin });
    expect(opened.headers['access-control-allow-origin']).toBe(origin);
    for (const name of ['mcp-session-id', 'www-authenticate', 'x-seen'])
      expect(opened.headers['access-control-expose-headers']).toContain(name);
    const refused = await server.post('{', { origin });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([400, origin]);
  });

  verifies('D12', 'is silent to other origins', async () => {
    await using server = await startHarness(adapter, { security: { cors: { origins: [origin] } } });
    const foreign = await server.post(initialize(), { origin: 'https://evil.example' });
    expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    const loopback = await server.post(initialize(), { origin: 'http://localhost:1' });
    expect([loopback.status, loopback.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    const none = await server.post(initialize());
    expect([none.status, none.headers['vary']]).toEqual([200, undefined]);
  });

  test('lets every page in when told so, and sends credentials only to listed ones', async () => {
    await using open = await startHarness(adapter, { security: { cors: { origins: '*' } } });
    const any = await open.post(initialize(), { origin: 'https://whoever.example' });
    expect([any.status, any.headers['access-control-allow-origin']]).toEqual([200, '*']);
    await using listed = await startHarness(adapter, {
      options: { cors: { origins: [origin], credentials: true } },
    });
    const own = await listed.post(initialize(), { origin });
    expect(own.headers['access-control-allow-credentials']).toBe('true');
  });
});

describe('isTextDeeper', () => {
  test('counts brackets outside of strings only', () => {
    expect(isTextDeeper('[[[]]]', 3)).toBe(false);
    expect(isTextDeeper('[[[]]]', 2)).toBe(true);
    expect(isTextDeeper('[{"a":[]}]', 2)).toBe(true);
    expect(isTextDeeper(String.raw`["[[[[\"[[[\\",["]]]]"]]`, 2)).toBe(false);
    expect(isTextDeeper(String.raw`["\\\\",[[]]]`, 2)).toBe(true);
    expect(isTextDeeper('["never ends [[[[[', 1)).toBe(false);
    expect(isTextDeeper('[],[],[],[]', 1)).toBe(false);
  });
});
