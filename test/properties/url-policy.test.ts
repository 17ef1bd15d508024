import * as fc from 'fast-check';
import { expect } from 'vitest';
import { guardFetch } from '../../src/client/connection/url-policy.ts';
import { verifies } from '../requirements/requirements.ts';

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

verifies(
  ['C1', 'C2', 'C4', 'S036'],
  'whatever the redirects, nothing is sent to a host that the plain matcher refuses',
  async () => {
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

          const isAllowed = (url: URL): boolean =>
            allowedHosts === undefined ? url.origin === sent[0]?.origin : allowedHosts.includes(url.host);
          const isDowngrade = (url: URL, index: number): boolean =>
            sent[index - 1]?.protocol === 'https:' && url.protocol !== 'https:';
          expect(sent.length).toBeLessThanOrEqual(6);
          expect(sent.filter(url => !isAllowed(url))).toEqual([]);
          expect(sent.filter(isDowngrade)).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  },
);

verifies(
  ['C3', 'S038'],
  'whatever the redirects, no header of requestInit reaches another origin than the own one',
  async () => {
    await fc.assert(
      fc.asyncProperty(anyUrl, anyUrl, fc.array(anyHop, { maxLength: 6 }), async (own, start, hops) => {
        const sent: { readonly origin: string; readonly hasKey: boolean }[] = [];
        const send = async (url: string | URL, init?: RequestInit): Promise<Response> => {
          const hop = hops[sent.length];
          sent.push({ origin: new URL(url).origin, hasKey: new Headers(init?.headers).has('x-key') });
          return hop === undefined
            ? new Response()
            : new Response(null, { status: hop.status, headers: { location: hop.location } });
        };
        const requestInit = { headers: { 'X-Key': 'k' } };
        const policy = { serverName: 's', url: new URL(own), allowedHosts: hosts, requestInit };
        await guardFetch(send, policy)(start).catch(() => undefined);
        expect(sent.filter(({ origin, hasKey }) => hasKey && origin !== policy.url.origin)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  },
);
