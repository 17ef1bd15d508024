/**
 * What an answer of the server over HTTP says about the request, as facts, before the SDK makes an error text of it.
 *
 * Owns the reading of failed answers, network errors, content types, size limits and the end of event streams. Does not
 * know which request is waiting: the transports do.
 */
import { isMCPError } from '../../shared/errors.ts';
import { redact } from '../oauth/redaction.ts';
import { EventStreamScan } from './event-stream-scan.ts';
import { TransportFailure, type TransportFailureFacts } from './transport-failure.ts';

const MAX_ERROR_BODY_BYTES = 64 * 1024;
const MAX_ERROR_BODY_MS = 2000;
const MAX_EXCERPT = 300;
/** Statuses by which a server, or a proxy before it, says that it did not take the request. */
const NOT_TAKEN: ReadonlySet<number> = new Set([401, 403, 404, 405, 406, 413, 414, 415, 421, 426, 429, 431]);

/** What is known about a request whose answer is judged. */
export interface SentRequest {
  readonly hadSession: boolean;
  /** Values that must not come back in a text. */
  readonly secrets: readonly string[];
}

/** Media type of an answer in lower case, without parameters; empty when it has none. */
export function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether an answer is an event stream that can be read. */
export function isEventStream(response: Response): boolean {
  return response.ok && response.body !== null && mediaType(response) === 'text/event-stream';
}

/** Facts of a failed answer that cost no reading of its body. */
export function refusalFacts(response: Response, sent: SentRequest): TransportFailureFacts {
  return {
    mayHaveExecuted: !NOT_TAKEN.has(response.status),
    status: response.status,
    hadSession: sent.hadSession,
    challenge: response.headers.get('www-authenticate') ?? undefined,
  };
}

/** The failure for an answer that is not 2xx. Reads at most 64 KB and 2 s of its body; never rejects. */
export async function toRefusal(response: Response, sent: SentRequest): Promise<TransportFailure> {
  const text = await readStart(response);
  const rpcError = parseRpcError(text);
  const said =
    rpcError === undefined ? excerpt(response, text) : `error ${rpcError.code} ${quote(rpcError.message)}`;
  const shown = redact(said, sent.secrets);
  return new TransportFailure('status', `HTTP ${response.status}${shown === '' ? '' : `: ${shown}`}`, {
    ...refusalFacts(response, sent),
    rpcError,
  });
}

/** Whether an error says already what happened: a failure of ours or a refusal of the URL policy. */
export function isFact(error: unknown): error is Error {
  return error instanceof TransportFailure || isMCPError(error);
}

/** The answer that tells the SDK, by the specification, that there is no event stream; it asks no more then. */
export function noEventStream(): Response {
  return new Response(null, { status: 405 });
}

/**
 * The failure for what `fetch` threw, or for a body that broke off. Certain that nothing ran only where no connection
 * was made; every other error may have come after the request was sent.
 */
export function toNetworkFailure(error: unknown): TransportFailure {
  const { code, certain } = readNetworkError(error);
  const named = code === undefined ? '' : ` (${code})`;
  return certain
    ? new TransportFailure('unreachable', `the server could not be reached${named}`, {
        mayHaveExecuted: false,
        networkCode: code,
        cause: error,
      })
    : new TransportFailure('lost', `the connection broke before the answer was complete${named}`, {
        mayHaveExecuted: true,
        networkCode: code,
        cause: error,
      });
}

/**
 * Refuses a session id that could not be sent back safely.
 *
 * @throws TransportFailure `malformed`
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export async function assertSessionId(response: Response): Promise<void> {
  const id = response.headers.get('mcp-session-id');
  if (id === null || /^[\x21-\x7e]{1,512}$/.test(id)) return;
  await discard(response);
  throw new TransportFailure('malformed', 'the session id is not 1 to 512 visible ASCII characters', {
    mayHaveExecuted: true,
    status: response.status,
  });
}

/** The failure for a 2xx answer that is neither JSON nor an event stream. Drops its body. */
export async function toUnexpectedType(response: Response): Promise<TransportFailure> {
  await discard(response);
  const type = mediaType(response);
  const problem = type === '' ? 'no content type' : `content type ${quote(type)}`;
  return new TransportFailure('malformed', `HTTP ${response.status} with ${problem}`, {
    mayHaveExecuted: true,
    status: response.status,
  });
}

/**
 * A JSON answer whose body fails with a TransportFailure when it is larger than `limit` bytes. One that declares its
 * length is handed on as it is: `fetch` holds the body to it.
 *
 * @throws TransportFailure `too-large` when the declared length is above the limit
 */
export async function guardJson(response: Response, limit: number): Promise<Response> {
  const declared = Number(response.headers.get('content-length') ?? Number.NaN);
  if (declared > limit) {
    await discard(response);
    throw tooLarge('answer', declared, limit);
  }
  if (declared >= 0 && !response.headers.has('content-encoding')) return response;
  let size = 0;
  return passThrough(response, {
    onChunk: chunk => {
      size += chunk.length;
      return size > limit ? tooLarge('answer', size, limit) : undefined;
    },
    onEnd: (controller, failure) => (failure === undefined ? controller.close() : controller.error(failure)),
  });
}

/** What is told about an event stream that is passed through. */
export interface EventStreamWatch {
  readonly maxEventBytes: number;
  /** Called once, when the stream was handed on completely. `failure` says why, unless the server ended it. */
  onEnd(lastEventId: string | undefined, failure: TransportFailure | undefined): void;
}

const BLANK_LINE = new TextEncoder().encode('\n\n');

/** An event-stream answer that tells how it ended, and ends at an event above the limit. */
export function guardEvents(response: Response, watch: EventStreamWatch): Response {
  const scan = new EventStreamScan();
  return passThrough(response, {
    onChunk: chunk => {
      const size = scan.feed(chunk);
      return size > watch.maxEventBytes ? tooLarge('event', size, watch.maxEventBytes) : undefined;
    },
    onEnd: (controller, failure) => {
      // A whole message whose blank line is missing is still a message; half of one does not parse.
      if (failure === undefined && scan.unfinished) controller.enqueue(BLANK_LINE);
      // Closed after a failure as well: an error would discard events that were not read yet.
      controller.close();
      watch.onEnd(scan.lastEventId, failure);
    },
  });
}

interface BodyWatch {
  /** A failure ends the body before the chunk is handed on. */
  onChunk(chunk: Uint8Array): TransportFailure | undefined;
  onEnd(controller: ReadableStreamDefaultController<Uint8Array>, failure: TransportFailure | undefined): void;
}

function passThrough(response: Response, watch: BodyWatch): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await reader.read().catch((error: unknown) => toNetworkFailure(error));
        if (read instanceof TransportFailure) return watch.onEnd(controller, read);
        if (read.done) return watch.onEnd(controller, undefined);
        const failure = watch.onChunk(read.value);
        if (failure === undefined) return controller.enqueue(read.value);
        watch.onEnd(controller, failure);
        await reader.cancel().catch(() => undefined);
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function tooLarge(what: string, size: number, limit: number): TransportFailure {
  return new TransportFailure(
    'too-large',
    `an ${what} of at least ${size} bytes, above the limit of ${limit}`,
    {
      mayHaveExecuted: true,
      size,
      limit,
    },
  );
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}

async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(stop, MAX_ERROR_BODY_MS);
  let text = '';
  try {
    for (let size = 0; size < MAX_ERROR_BODY_BYTES;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // Half of an error page is as good as the whole.
  } finally {
    clearTimeout(timer);
    stop();
  }
  return text;
}

function parseRpcError(text: string): TransportFailureFacts['rpcError'] {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; data?: unknown } };
    if (typeof error?.code !== 'number' || typeof error.message !== 'string') return undefined;
    return { code: error.code, message: error.message, data: error.data };
  } catch {
    return undefined;
  }
}

function excerpt(response: Response, text: string): string {
  const words = text.trim();
  if (mediaType(response) === 'text/html' || words.startsWith('<')) return 'an HTML page';
  return words === '' ? '' : quote(words);
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text);
}

/** Codes of errors that happen while a connection is made, and at no other time. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
/** Codes that also occur on a connection in use; there the system call tells which it was. */
const WHILE_CONNECTING: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

function readNetworkError(error: unknown): { readonly code: string | undefined; readonly certain: boolean } {
  const { cause } = (error ?? {}) as { cause?: unknown };
  const { code, syscall, errors } = (cause ?? error ?? {}) as {
    code?: unknown;
    syscall?: unknown;
    errors?: unknown;
  };
  if (typeof code !== 'string') return { code: undefined, certain: false };
  // Several addresses were tried, which happens while connecting only.
  const connecting = syscall === 'connect' || Array.isArray(errors);
  return { code, certain: NO_CONNECTION.has(code) || (WHILE_CONNECTING.has(code) && connecting) };
}
