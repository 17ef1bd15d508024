/**
 * Ports to which `fetch` makes no connection: what tells a URL that can never be used from a connection that broke.
 *
 * Refuses nothing by itself, since a custom `fetch` may know better.
 *
 * @see https://fetch.spec.whatwg.org/#port-blocking
 */
import { TransportFailure } from './transport-failure.ts';

const BLOCKED: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * The failure for what `fetch` threw where that can only be its refusal of the port; else `undefined`. The refusal comes
 * without a code, which every error of a network has.
 */
export function toBlockedPort(url: string | URL, error: unknown): TransportFailure | undefined {
  const { port } = new URL(url);
  const { cause } = Object(error) as { readonly cause?: unknown };
  const hasCode = [error, cause].some(one => Reflect.get(Object(one), 'code') !== undefined);
  if (hasCode || !BLOCKED.has(Number(port))) return undefined;
  const problem = `the URL cannot be used: fetch does not connect to port ${port}`;
  return new TransportFailure('unreachable', problem, { mayHaveExecuted: false, cause: error });
}
