import type { LookupFunction } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createOAuthFetch, problemOfBrowserUrl } from '../../../src/client/oauth/oauth-fetch.ts';
import {
  fetchPinned,
  isPrivateAddress,
  PrivateAddressRefused,
} from '../../../src/client/oauth/private-addresses.ts';
import type { MastraFetchLike } from '../../../src/client/index.ts';
import { rejection } from '../../support/client.ts';
import { startHttp } from '../../support/http-server.ts';
import { verifies } from '../../requirements/requirements.ts';

interface Setting {
  readonly url: string;
  readonly allowedHosts?: readonly string[];
  readonly fetch?: MastraFetchLike;
  readonly requestInit?: RequestInit;
}

/** Name resolution that the test decides; the last address of a name is repeated. */
function resolver(names: Readonly<Record<string, readonly string[]>>): LookupFunction & { asked: string[] } {
  const asked: string[] = [];
  const lookup = ((hostname, options, callback) => {
    const addresses = names[hostname];
    const address =
      addresses?.[Math.min(asked.filter(name => name === hostname).length, addresses.length - 1)];
    asked.push(hostname);
    if (address === undefined) {
      callback(Object.assign(new Error(`unknown ${hostname}`), { code: 'ENOTFOUND' }), []);
    } else if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  }) as LookupFunction;
  return Object.assign(lookup, { asked });
}

const PUBLIC = '93.184.216.34';
const open = ({ url, allowedHosts, fetch, requestInit = {} }: Setting, lookup?: LookupFunction) =>
  createOAuthFetch({ serverName: 's', url: new URL(url), allowedHosts, fetch, requestInit }, lookup);
const refused = { code: 'MCP_CLIENT_HOST_NOT_ALLOWED', serverName: 's', mayHaveExecuted: false };

describe('an address', () => {
  test.each([
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['172.31.0.1', true],
    ['192.168.1.1', true],
    ['0.0.0.0', true],
    ['224.0.0.1', true],
    ['::1', true],
    ['::', true],
    ['fe80::1', true],
    ['fd00::1', true],
    ['::ffff:10.0.0.1', true],
    ['::ffff:a00:1', true],
    ['64:ff9b::a00:1', true],
    ['no address', true],
    ['172.32.0.1', false],
    ['100.128.0.1', false],
    [PUBLIC, false],
    ['::ffff:93.184.216.34', false],
    ['2606:4700::1111', false],
  ])('%s is private: %s', (address, expected) => {
    expect(isPrivateAddress(address)).toBe(expected);
  });
});

describe('of a public server, OAuth', () => {
  const url = 'https://mcp.example/mcp';

  verifies(['C5', 'D19'], 'contacts no private address, whatever name or notation it has', async () => {
    const lookup = resolver({
      'mcp.example': [PUBLIC],
      'inner.example': ['10.0.0.1'],
      'meta.example': ['169.254.169.254'],
      'mapped.example': ['::ffff:127.0.0.1'],
    });
    const oauth = open({ url }, lookup);
    for (const address of [
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'https://10.0.0.1/',
      'https://[::ffff:10.0.0.1]/',
      'https://2130706433/',
      'https://inner.example/',
      'https://meta.example/',
      'https://mapped.example/',
    ]) {
      expect(await rejection(oauth(address)), address).toMatchObject(refused);
    }
  });

  verifies(
    'C5',
    'checks the very address that is connected to: a name that changes its mind gains nothing',
    async () => {
      await using inner = await startHttp((_, response) => response.end('{}'));
      const lookup = resolver({ 'mcp.example': [PUBLIC], 'as.example': ['127.0.0.1'] });
      const oauth = open({ url }, lookup);
      expect(await rejection(oauth(`https://as.example:${inner.port}/`))).toMatchObject(refused);
      // Asked once for the request: there is no earlier answer that could have been another one.
      expect(lookup.asked.filter(name => name === 'as.example')).toEqual(['as.example']);
      expect(inner.requests).toHaveLength(0);
    },
  );

  verifies('C5', 'asks a custom fetch only for names that are public', async () => {
    const sent: string[] = [];
    const contexts: unknown[] = [];
    const fetch: MastraFetchLike = async (target, _init, context) => {
      sent.push(String(target));
      contexts.push(context);
      return new Response('{}');
    };
    const lookup = resolver({
      'mcp.example': [PUBLIC],
      'as.example': [PUBLIC],
      'inner.example': ['10.0.0.1'],
    });
    const oauth = open({ url, fetch }, lookup);
    expect(await rejection(oauth('https://inner.example/token'))).toMatchObject(refused);
    expect((await oauth('https://as.example/token')).status).toBe(200);
    // A name that only the custom fetch knows is its own to reach.
    expect((await oauth('https://unknown.example/token')).status).toBe(200);
    expect(sent).toEqual(['https://as.example/token', 'https://unknown.example/token']);
    // It belongs to no call.
    expect(contexts).toEqual([null, null]);
  });

  verifies(
    ['C5', 'D19'],
    'contacts the hosts that allowedHosts names, private or not, and no others',
    async () => {
      await using inner = await startHttp((_, response) => response.end('{}'));
      const host = `127.0.0.1:${inner.port}`;
      const lookup = resolver({ 'mcp.example': [PUBLIC] });
      const oauth = open({ url, allowedHosts: ['mcp.example', host] }, lookup);
      expect((await oauth(`http://${host}/token`)).status).toBe(200);
      expect(await rejection(oauth('https://as.example/token'))).toMatchObject({
        ...refused,
        host: 'as.example',
      });
    },
  );

  verifies('C5', 'uses plain http for nothing', async () => {
    const oauth = open({ url }, resolver({ 'mcp.example': [PUBLIC], 'as.example': [PUBLIC] }));
    for (const address of [
      'http://as.example/',
      'http://127.0.0.1:1/',
      'http://localhost:1/',
      'ftp://as.example/',
    ]) {
      expect(await rejection(oauth(address)), address).toMatchObject(refused);
    }
    expect(await rejection(oauth('https://u:p@as.example/'))).toMatchObject(refused);
  });
});

describe('of a server on this machine, OAuth', () => {
  verifies(['C5', 'D19'], 'contacts this machine', async () => {
    await using issuer = await startHttp((_, response) => response.end('{"a":1}'));
    const oauth = open({ url: 'http://localhost:1/mcp' });
    expect(await (await oauth(`${issuer.origin}/x`)).json()).toEqual({ a: 1 });
  });

  test('sends the headers of requestInit to the origin of the server only', async () => {
    await using issuer = await startHttp((_, response) => response.end('{}'));
    await using server = await startHttp((_, response) => response.end('{}'));
    const requestInit = { headers: { 'x-api-key': 'k' } };
    const oauth = open({ url: `${server.origin}/mcp`, requestInit });
    await oauth(`${issuer.origin}/x`);
    await oauth(`${server.origin}/x`);
    expect(issuer.requests[0]?.headers['x-api-key']).toBeUndefined();
    expect(server.requests[0]?.headers['x-api-key']).toBe('k');
  });

  test('follows no redirect to another origin, even to a host that is listed', async () => {
    await using other = await startHttp((_, response) => response.end('{}'));
    await using issuer = await startHttp((_, response) =>
      response.writeHead(307, { location: `${other.origin}/token` }).end(),
    );
    const allowedHosts = [issuer, other].map(({ origin }) => new URL(origin).host);
    const oauth = open({ url: `${issuer.origin}/mcp`, allowedHosts });
    const body = new URLSearchParams({ refresh_token: 'r' });
    expect(await rejection(oauth(`${issuer.origin}/token`, { method: 'POST', body }))).toMatchObject({
      code: 'MCP_CLIENT_REDIRECT_REFUSED',
    });
    expect(other.requests).toHaveLength(0);
  });
});

describe('an answer', () => {
  verifies('C7', 'that is a failure holds none of the secrets that were posted', async () => {
    await using issuer = await startHttp((request, response) =>
      response
        .writeHead(400, { 'content-type': 'text/html' })
        .end(`<p>${request.body} ${request.headers.authorization}</p>`),
    );
    const oauth = open({ url: `${issuer.origin}/mcp` });
    const body = new URLSearchParams({
      code: 'c0de',
      code_verifier: 'v+/=rifier',
      client_secret: 'sesame',
      scope: 'a',
    });
    const authorization = `Basic ${Buffer.from('me:pass phrase').toString('base64')}`;
    const response = await oauth(`${issuer.origin}/token`, {
      method: 'POST',
      body,
      headers: { authorization },
    });
    const text = await response.text();
    expect(text).toContain('scope=a');
    expect(text).not.toMatch(/c0de|\/=rifier|%3Drifier|sesame|bWU6/);
  });

  verifies('C7', 'that should be JSON and is not is never quoted', async () => {
    await using issuer = await startHttp((_, response) => response.end('access_token=secret-0123456789'));
    const oauth = open({ url: `${issuer.origin}/mcp` });
    const error = await rejection(oauth(`${issuer.origin}/token`));
    expect(error).toMatchObject({ code: 'MCP_CLIENT_AUTHORIZATION_FAILED', httpStatus: 200 });
    expect(`${error.message}${String(error.cause)}`).not.toContain('secret');
  });

  test('that is larger than any should be is not read', async () => {
    await using issuer = await startHttp((_, response) => response.end(`"${'x'.repeat(2 * 1024 * 1024)}"`));
    const oauth = open({ url: `${issuer.origin}/mcp` });
    expect(await rejection(oauth(`${issuer.origin}/x`))).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_FAILED',
      message: expect.stringContaining('bytes'),
    });
  });

  test('that never comes is not waited for when the caller gives up', async () => {
    await using issuer = await startHttp(() => undefined);
    const oauth = open({ url: `${issuer.origin}/mcp` });
    const controller = new AbortController();
    const waiting = oauth(`${issuer.origin}/x`, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('a pinned request', () => {
  test('reaches the address that was checked, with method, headers and body', async () => {
    await using issuer = await startHttp((request, response) =>
      response
        .writeHead(201, { 'x-echo': String(request.headers['x-own']) })
        .end(`${request.method} ${request.body}`),
    );
    const init = { method: 'POST', headers: new Headers({ 'x-own': 'v' }), body: 'text' };
    const options = { lookup: resolver({ 'as.example': ['127.0.0.1'] }), signal: undefined };
    const url = new URL(`http://as.example:${issuer.port}/x`);
    const response = await fetchPinned(url, init, { ...options, isRefused: () => false });
    expect([response.status, response.headers.get('x-echo')]).toEqual([201, 'v']);
    expect(await response.text()).toBe('POST text');
    await expect(fetchPinned(url, init, options)).rejects.toBeInstanceOf(PrivateAddressRefused);
    expect(issuer.requests).toHaveLength(1);
  });
});

verifies('C6', 'only https, and http to this machine, may be opened in a browser', () => {
  const judge = (url: string): boolean => problemOfBrowserUrl(new URL(url)) === undefined;
  for (const url of [
    'https://as.example/authorize',
    'http://127.0.0.1:1/a',
    'http://[::1]:1/a',
    'http://localhost/a',
  ]) {
    expect(judge(url), url).toBe(true);
  }
  for (const url of [
    'http://as.example/authorize',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://as.example/',
    'vscode://x/y',
    'https://user:pw@as.example/',
    'http://127.0.0.1.example/',
  ]) {
    expect(judge(url), url).toBe(false);
  }
});
