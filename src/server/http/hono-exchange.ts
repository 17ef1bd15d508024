/**
 * A FetchExchange over a Hono context, or over the little of one that core promises.
 *
 * Owns which request stands behind a context, bodies that a middleware has read before, and answering through the
 * context, so that headers set on it before are sent. Does not import Hono.
 */
import type { HonoContextLike } from '@mastra/core/mcp';
import { FetchExchange } from './fetch-exchange.ts';
import type { AnswerBody } from './fetch-exchange.ts';
import type { Headers as AnswerHeaders } from './exchange.ts';

/** What the host says about a request beside its context. */
export interface HonoFacts {
  readonly url: URL;
  readonly authInfo?: unknown;
  /** The method of a request that does not tell. */
  readonly assumedMethod: 'GET' | 'POST';
}

/** What a real context has beyond what core promises. */
interface FullContext extends HonoContextLike {
  readonly req: HonoContextLike['req'] & { readonly raw?: unknown; readonly method?: unknown };
  readonly body?: (body: AnswerBody, status: number, headers: AnswerHeaders) => Response;
}

/** Headers that are looked for where they cannot be listed; tools see no others then. */
const HEADERS = [
  'accept',
  'authorization',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'mcp-protocol-version',
  'origin',
  'user-agent',
];

/** Makes an exchange of a context. Without `req.raw` the end of a client is known only from the stream it read. */
export function toHonoExchange(context: HonoContextLike, facts: HonoFacts): FetchExchange {
  const { url, authInfo, assumedMethod } = facts;
  const { req }: FullContext = context;
  const request = isRequest(req.raw) ? req.raw : toRequest(req, url, assumedMethod);
  return new FetchExchange(
    request,
    { authInfo },
    {
      url,
      readParsed: () => req.json(),
      respond: (body, status, headers) => respond(context, body, status, headers),
    },
  );
}

function respond(
  context: FullContext,
  body: AnswerBody,
  status: number,
  headers: AnswerHeaders,
): globalThis.Response {
  if (typeof body === 'string') return context.text(body, status, { ...headers });
  return context.body?.(body, status, headers) ?? new Response(body, { status, headers });
}

function toRequest(req: FullContext['req'], url: URL, assumedMethod: string): Request {
  const method = typeof req.method === 'string' ? req.method : assumedMethod;
  const headers = HEADERS.map(name => [name, req.header(name)] as const);
  const given = headers.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  return new Request(url, { method, headers: Object.fromEntries(given) });
}

/** Runtimes have several classes of requests, so a class says nothing. */
function isRequest(value: unknown): value is Request {
  const { headers, url, method, signal } = Object(value) as Partial<Request>;
  return (
    typeof headers?.get === 'function' &&
    typeof url === 'string' &&
    typeof method === 'string' &&
    typeof signal?.addEventListener === 'function'
  );
}
