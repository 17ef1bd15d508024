/**
 * Cuts what a process writes into lines that may be JSON.
 *
 * Owns framing, in time and memory linear in the size of a line. Parses nothing; what cannot be a JSON object or array
 * is dropped as it comes, without being collected.
 */

/** Receives the lines. */
export interface JsonLineListener {
  onLine(text: string): void;
  /** Start of a line that is neither a JSON object nor an array. Blank lines are not told. */
  onOther(start: string): void;
  /** A line above the limit; reading has stopped. `size` is what came so far. */
  onTooLarge(start: string, size: number): void;
}

const [TAB, NEWLINE, RETURN, SPACE, BRACKET, BRACE] = [0x09, 0x0a, 0x0d, 0x20, 0x5b, 0x7b];
/** How much of a line is told where not all of it is. */
const START_BYTES = 800;
/** A buffer above this size is given back after its line. */
const KEPT_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

export class JsonLineReader {
  readonly #limit: number;
  readonly #listener: JsonLineListener;
  /** What the line under way is; `undefined` before its first character that is not blank. */
  #line: 'json' | 'other' | undefined;
  #buffer: Buffer = NOTHING;
  #length = 0;
  #stopped = false;

  constructor(limit: number, listener: JsonLineListener) {
    this.#limit = limit;
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length && !this.#stopped) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline;
      this.#take(chunk, from, to, newline !== -1);
      from = to + 1;
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#buffer = NOTHING;
  }

  #take(chunk: Buffer, from: number, to: number, ends: boolean): void {
    let start = from;
    if (this.#line === undefined) {
      while (start < to && isBlank(chunk[start])) start += 1;
      if (start === to) return;
      const first = chunk[start];
      this.#line = first === BRACE || first === BRACKET ? 'json' : 'other';
      if (this.#line === 'other')
        this.#listener.onOther(chunk.toString('utf8', start, Math.min(to, start + START_BYTES)));
    }
    if (this.#line === 'json') this.#takeJson(chunk, start, to, ends);
    if (ends) this.#line = undefined;
  }

  #takeJson(chunk: Buffer, from: number, to: number, ends: boolean): void {
    const size = this.#length + to - from;
    if (size > this.#limit) {
      const collected = this.#length > 0 ? this.#buffer.subarray(0, this.#length) : chunk.subarray(from, to);
      const start = collected.toString('utf8', 0, START_BYTES);
      this.stop();
      this.#listener.onTooLarge(start, size);
    } else if (ends && this.#length === 0) {
      this.#listener.onLine(chunk.toString('utf8', from, to));
    } else {
      this.#collect(chunk, from, to, size);
      if (ends) this.#passCollected();
    }
  }

  #collect(chunk: Buffer, from: number, to: number, size: number): void {
    if (size > this.#buffer.length) {
      // Doubled, so that a line that comes in small pieces costs linear time and no more than twice its memory.
      const grown = Buffer.allocUnsafe(Math.max(size, Math.min(2 * this.#buffer.length, this.#limit)));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length, from, to);
    this.#length = size;
  }

  #passCollected(): void {
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NOTHING;
    this.#listener.onLine(text);
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === RETURN;
}
