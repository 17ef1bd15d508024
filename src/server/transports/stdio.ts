/**
 * MCP over the standard streams of this process: one session that ends with stdin.
 *
 * Owns the line reader with its limit, the SDK Transport and keeping stdout clean: what anybody else prints there goes
 * to stderr as long as the session lasts. Output that bypasses `process.stdout` cannot be redirected.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { toBody } from '../http/guards.ts';
import { startTimer } from '../http/timer.ts';
import { ASSUMED_REVISION } from '../sessions/revision.ts';
import type { Session, SessionInit } from '../sessions/session-binding.ts';
import { isAnswer, requestsOf, toErrorAnswer } from '../sessions/wire-message.ts';
import { toWireText } from '../sessions/wire-text.ts';
import { checkMessages, refuseBatch } from './messages.ts';

/** What the stdio side needs from the rest of the server. The streams are those of the process unless given. */
export interface StdioDeps {
  createSession(init: SessionInit): Session;
  /** Identity of whoever started this process. */
  readonly principal: string;
  readonly onError: (error: unknown) => void;
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  /** Bytes of one line; longer ones are dropped and answered with an error. @defaultValue 64 MiB */
  readonly maxMessageBytes?: number | undefined;
}

/** The one session on the standard streams. */
export interface StdioConnection {
  readonly session: Session;
  readonly transport: Transport;
  /** Settles when stdin has ended or the session was closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const MAX_MESSAGE_BYTES = 64 * MIB;
const MAX_BATCH = 100;
/** While more than this waits for a client that does not read, nothing more is read from it. */
const PAUSE_BYTES = MIB;
/** After stdin has ended, running calls may still answer this long: a pipe ends before its answers are there. */
const END_GRACE_MS = 1000;

/**
 * Serves one session on the standard streams. Resolves when it is served.
 *
 * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID when this process serves its streams already.
 */
export async function startStdio(deps: StdioDeps): Promise<StdioConnection> {
  const stdout = deps.stdout ?? takeStdout();
  const session = deps.createSession({ principal: deps.principal, mode: 'stdio' });
  const transport = new StdioTransport(deps, stdout, () => session.revision);
  const ended = new Promise<void>(resolve => {
    transport.onclose = () => {
      if (stdout instanceof TakenStdout) stdout.release();
      resolve();
    };
  });
  await session.connect(transport);
  return { session, transport, ended, close: () => session.close() };
}

/** What messages are written to. */
interface LineWriter {
  readonly writableLength: number;
  write(text: string): boolean;
  on(event: 'drain' | 'error', listener: (error?: Error) => void): unknown;
  off(event: 'drain' | 'error', listener: (error?: Error) => void): unknown;
}

let inUse: TakenStdout | undefined;

function takeStdout(): TakenStdout {
  if (inUse !== undefined)
    throw new MCPConfigurationError('server', 'startStdio', 'cannot run twice: stdout carries one session');
  inUse = new TakenStdout();
  return inUse;
}

/** The process's stdout, ours alone until it is released. `console` writes through `process.stdout` and is covered. */
class TakenStdout implements LineWriter {
  readonly #stream = process.stdout;
  readonly #write = process.stdout.write.bind(process.stdout);

  constructor() {
    this.#stream.write = process.stderr.write.bind(process.stderr);
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  write(text: string): boolean {
    return this.#write(text);
  }

  on(event: 'drain' | 'error', listener: (error?: Error) => void): void {
    this.#stream.on(event, listener);
  }

  off(event: 'drain' | 'error', listener: (error?: Error) => void): void {
    this.#stream.off(event, listener);
  }

  release(): void {
    this.#stream.write = this.#write;
    inUse = undefined;
  }
}

/** The answers to one batch, which go out together. */
interface Batch {
  readonly unanswered: Set<RequestId>;
  readonly answers: JSONRPCResponse[];
}

class StdioTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #stdin: Readable;
  readonly #stdout: LineWriter;
  readonly #lines: LineReader;
  readonly #onError: (error: unknown) => void;
  readonly #revision: () => string | undefined;
  readonly #running = new Set<RequestId>();
  /** The batch that a running request came with. */
  readonly #batches = new Map<RequestId, Batch>();
  readonly #onData = (chunk: Buffer | string): void => this.#read(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onDrain = (): void => void this.#stdin.resume();
  readonly #onFailure = (error?: Error): void => {
    this.#onError(error);
    void this.close();
  };
  #stopGrace: (() => void) | undefined;
  #ending = false;
  #closed = false;

  /** `revision` is the negotiated one, as far as it is known. */
  constructor(deps: StdioDeps, stdout: LineWriter, revision: () => string | undefined) {
    this.#stdin = deps.stdin ?? process.stdin;
    this.#stdout = stdout;
    this.#revision = revision;
    this.#onError = deps.onError;
    this.#lines = new LineReader(deps.maxMessageBytes ?? MAX_MESSAGE_BYTES);
  }

  async start(): Promise<void> {
    this.#stdout.on('error', this.#onFailure);
    this.#stdout.on('drain', this.#onDrain);
    this.#stdin.on('error', this.#onFailure).on('end', this.#onEnd).on('close', this.#onEnd);
    this.#stdin.on('data', this.#onData);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!isAnswer(message) || message.id === undefined) this.#write(toWireText(message));
    // The answer to a cancelled request is not wanted any more.
    else if (this.#running.has(message.id)) this.#finish(message.id, message);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopGrace?.();
    // The listener for errors stays: what was written may still fail.
    this.#stdout.off('drain', this.#onDrain);
    this.#stdin.off('end', this.#onEnd).off('close', this.#onEnd).off('data', this.#onData);
    this.#stdin.pause();
    this.onclose?.();
  }

  #read(chunk: Buffer | string): void {
    for (const line of this.#lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) {
      if (this.#closed) return;
      if (line === undefined) this.#answer(toErrorAnswer(null, -32700, 'The line is too long'));
      else this.#take(line);
    }
    if (this.#stdout.writableLength > PAUSE_BYTES) this.#stdin.pause();
  }

  #take(line: Buffer): void {
    let value: unknown;
    try {
      const text = utf8.decode(line).trim();
      if (text === '') return;
      value = JSON.parse(text);
    } catch {
      this.#answer(toErrorAnswer(null, -32700, 'The line is not JSON in UTF-8'));
      return;
    }
    const body = toBody(value, MAX_BATCH);
    if ('status' in body) return this.#answer(body.error);
    if (body.isBatch && this.#revision() !== ASSUMED_REVISION) return this.#answer(refuseBatch().error);
    const checked = checkMessages(body, undefined);
    if ('status' in checked) {
      // A notification is not answered, whatever is wrong with it.
      if (requestsOf(body.messages).length > 0) this.#answer(checked.error);
      return;
    }
    const ids = checked.requests.map(({ id }) => id);
    const batch: Batch | undefined = body.isBatch ? { unanswered: new Set(ids), answers: [] } : undefined;
    for (const id of ids) {
      this.#running.add(id);
      if (batch !== undefined) this.#batches.set(id, batch);
    }
    for (const { kind, message } of body.messages) {
      this.onmessage?.(message);
      if (kind === 'notification' && message.method === 'notifications/cancelled')
        this.#finish(message.params?.['requestId'] as RequestId);
    }
  }

  #answer(message: object): void {
    this.#write(JSON.stringify(message));
  }

  #write(text: string): void {
    if (this.#closed) return;
    if (this.#stdout.writableLength <= MAX_MESSAGE_BYTES) this.#stdout.write(`${text}\n`);
    else this.#onFailure(new Error('The client does not read'));
  }

  /** Ends a running request, with its answer unless it was cancelled. */
  #finish(id: RequestId, answer?: JSONRPCResponse): void {
    const batch = this.#batches.get(id);
    if (batch !== undefined) this.#finishInBatch(batch, id, answer);
    else if (answer !== undefined) this.#write(toWireText(answer));
    this.#running.delete(id);
    if (this.#ending && this.#running.size === 0) void this.close();
  }

  #finishInBatch({ unanswered, answers }: Batch, id: RequestId, answer: JSONRPCResponse | undefined): void {
    this.#batches.delete(id);
    unanswered.delete(id);
    if (answer !== undefined) answers.push(answer);
    if (unanswered.size === 0 && answers.length > 0) this.#write(`[${answers.map(toWireText).join()}]`);
  }

  #end(): void {
    if (this.#ending || this.#closed) return;
    this.#ending = true;
    if (this.#running.size === 0) void this.close();
    else this.#stopGrace = startTimer(END_GRACE_MS, () => void this.close());
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Cuts bytes into lines; keeps at most `limit` bytes of one. */
class LineReader {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that end in this chunk; `undefined` stands for one that was too long. */
  *push(chunk: Buffer): Iterable<Buffer | undefined> {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const isTooLong = this.#size > this.#limit;
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#size = 0;
      yield isTooLong ? undefined : line;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#limit) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }
}
