/**
 * An Exchange over node's request and response, and over what imitates them.
 *
 * Owns reading a body from node's stream (as bytes, joined once), bodies parsed before, `close` on the response and
 * lingering after an answer that came before the end of the body. Does not decode, parse or judge.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WireRequestInfo } from '../sessions/wire-request.ts';
import type { BodyLimits, BodyRead, Exchange, Headers, StreamSink } from './exchange.ts';
import { startTimer } from './timer.ts';

/** What frameworks put on a request: a parsed body, the caller, the path before a router cut it. */
export type NodeRequest = IncomingMessage & {
  readonly body?: unknown;
  readonly auth?: unknown;
  readonly originalUrl?: unknown;
};

/** After an early answer the rest of a body is thrown away this long, so that the client gets to read the answer. */
const LINGER_MS = 2000;

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

export class NodeExchange implements Exchange {
  readonly method: string;
  readonly answered: Promise<void>;
  readonly #req: NodeRequest;
  readonly #res: ServerResponse;
  readonly #url: URL | undefined;
  readonly #settle: () => void;
  #ended = false;
  #gone: (() => void) | undefined;
  #over: (() => void) | undefined;
  /** The answer has left, or the connection is gone. */
  #isGone = false;

  constructor(req: IncomingMessage, res: ServerResponse, url?: URL) {
    this.method = req.method ?? 'GET';
    this.#req = req;
    this.#res = res;
    this.#url = url;
    let settle = (): void => {};
    this.answered = new Promise(resolve => {
      settle = resolve;
    });
    this.#settle = settle;
    res.once('close', () => this.#onClose());
    // What is written to a connection that is gone must not end the process.
    res.on('error', () => {});
  }

  get paths(): readonly string[] {
    const sent = this.#req.originalUrl;
    const own = this.#url?.pathname ?? toPath(this.#req.url ?? '/');
    return typeof sent === 'string' ? [own, toPath(sent)] : [own];
  }

  get targets(): readonly string[] {
    return [toPath(this.#req.url ?? '/'), ...this.paths];
  }

  get caller(): Exchange['caller'] {
    const address = this.#req.socket?.remoteAddress;
    if (address === undefined) return 'hidden';
    return LOOPBACK.test(address) ? 'loopback' : 'remote';
  }

  get authInfo(): unknown {
    return this.#req.auth;
  }

  get wire(): WireRequestInfo {
    return new NodeWireRequest(this.#req, this.#url);
  }

  header(name: string): string | undefined {
    const { headers } = this.#req;
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined);
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headerCount(name: string): number {
    return this.#req.headersDistinct?.[name]?.length ?? (this.header(name) === undefined ? 0 : 1);
  }

  /**
   * Hands the request on to whoever answers it: who calls, unless somebody has told, and a body that was read here.
   */
  admit(authInfo: unknown, body?: BodyRead): void {
    const req: { auth?: unknown; body?: unknown } = this.#req;
    req.auth ??= authInfo;
    if (body?.kind === 'bytes') req.body = body.bytes;
  }

  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#gone = listener;
  }

  onOver(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#over = listener;
  }

  readBody({ maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<BodyRead> {
    const declared = Number(this.#req.headers['content-length'] ?? 0);
    if (declared > maxBodyBytes) return Promise.resolve({ kind: 'too-large' });
    const before = parsedBefore(this.#req);
    if (before !== undefined) return Promise.resolve(before);
    return this.#readStream(maxBodyBytes, bodyTimeoutMs);
  }

  #readStream(maxBytes: number, timeoutMs: number): Promise<BodyRead> {
    const req = this.#req;
    return new Promise(resolve => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (read: BodyRead): void => {
        stopTimer();
        req.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
        resolve(read);
      };
      const onData = (chunk: Buffer | string): void => {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        size += bytes.length;
        if (size > maxBytes) finish({ kind: 'too-large' });
        else chunks.push(bytes);
      };
      const onEnd = (): void => {
        const [first] = chunks;
        const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
        finish({ kind: 'bytes', bytes });
      };
      const onLost = (): void => finish({ kind: 'gone' });
      const stopTimer = startTimer(timeoutMs, () => finish({ kind: 'too-slow' }));
      if (req.destroyed && !req.readableEnded) finish({ kind: 'gone' });
      else req.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    });
  }

  answer(status: number, headers: Headers, body?: string, closing = false): void {
    const res = this.#res;
    if (!this.#ended && !this.#isGone && !res.headersSent && !res.destroyed) {
      this.#ended = true;
      const length = body === undefined ? 0 : Buffer.byteLength(body);
      const sized = status === 204 ? headers : { ...headers, 'content-length': String(length) };
      if (closing) this.#answerEarly(status, sized, body);
      else res.writeHead(status, sized).end(body);
    }
    this.#settle();
  }

  /** Closing a socket with unread bytes in it resets it, and the answer is lost: the rest is read and dropped first. */
  #answerEarly(status: number, headers: Headers, body: string | undefined): void {
    const req = this.#req;
    const res = this.#res;
    const isHttp1 = req.httpVersionMajor === 1;
    res.writeHead(status, isHttp1 ? { ...headers, connection: 'close' } : headers);
    res.write(body ?? '');
    const stopTimer = startTimer(LINGER_MS, () => end());
    const end = (): void => {
      stopTimer();
      req.off('end', end).off('close', end);
      if (!this.#isGone) res.end();
    };
    req.on('end', end).on('close', end).on('error', end);
    req.resume();
  }

  openStream(headers: Headers): StreamSink {
    const res = this.#res;
    if (!this.#isGone && !this.#ended) {
      res.writeHead(200, headers);
      res.flushHeaders();
    }
    this.#settle();
    return this.#sink();
  }

  #sink(): StreamSink {
    const res = this.#res;
    const isOver = (): boolean => this.#ended || this.#isGone;
    const over = (): void => {
      this.#ended = true;
    };
    let waiting = 0;
    const taken = (): void => {
      waiting -= 1;
    };
    return {
      get waitingChunks() {
        return waiting;
      },
      get waitingBytes() {
        return res.writableLength;
      },
      write(text) {
        if (isOver()) return;
        waiting += 1;
        res.write(text, taken);
      },
      end(text) {
        if (isOver()) return;
        over();
        res.end(text);
      },
      destroy() {
        if (isOver()) return;
        over();
        res.destroy();
      },
    };
  }

  #onClose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#settle();
    if (!this.#ended) this.#gone?.();
    this.#over?.();
    this.#gone = undefined;
    this.#over = undefined;
  }
}

/** The request of a node exchange as tools may see it; the URL is made when it is asked for. */
class NodeWireRequest implements WireRequestInfo {
  readonly req: IncomingMessage;
  readonly #url: URL | undefined;

  constructor(req: IncomingMessage, url: URL | undefined) {
    this.req = req;
    this.#url = url;
  }

  get headers(): IncomingMessage['headers'] {
    return this.req.headers;
  }

  get url(): URL {
    if (this.#url !== undefined) return this.#url;
    const path = this.req.url ?? '/';
    try {
      return new URL(`http://${this.req.headers.host ?? 'localhost'}${path}`);
    } catch {
      // A client may name a host that is none.
      return new URL(path, 'http://localhost');
    }
  }
}

function toPath(url: string): string {
  const query = url.search(/[?#]/);
  return query === -1 ? url : url.slice(0, query);
}

/**
 * A body that a framework has read. An empty object beside an unread stream is what some parsers leave on requests
 * that are not theirs, so the stream is read then.
 */
function parsedBefore(req: NodeRequest): BodyRead | undefined {
  const { body } = req;
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return { kind: 'bytes', bytes: Buffer.from(body) };
  if (body instanceof Uint8Array) return { kind: 'bytes', bytes: body };
  const isEmpty = typeof body === 'object' && Object.keys(body).length === 0 && !Array.isArray(body);
  return isEmpty && !req.readableEnded ? undefined : { kind: 'parsed', value: body };
}
