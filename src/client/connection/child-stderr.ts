/**
 * Standard error of a child: always read, so that it never blocks the child; its tail kept for errors.
 *
 * Owns where the bytes go. Reads no meaning into them.
 */
import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

const TAIL_BYTES = 8 * 1024;
const UNREAD_BYTES = 256 * 1024;

/** Text of a child without control characters and escape sequences; line ends and tabs stay. */
export function toPlainText(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\n\t]/gu, '');
}

/** Takes what a child writes on standard error. */
export class StderrCapture {
  /** The stream for the user, where the mode is `pipe`. */
  readonly stream: Readable | null;
  readonly #copy: boolean;
  #tail = Buffer.alloc(0);

  constructor(mode: 'inherit' | 'ignore' | 'pipe') {
    this.stream = mode === 'pipe' ? new LossyReadable() : null;
    this.#copy = mode === 'inherit';
  }

  add(chunk: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    if (this.#copy) copyToStderr(chunk);
    if (this.stream instanceof LossyReadable) this.stream.add(chunk);
  }

  end(): void {
    if (this.stream instanceof LossyReadable) this.stream.finish();
  }

  /** The last 8 KB, without control characters. */
  get tail(): string {
    // A cut may have left the end of a character in front.
    const start = this.#tail.findIndex(byte => (byte & 0xc0) !== 0x80);
    return toPlainText(this.#tail.toString('utf8', Math.max(start, 0))).trim();
  }
}

/** A stream without backpressure: what nobody reads is kept up to a bound, the oldest goes first. */
class LossyReadable extends Readable {
  readonly #unread: (Buffer | null)[] = [];
  #unreadBytes = 0;
  #wanted = false;

  constructor() {
    super({ highWaterMark: 0 });
  }

  add(chunk: Buffer): void {
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    while (this.#unreadBytes > UNREAD_BYTES) this.#unreadBytes -= this.#unread.shift()?.length ?? 0;
    this.#pass();
  }

  finish(): void {
    this.#unread.push(null);
    this.#pass();
  }

  override _read(): void {
    this.#wanted = true;
    this.#pass();
  }

  #pass(): void {
    while (this.#wanted && this.#unread.length > 0) {
      const chunk = this.#unread.shift() ?? null;
      this.#unreadBytes -= chunk?.length ?? 0;
      this.#wanted = this.push(chunk);
    }
  }
}

function copyToStderr(chunk: Buffer): void {
  if (process.stderr.writableLength > UNREAD_BYTES) return;
  process.stderr.write(chunk, error => {
    // Nobody reads our standard error any more; as with `console`, that is no reason to crash.
    if (error && process.stderr.listenerCount('error') === 0) process.stderr.once('error', () => undefined);
  });
}
