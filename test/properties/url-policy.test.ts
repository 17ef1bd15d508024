import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardFetch } from '../../src/client/connection/url-policy.ts';

const hosts = ['a.test', 'b.test', 'a.test:8080', 'c.test', '127.0.0.1', '[::1]'];
const spelling: Record<string, readonly string[]> = {
  'a.test': ['a.test', 'A.Test'],
  '127.0.0.1': ['127.0.0.1', '2130706433', '0x7f.1'],
};
const anyHost = fc.constantFrom(...hosts).chain(host => fc.constantFrom(...(spelling[host] ?? [host])));
const anyUrl = fc
  .tuple(fc.constantFrom('http', 'https'), anyHost, fc.constantFrom('', '/', '/mcp', '/a/b?c=d'))
  .map(([scheme, host, path]) => `${scheme}://${host}${path}`);
const anyLocation = fc.oneof(
  { weight: 4, arbitrary: anyUrl },
  { weight: 1, arbitrary: anyHost.map(host => `//${host}/x`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '/relative',
      'x',
      '?q',
      'javascript:0',
      'http://user:pw@a.test/',
      'http://[',
      '',
    ),
  },
);
const anyHop = fc.record({ status: fc.constantFrom(301, 302, 303, 307, 308), location: anyLocation });

test('whatever the redirects, nothing is sent to a host that the plain matcher refuses', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyUrl,
      fc.array(anyHop, { maxLength: 8 }),
      fc.option(fc.subarray(hosts), { nil: undefined }),
      fc.constantFrom('GET', 'POST'),
      async (start, hops, allowedHosts, method) => {
        const sent: URL[] = [];
        const send = async (url: string | URL): Promise<Response> => {
          const hop = hops[sent.push(new URL(url)) - 1];
          return hop === undefined
            ? new Response()
            : new Response(null, { status: hop.status, headers: { location: hop.location } });
        };
        const policy = {
          serverName: 's',
          url: new URL(start),
          allowedHosts,
          requestInit: { headers: { 'x-key': 'k' } },
        };
        await guardFetch(send, policy)(start, { method }).catch(() => undefined);

        expect(sent.length).toBeLessThanOrEqual(6);
        for (const [index, url] of sent.entries()) {
          if (allowedHosts !== undefined) expect(allowedHosts).toContain(url.host);
          else expect(url.origin).toBe(sent[0]?.origin);
          const before = sent[index - 1];
          if (before?.protocol === 'https:') expect(url.protocol).toBe('https:');
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test('whatever the redirects, no header of requestInit reaches another origin than the own one', async () => {
  await fc.assert(
    fc.asyncProperty(anyUrl, anyUrl, fc.array(anyHop, { maxLength: 6 }), async (own, start, hops) => {
      let calls = 0;
      const send = async (url: string | URL, init?: RequestInit): Promise<Response> => {
        const hasKey = new Headers(init?.headers).has('x-key');
        if (hasKey) expect(new URL(url).origin).toBe(new URL(own).origin);
        const hop = hops[calls++];
        return hop === undefined
          ? new Response()
          : new Response(null, { status: hop.status, headers: { location: hop.location } });
      };
      const requestInit = { headers: { 'X-Key': 'k' } };
      const policy = { serverName: 's', url: new URL(own), allowedHosts: hosts, requestInit };
      await guardFetch(
        send,
        policy,
      )(start).catch((error: unknown) => {
        expect(error).not.toHaveProperty('matcherResult');
      });
    }),
    { numRuns: 1000 },
  );
});
