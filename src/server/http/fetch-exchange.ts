/**
 * An Exchange over a web-standard Request, answered by a Response.
 *
 * Owns reading a body from a web stream, the answer's stream with its queue, and cancellation from either side (the
 * request's signal, a reader that cancels). Does not decode, parse or judge. What stands before a request in a
 * framework is in hono-exchange.ts.
 */
import type { RequestContext } from '@mastra/core/request-context';
import type { WireRequestInfo } from '../sessions/wire-request.ts';
import type { BodyLimits, BodyRead, Exchange, Headers as AnswerHeaders, StreamSink } from './exchange.ts';
import { startTimer } from './timer.ts';

/** What the caller of `server.fetch` knows about a request. */
export interface FetchFacts {
  readonly authInfo?: unknown;
  readonly requestContext?: RequestContext | undefined;
}

/** What a framework around a request knows better than the request itself. */
export interface FetchFrame {
  /** The URL as the framework sees it. */
  readonly url?: URL;
  /** Gives the parsed body where the request has none to read any more. Rejects with a SyntaxError when it is no JSON. */
  readonly readParsed?: () => Promise<unknown>;
  /** The body is left to be read by somebody else. */
  readonly readsCopy?: boolean;
  /** Makes the answer. */
  readonly respond?: (body: AnswerBody, status: number, headers: AnswerHeaders) => Response;
}

export type AnswerBody = string | ReadableStream<Uint8Array> | null;

const encoder = new TextEncoder();

export class FetchExchange implements Exchange {
  readonly method: string;
  readonly caller = 'hidden';
  readonly authInfo: unknown;
  readonly wire: FetchWireRequest;
  readonly answered: Promise<void>;
  /** The answer; settles with `answered`. */
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #frame: FetchFrame;
  #respond: (response: Response) => void = () => {};
  #ended = false;
  #isGone = false;
  #gone: (() => void) | undefined;
  #isOver = false;
  #over: (() => void) | undefined;
  #queue: ChunkQueue | undefined;

  constructor(request: Request, facts: FetchFacts = {}, frame: FetchFrame = {}) {
    this.method = request.method.toUpperCase();
    this.authInfo = facts.authInfo;
    this.wire = new FetchWireRequest(request, facts.requestContext, frame.url);
    this.#request = request;
    this.#frame = frame;
    this.response = new Promise(resolve => {
      this.#respond = resolve;
    });
    this.answered = this.response.then(() => {});
    if (request.signal.aborted) this.#onGone();
    else request.signal.addEventListener('abort', () => this.#onGone(), { once: true });
  }

  get paths(): readonly string[] {
    return [this.wire.url.pathname];
  }

  get targets(): readonly string[] {
    return this.paths;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? (name === 'host' ? this.wire.url.host : undefined);
  }

  /** The runtime joins what was sent several times. */
  headerCount(name: string): number {
    return this.header(name) === undefined ? 0 : 1;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#gone = listener;
  }

  onOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#over = listener;
  }

  async readBody({ maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<BodyRead> {
    if (Number(this.header('content-length') ?? 0) > maxBodyBytes) return { kind: 'too-large' };
    const { readParsed, readsCopy } = this.#frame;
    const { body, bodyUsed } = readsCopy === true ? this.#request.clone() : this.#request;
    if (readParsed !== undefined && (body === null || bodyUsed)) return takeParsed(readParsed, bodyTimeoutMs);
    if (body === null) return { kind: 'bytes', bytes: new Uint8Array() };
    const reader = body.getReader();
    let late = false;
    const stopTimer = startTimer(bodyTimeoutMs, () => {
      late = true;
      reader.cancel().catch(() => {});
    });
    try {
      const chunks: Uint8Array[] = [];
      let size = 0;
      for (;;) {
        const { done, value } = await reader.read();
        if (late) return { kind: 'too-slow' };
        if (done) return { kind: 'bytes', bytes: join(chunks, size) };
        size += value.byteLength;
        if (size > maxBodyBytes) {
          reader.cancel().catch(() => {});
          return { kind: 'too-large' };
        }
        chunks.push(value);
      }
    } catch {
      return late ? { kind: 'too-slow' } : { kind: 'gone' };
    } finally {
      stopTimer();
    }
  }

  answer(status: number, headers: AnswerHeaders, body?: string): void {
    if (this.#ended || this.#queue !== undefined) return;
    const response = this.#toResponse(body ?? null, status, headers);
    this.#ended = true;
    this.#respond(response);
    this.#onOver();
  }

  openStream(headers: AnswerHeaders): StreamSink {
    const queue = new ChunkQueue(
      () => this.#onGone(),
      () => this.#onOver(),
    );
    const response = this.#toResponse(queue.readable, 200, headers);
    this.#queue = queue;
    this.#respond(response);
    const over = (): void => {
      this.#ended = true;
    };
    const isOver = (): boolean => this.#ended || this.#isGone;
    return {
      get waitingChunks() {
        return queue.length;
      },
      get waitingBytes() {
        return queue.bytes;
      },
      write(text) {
        if (!isOver()) queue.push(text);
      },
      end(text) {
        if (isOver()) return;
        over();
        if (text !== undefined) queue.push(text);
        queue.end();
      },
      destroy() {
        if (isOver()) return;
        over();
        queue.destroy();
      },
    };
  }

  #toResponse(body: AnswerBody, status: number, headers: AnswerHeaders): Response {
    return this.#frame.respond?.(body, status, headers) ?? new Response(body, { status, headers });
  }

  #onGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    // 499 is what proxies log for a caller that left; nobody is there to read it.
    this.#respond(new Response(null, { status: 499 }));
    if (!this.#ended) {
      // No error: who reads wanted the end, and hosts print errors of streams.
      this.#queue?.drop();
      this.#gone?.();
    }
    this.#gone = undefined;
    this.#onOver();
  }

  #onOver(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over?.();
    this.#over = undefined;
  }
}

/** Text that waits for the reader of a web stream, counted. */
class ChunkQueue {
  readonly readable: ReadableStream<Uint8Array>;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #isWanted = false;
  #isEnding = false;
  #isClosed = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #onOver: () => void;

  /** `onOver` runs when the reader has everything, or gets nothing more. */
  constructor(onCancel: () => void, onOver: () => void) {
    this.#onOver = onOver;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#flush();
        },
        cancel: () => {
          this.#isClosed = true;
          onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  get length(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(text: string): void {
    const chunk = encoder.encode(text);
    this.#waiting.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#flush();
  }

  end(): void {
    this.#isEnding = true;
    this.#flush();
  }

  /** Ends because nobody wants to read any more. */
  drop(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.end();
  }

  /** Ends before what waits is read, so that the reader can tell. */
  destroy(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#controller?.error(new Error('The stream was closed before its end'));
    this.#onOver();
  }

  #flush(): void {
    if (this.#isWanted && this.#waiting.length > 0) {
      this.#isWanted = false;
      const chunk = join(this.#waiting, this.#bytes);
      this.#waiting = [];
      this.#bytes = 0;
      this.#controller?.enqueue(chunk);
    }
    if (!this.#isEnding || this.#waiting.length > 0) return;
    if (!this.#isClosed) this.#controller?.close();
    this.#isClosed = true;
    this.#onOver();
  }
}

/** The request of a fetch exchange as tools may see it; made when it is asked for. */
class FetchWireRequest implements WireRequestInfo {
  readonly req: Request;
  readonly requestContext?: RequestContext;
  #headers: Record<string, string> | undefined;
  #url: URL | undefined;

  constructor(req: Request, requestContext: RequestContext | undefined, url: URL | undefined) {
    this.req = req;
    this.#url = url;
    if (requestContext !== undefined) this.requestContext = requestContext;
  }

  get headers(): Record<string, string> {
    this.#headers ??= Object.fromEntries(this.req.headers);
    return this.#headers;
  }

  get url(): URL {
    this.#url ??= new URL(this.req.url);
    return this.#url;
  }
}

async function takeParsed(read: () => Promise<unknown>, timeoutMs: number): Promise<BodyRead> {
  let stopTimer = (): void => {};
  const late = new Promise<BodyRead>(resolve => {
    stopTimer = startTimer(timeoutMs, () => resolve({ kind: 'too-slow' }));
  });
  try {
    return await Promise.race([read().then(value => ({ kind: 'parsed', value }) as const), late]);
  } catch (error) {
    // No bytes at all are no JSON either; everything else is trouble of the host.
    if (error instanceof SyntaxError) return { kind: 'bytes', bytes: new Uint8Array() };
    throw error;
  } finally {
    stopTimer();
  }
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}
