import { describe, expect, test } from 'vitest';
import { guardFetch, isAllowedHost, type UrlPolicy } from '../../src/client/connection/url-policy.ts';
import { verifies } from '../requirements/requirements.ts';
import { startHttp } from '../support/http-server.ts';

const policyFor = (url: string, rest: Partial<UrlPolicy> = {}): UrlPolicy => ({
  serverName: 'shop',
  url: new URL(url),
  allowedHosts: undefined,
  requestInit: {},
  ...rest,
});

/** A server that redirects by path: `/<status>?<target>`, and answers 200 to everything else. */
const startRedirecting = (): ReturnType<typeof startHttp> =>
  startHttp((request, response) => {
    const { pathname, search } = new URL(request.url, 'http://x');
    const status = Number(pathname.slice(1));
    if (!status) return response.end('arrived');
    const location = decodeURIComponent(search.slice(1));
    return response.writeHead(status, location === '' ? {} : { location }).end();
  });

const redirectTo = (origin: string, status: number, target: string): string =>
  `${origin}/${status}?${encodeURIComponent(target)}`;

describe('the host list', () => {
  for (const [url, hosts, allowed] of [
    ['https://x:443/', ['x'], true],
    ['http://x:443/', ['x'], false],
    ['http://x/', ['x'], true],
    ['https://x:444/', ['x'], false],
    ['https://API.Example.com/', ['api.EXAMPLE.com'], true],
    ['http://localhost:8080/', ['localhost:8080'], true],
    ['http://localhost:8080/', ['localhost'], false],
    ['https://a.example.com/', ['*.example.com'], false],
    ['https://a.example.com/', ['example.com'], false],
    ['https://x/', ['https://x/'], false],
    ['https://x/', [], false],
    ['https://x/', undefined, true],
  ] as const) {
    verifies(['S033', 'S034', 'S035'], `with ${JSON.stringify(hosts)} lets ${url} pass: ${allowed}`, () => {
      expect(isAllowedHost(new URL(url), hosts)).toBe(allowed);
    });
  }

  for (const spelling of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '127.0.0.1.']) {
    verifies(
      ['C1', 'S034'],
      `takes another spelling of an address (${spelling}) for the same host`,
      async () => {
        await using server = await startRedirecting();
        const url = `http://${spelling}:${server.port}/`;
        const policy = policyFor(url, { allowedHosts: [`127.0.0.1:${server.port}`] });
        const response = await guardFetch(fetch, policy)(url);
        expect(await response.text()).toBe('arrived');
      },
    );
  }

  for (const host of ['[::ffff:127.0.0.1]', 'localhost', 'localhost.']) {
    verifies(['C1', 'S034', 'S036'], `blocks another host (${host}) before anything is sent`, async () => {
      await using server = await startRedirecting();
      const url = `http://${host}:${server.port}/`;
      const sent = guardFetch(fetch, policyFor(url, { allowedHosts: [`127.0.0.1:${server.port}`] }))(url);
      await expect(sent).rejects.toMatchObject({
        code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
        mayHaveExecuted: false,
      });
      expect(server.requests).toHaveLength(0);
    });
  }

  verifies(
    ['S035', 'S042'],
    'blocks everything when it is empty; the error names host, list and outcome',
    async () => {
      const sent = guardFetch(fetch, policyFor('http://x/', { allowedHosts: [] }))('http://x/');
      await expect(sent).rejects.toMatchObject({
        id: 'MCP_CLIENT_HOST_NOT_ALLOWED',
        host: 'x',
        serverName: 'shop',
      });
      await expect(sent).rejects.toThrow(
        'Server "shop": host "x" is not allowed (allowedHosts: none); the request was not sent',
      );
    },
  );
});

describe('redirects', () => {
  for (const status of [307, 308]) {
    verifies('S037', `a POST follows ${status} with method and body`, async () => {
      await using server = await startRedirecting();
      const guarded = guardFetch(fetch, policyFor(server.origin));
      const response = await guarded(redirectTo(server.origin, status, '/mcp/'), {
        method: 'POST',
        body: '{"a":1}',
      });
      expect(await response.text()).toBe('arrived');
      expect(server.requests.at(-1)).toMatchObject({ method: 'POST', url: '/mcp/', body: '{"a":1}' });
    });
  }

  for (const status of [301, 302, 303]) {
    verifies(
      'S037',
      `a POST does not follow ${status}; the error shows the target without its query`,
      async () => {
        await using server = await startRedirecting();
        const guarded = guardFetch(fetch, policyFor(server.origin));
        const sent = guarded(redirectTo(server.origin, status, '/mcp/?token=secret#part'), {
          method: 'POST',
          body: '{}',
        });
        await expect(sent).rejects.toMatchObject({
          kind: 'redirect',
          facts: { target: `${server.origin}/mcp/`, status, mayHaveExecuted: status === 303 },
        });
        await expect(sent).rejects.not.toThrow('secret');
        expect(server.requests).toHaveLength(1);
      },
    );
  }

  for (const status of [301, 302, 303, 307, 308]) {
    verifies('S037', `a GET follows ${status}`, async () => {
      await using server = await startRedirecting();
      const guarded = guardFetch(fetch, policyFor(server.origin));
      const response = await guarded(redirectTo(server.origin, status, '/there'));
      expect(await response.text()).toBe('arrived');
    });
  }

  verifies(
    ['C2', 'S037'],
    'five hops are followed; the sixth redirect is an error after six requests',
    async () => {
      await using server = await startRedirecting();
      const chain = (hops: number): string =>
        hops === 0 ? `${server.origin}/end` : redirectTo(server.origin, 307, chain(hops - 1));
      const guarded = guardFetch(fetch, policyFor(server.origin));
      expect((await guarded(chain(5), { method: 'POST', body: '{}' })).status).toBe(200);
      expect(server.requests).toHaveLength(6);
      await expect(guarded(chain(6), { method: 'POST', body: '{}' })).rejects.toMatchObject({
        kind: 'redirect',
      });
      expect(server.requests).toHaveLength(12);
    },
  );

  verifies('S037', 'without a Location it is an error', async () => {
    await using server = await startRedirecting();
    await expect(guardFetch(fetch, policyFor(server.origin))(`${server.origin}/302`)).rejects.toMatchObject({
      kind: 'redirect',
      facts: { status: 302, target: undefined },
    });
  });

  verifies(['C2', 'S037'], 'without a host list another origin is not contacted', async () => {
    await using here = await startRedirecting();
    await using there = await startRedirecting();
    const sent = guardFetch(fetch, policyFor(here.origin))(redirectTo(here.origin, 307, `${there.origin}/`));
    await expect(sent).rejects.toMatchObject({
      code: 'MCP_CLIENT_REDIRECT_REFUSED',
      host: new URL(there.origin).host,
    });
    expect(there.requests).toHaveLength(0);
  });

  verifies(['C2', 'S036', 'S042'], 'a host that is not listed is not contacted', async () => {
    await using here = await startRedirecting();
    await using there = await startRedirecting();
    const policy = policyFor(here.origin, { allowedHosts: [new URL(here.origin).host] });
    const sent = guardFetch(fetch, policy)(redirectTo(here.origin, 307, `${there.origin}/`));
    await expect(sent).rejects.toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED', mayHaveExecuted: false });
    await expect(sent).rejects.toThrow(/the redirect from .* was not followed/);
    expect(there.requests).toHaveLength(0);
  });

  for (const [target, why] of [
    ['http://secure.test/', 'it leads from https to http'],
    ['https://user:pass@secure.test/', 'its address holds credentials'],
    ['file:///etc/passwd', 'it is neither http nor https'],
  ] as const) {
    verifies(['C4', 'S037'], `${target} is refused whatever the list says`, async () => {
      const hops: string[] = [];
      const send = async (url: string | URL): Promise<Response> => {
        hops.push(String(url));
        return new Response(null, { status: 307, headers: { location: target } });
      };
      const policy = policyFor('https://secure.test/', { allowedHosts: ['secure.test', ''] });
      const sent = guardFetch(send, policy)('https://secure.test/', { method: 'POST', body: '{}' });
      await expect(sent).rejects.toMatchObject({ code: 'MCP_CLIENT_REDIRECT_REFUSED' });
      await expect(sent).rejects.toThrow(why);
      await expect(sent).rejects.not.toThrow('pass@');
      expect(hops).toEqual(['https://secure.test/']);
    });
  }

  test('requestInit.redirect "error" follows nothing', async () => {
    await using server = await startRedirecting();
    const guarded = guardFetch(fetch, policyFor(server.origin, { requestInit: { redirect: 'error' } }));
    await expect(guarded(redirectTo(server.origin, 307, '/there'))).rejects.toMatchObject({
      kind: 'redirect',
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('headers', () => {
  const own = {
    authorization: 'Bearer own',
    'proxy-authorization': 'Basic own',
    'x-api-key': 'k',
    cookie: 'c=1',
  };
  const ofRequest = { 'mcp-session-id': 's', 'last-event-id': '7', accept: 'application/json' };

  test('those of requestInit reach the own origin, and those of the request win', async () => {
    await using server = await startRedirecting();
    const guarded = guardFetch(fetch, policyFor(server.origin, { requestInit: { headers: own } }));
    await guarded(`${server.origin}/mcp`, { headers: { ...ofRequest, 'X-Api-Key': 'of the request' } });
    expect(server.requests[0]?.headers).toMatchObject({
      ...own,
      ...ofRequest,
      'x-api-key': 'of the request',
    });
  });

  verifies(
    'C3',
    'an origin the request starts at that is not the own one gets none of requestInit',
    async () => {
      await using server = await startRedirecting();
      const guarded = guardFetch(
        fetch,
        policyFor('https://elsewhere.test', { requestInit: { headers: own } }),
      );
      await guarded(server.origin);
      for (const name of Object.keys(own)) expect(server.requests[0]?.headers).not.toHaveProperty(name);
    },
  );

  verifies(
    ['C3', 'S038'],
    'a redirect to another listed origin sees nothing personal, a redirect within the origin everything',
    async () => {
      await using here = await startRedirecting();
      await using there = await startRedirecting();
      const allowedHosts = [here, there].map(({ origin }) => new URL(origin).host);
      const guarded = guardFetch(
        fetch,
        policyFor(here.origin, { allowedHosts, requestInit: { headers: own } }),
      );
      const target = redirectTo(here.origin, 307, `${there.origin}/mcp`);
      await guarded(redirectTo(here.origin, 307, target), { method: 'POST', body: '{}', headers: ofRequest });
      expect(here.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k', 'k']);
      const arrived = there.requests[0]?.headers ?? {};
      expect(arrived['accept']).toBe('application/json');
      for (const name of [...Object.keys(own), 'mcp-session-id', 'last-event-id'])
        expect(arrived).not.toHaveProperty(name);
    },
  );

  verifies(['C3', 'S038'], 'what was dropped does not come back on a redirect home', async () => {
    await using here = await startRedirecting();
    await using there = await startRedirecting();
    const allowedHosts = [here, there].map(({ origin }) => new URL(origin).host);
    const guarded = guardFetch(
      fetch,
      policyFor(here.origin, { allowedHosts, requestInit: { headers: own } }),
    );
    await guarded(redirectTo(here.origin, 307, redirectTo(there.origin, 307, `${here.origin}/home`)));
    expect(here.requests.at(-1)?.url).toBe('/home');
    expect(here.requests.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  test('other members of requestInit are merged below those of the request', async () => {
    const seen: (RequestInit | undefined)[] = [];
    const send = async (_: string | URL, init?: RequestInit): Promise<Response> => {
      seen.push(init);
      return new Response();
    };
    const requestInit = { credentials: 'include', method: 'PUT', body: 'x', keepalive: true } as const;
    await guardFetch(send, policyFor('http://x', { requestInit }))('http://x', {
      method: 'POST',
      body: '{}',
    });
    expect(seen[0]).toMatchObject({
      credentials: 'include',
      keepalive: true,
      method: 'POST',
      body: '{}',
      redirect: 'manual',
    });
  });
});

describe('a custom fetch', () => {
  verifies(['C11', 'S039'], 'is not called for a host that is not listed', async () => {
    let calls = 0;
    const custom = async (): Promise<Response> => (calls++, new Response());
    const sent = guardFetch(custom, policyFor('http://x', { allowedHosts: ['y'] }))('http://x');
    await expect(sent).rejects.toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
    expect(calls).toBe(0);
  });

  verifies(['C11', 'S039'], 'that followed redirects by itself is judged by where it ended', async () => {
    await using here = await startRedirecting();
    await using there = await startRedirecting();
    const custom: typeof fetch = (url, init) => fetch(url, { ...init, redirect: 'follow' });
    const allowedHosts = [new URL(here.origin).host];
    const sent = guardFetch(
      custom,
      policyFor(here.origin, { allowedHosts }),
    )(redirectTo(here.origin, 307, `${there.origin}/`));
    await expect(sent).rejects.toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED', mayHaveExecuted: true });
  });

  verifies('S040', 'may make up a response, which has no URL to check', async () => {
    const custom = async (): Promise<Response> => new Response('made up');
    const response = await guardFetch(custom, policyFor('http://x', { allowedHosts: ['x'] }))('http://x');
    expect(await response.text()).toBe('made up');
  });
});
