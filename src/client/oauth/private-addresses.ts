/**
 * Which addresses belong to nobody on the internet, and a request that goes only to the others.
 *
 * Owns the list of ranges and the check at the moment of connecting, so that a name cannot resolve to one address when
 * it is looked at and to another when it is used.
 */
import { lookup as dnsLookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';

/** IPv4: this network, private, shared, loopback, link-local, protocol, test, benchmark, multicast, reserved. */
const RANGES_4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;
/** IPv6: unspecified, loopback, translated IPv4, discard, documentation, 6to4, unique local, link-local, multicast. */
const RANGES_6 = [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

const privateRanges = new BlockList();
for (const [net, prefix] of RANGES_4) privateRanges.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of RANGES_6) privateRanges.addSubnet(net, prefix, 'ipv6');

/** Whether an address is not one of the public internet. IPv4 written as IPv6 counts as what it means. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  // What is no address is not connected to.
  return family === 0 || privateRanges.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** The addresses of a host: itself where it is one. Empty when the name is unknown. */
export async function addressesOf(hostname: string, lookup: LookupFunction): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return [literal];
  return await new Promise(resolve => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error !== null) resolve([]);
      else resolve(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    });
  });
}

/** Name resolution of the system. */
export const systemLookup: LookupFunction = dnsLookup;

/** An address that the policy does not let us connect to. */
export class PrivateAddressRefused extends Error {
  constructor() {
    super('the address is private');
    this.name = 'PrivateAddressRefused';
  }
}

/**
 * One request without redirects, to an address that `isRefused` lets pass; the connection goes to the very address that
 * was checked.
 *
 * @throws PrivateAddressRefused, or what the network throws.
 */
export async function fetchPinned(
  url: URL,
  init: { readonly method: string; readonly headers: Headers; readonly body: string | undefined },
  options: {
    readonly lookup: LookupFunction;
    readonly signal: AbortSignal | undefined;
    readonly isRefused?: (address: string) => boolean;
  },
): Promise<Response> {
  const { lookup, signal, isRefused = isPrivateAddress } = options;
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  // Literals are connected to without asking for their address.
  if (isIP(literal) !== 0 && isRefused(literal)) throw new PrivateAddressRefused();
  const checked: LookupFunction = (hostname, lookupOptions, callback) => {
    lookup(hostname, lookupOptions, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      if (error === null && addresses.some(address => isRefused(address))) {
        callback(new PrivateAddressRefused(), []);
      } else callback(error, found, family);
    });
  };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return await new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      {
        method: init.method,
        headers: { ...Object.fromEntries(init.headers), 'accept-encoding': 'identity' },
        lookup: checked,
        // A kept connection would have been checked for an earlier request.
        agent: false,
        signal,
      },
      incoming => {
        const headers = new Headers();
        for (const [name, value = ''] of Object.entries(incoming.headers)) headers.set(name, String(value));
        const { statusCode: status = 502 } = incoming;
        const hasBody = status !== 204 && status !== 205 && status !== 304;
        if (!hasBody) incoming.resume();
        const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
        resolve(new Response(body, { status, headers }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(init.body);
  });
}
