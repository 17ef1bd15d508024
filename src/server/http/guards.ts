/**
 * Who may send a request and what it must look like, before anything is looked up: a refusal or nothing.
 *
 * Owns Host, Origin, CORS, media types and the shape of a body. Knows no session and no method names.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
import { idToAnswer, toWireMessage } from '../sessions/wire-message.ts';
import type { WireMessage } from '../sessions/wire-message.ts';
import { RPC, refusal } from './exchange.ts';
import type { BodyRead, Exchange, Headers, Refusal } from './exchange.ts';
import type { CORSSettings, HTTPSettings } from './http-options.ts';

/** Request headers of the protocol, which a browser must be allowed to send. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
];
/** Answer headers of the protocol, which a browser's script must be allowed to read. */
const ANSWER_HEADERS = ['mcp-session-id', 'mcp-protocol-version', 'www-authenticate', 'retry-after'];

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;
const ACCEPTS_JSON = /(?:^|[\s,])(?:application\/(?:json|\*)|\*\/\*)(?=$|[\s,;])/i;
const ACCEPTS_STREAM = /(?:^|[\s,])(?:text\/(?:event-stream|\*)|\*\/\*)(?=$|[\s,;])/i;
const NO_HEADERS: Headers = {};

/**
 * Refuses requests that a page in the user's own browser may have been tricked into sending (DNS rebinding).
 *
 * Does not check a Host where the server is reached from other machines and `allowedHosts` is not set.
 */
export function refuseOrigin(exchange: Exchange, settings: HTTPSettings): Refusal | undefined {
  const host = exchange.header('host')?.toLowerCase() ?? '';
  const isLoopbackHost = LOOPBACK_HOST.test(host);
  const { allowedHosts } = settings;
  const isListedHost =
    allowedHosts === undefined ? exchange.caller !== 'loopback' : isListed(host, allowedHosts);
  if (!isLoopbackHost && !isListedHost)
    return refusal(
      403,
      RPC.refused,
      'Host is not allowed; the server lists its hosts in the option allowedHosts',
    );
  const origin = exchange.header('origin')?.toLowerCase();
  if (origin === undefined || isOriginAllowed(origin, settings)) return undefined;
  const isChecked =
    settings.allowedOrigins.length > 0 ||
    exchange.caller === 'loopback' ||
    (exchange.caller === 'hidden' && isLoopbackHost);
  return isChecked
    ? refusal(
        403,
        RPC.refused,
        'Origin is not allowed; the server lists its origins in the option allowedOrigins',
      )
    : undefined;
}

function isListed(host: string, allowedHosts: readonly string[]): boolean {
  return allowedHosts.includes(host) || allowedHosts.includes(host.replace(/:\d+$/, ''));
}

function isOriginAllowed(origin: string, { allowedOrigins, cors }: HTTPSettings): boolean {
  if (LOOPBACK_ORIGIN.test(origin) || allowedOrigins.includes(origin)) return true;
  return cors !== undefined && (cors.origins === '*' || cors.origins.includes(origin));
}

export const OPEN_TO_ALL =
  'The MCP server is reached from other machines without allowedHosts or allowedOrigins';

/** Whether other machines reach a server that does not say which hosts and pages may. */
export function isOpenToAll(exchange: Exchange, { allowedHosts, allowedOrigins }: HTTPSettings): boolean {
  return exchange.caller === 'remote' && allowedHosts === undefined && allowedOrigins.length === 0;
}

/** The CORS headers of every answer to this request; none without `cors` or to an origin that is not listed. */
export function corsHeaders(exchange: Exchange, { cors }: HTTPSettings): Headers {
  const origin = cors === undefined ? undefined : exchange.header('origin');
  if (cors === undefined || origin === undefined) return NO_HEADERS;
  if (cors.origins !== '*' && !cors.origins.includes(origin.toLowerCase())) return { vary: 'origin' };
  return {
    vary: 'origin',
    'access-control-allow-origin': cors.origins === '*' ? '*' : origin,
    'access-control-expose-headers': [...ANSWER_HEADERS, ...cors.exposedHeaders].join(', '),
    ...(cors.credentials ? { 'access-control-allow-credentials': 'true' } : {}),
  };
}

/** What a preflight gets beside `corsHeaders`. Needs no session. */
export function preflightHeaders(cors: CORSSettings, methods: string): Headers {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': [...REQUEST_HEADERS, ...cors.headers].join(', '),
    'access-control-max-age': String(cors.maxAgeSeconds),
  };
}

/** Refuses a POST whose client cannot read every answer it may get, or whose body is not declared as JSON. */
export function refuseMedia(exchange: Exchange, { form }: HTTPSettings): Refusal | undefined {
  const accept = exchange.header('accept') ?? '';
  if (!ACCEPTS_JSON.test(accept) || (form !== 'json' && !ACCEPTS_STREAM.test(accept)))
    return refusal(406, RPC.refused, 'Accept must list application/json and text/event-stream');
  return refuseBodyType(exchange);
}

/** Refuses a body that is not declared as JSON, which a page of another origin could send without being asked. */
export function refuseBodyType(exchange: Exchange): Refusal | undefined {
  const [type = ''] = (exchange.header('content-type') ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json')
    return refusal(415, RPC.refused, 'Content-Type must be application/json');
  return undefined;
}

/** Refuses a GET whose client cannot read an event stream. */
export function refuseStream(exchange: Exchange): Refusal | undefined {
  if (ACCEPTS_STREAM.test(exchange.header('accept') ?? '')) return undefined;
  return refusal(406, RPC.refused, 'Accept must list text/event-stream');
}

/** The messages of one body, in order. */
export interface Body {
  readonly messages: readonly WireMessage[];
  /** They came as an array. */
  readonly isBatch: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes and parses a body that was read and checks that it holds messages. Text is parsed once. */
export function parseBody(
  read: Exclude<BodyRead, { kind: 'gone' }>,
  limits: HTTPSettings['limits'],
): Body | Refusal {
  if (read.kind === 'too-slow')
    return refusal(408, RPC.refused, 'The body did not arrive in time', { closing: true });
  if (read.kind === 'too-large' || (read.kind === 'bytes' && read.bytes.byteLength > limits.maxBodyBytes))
    return refusal(413, RPC.refused, `The body is larger than ${limits.maxBodyBytes} bytes`, {
      closing: true,
    });
  let value: unknown;
  if (read.kind === 'parsed') {
    if (isDeeper(read.value, limits.maxJsonDepth)) return tooDeep(limits.maxJsonDepth);
    ({ value } = read);
  } else {
    try {
      const text = utf8.decode(read.bytes);
      if (isTextDeeper(text, limits.maxJsonDepth)) return tooDeep(limits.maxJsonDepth);
      value = JSON.parse(text);
    } catch {
      return refusal(400, RPC.parse, 'The body is not JSON in UTF-8');
    }
  }
  return toBody(value, limits.maxBatch);
}

function tooDeep(limit: number): Refusal {
  return refusal(400, RPC.invalid, `The body is nested deeper than ${limit} levels`);
}

/** Checks that a JSON value is one message, or an array of at most `maxBatch`. */
export function toBody(value: unknown, maxBatch: number): Body | Refusal {
  if (!Array.isArray(value)) {
    const message = toWireMessage(value);
    if (message !== undefined) return { messages: [message], isBatch: false };
    return refusal(400, RPC.invalid, 'This is not a JSON-RPC message', { id: idToAnswer(value) });
  }
  if (value.length === 0 || value.length > maxBatch)
    return refusal(400, RPC.invalid, `A batch holds 1 to ${maxBatch} messages`);
  const messages = value.map(toWireMessage).filter(message => message !== undefined);
  if (messages.length < value.length)
    return refusal(400, RPC.invalid, 'The batch holds something that is not a JSON-RPC message');
  return { messages, isBatch: true };
}

/** Whether JSON text nests deeper than `limit`, without parsing it: strings are skipped, brackets counted. */
export function isTextDeeper(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

/** Where the string that begins at `start` ends; -1 when it does not, and the text is no JSON. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return children.some(child => isDeeper(child, limit - 1));
}
