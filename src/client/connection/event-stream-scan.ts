/**
 * Follows the frames of an event stream as bytes: how large an event gets and which event id was last.
 *
 * Owns no parsing of data, the SDK does that; so it never decodes more than the start of a line.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

const LF = 10;
const CR = 13;
/** Longest part of a line that is looked at; event ids are cut there. */
const HEAD_BYTES = 512;

/** Reads the chunks of one event stream in order. */
export class EventStreamScan {
  /** Id of the last complete event that had one; from there the stream can be resumed. */
  lastEventId: string | undefined;

  #head = '';
  #lineBytes = 0;
  #eventBytes = 0;
  #afterCr = false;
  #id = '';
  #hasData = false;

  /** Whether an event was begun and not ended by a blank line. */
  get unfinished(): boolean {
    return this.#hasData || this.#lineBytes > 0;
  }

  /** Takes the next chunk; returns the size in bytes of the largest event it belongs to. */
  feed(chunk: Uint8Array): number {
    if (chunk.length === 0) return this.#eventBytes;
    let largest = 0;
    let start = this.#afterCr && chunk[0] === LF ? 1 : 0;
    this.#afterCr = false;
    let lf = chunk.indexOf(LF, start);
    let cr = chunk.indexOf(CR, start);
    while (lf !== -1 || cr !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
      this.#take(chunk.subarray(start, end));
      largest = Math.max(largest, this.#eventBytes);
      this.#endLine();
      start = end + 1;
      if (end === cr) {
        if (start === chunk.length) this.#afterCr = true;
        else if (chunk[start] === LF) start += 1;
        cr = chunk.indexOf(CR, start);
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start);
    }
    this.#take(chunk.subarray(start));
    return Math.max(largest, this.#eventBytes);
  }

  #take(bytes: Uint8Array): void {
    this.#lineBytes += bytes.length;
    this.#eventBytes += bytes.length;
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0 && bytes.length > 0) {
      const { buffer, byteOffset } = bytes;
      this.#head += Buffer.from(buffer, byteOffset, Math.min(room, bytes.length)).toString('latin1');
    }
  }

  #endLine(): void {
    if (this.#lineBytes === 0) {
      // An event without data is not delivered, so its id does not count.
      if (this.#hasData && this.#id !== '') this.lastEventId = this.#id;
      this.#id = '';
      this.#hasData = false;
      this.#eventBytes = 0;
    } else {
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(this.#head) ?? [];
      if (field === 'data') this.#hasData = true;
      else if (field === 'id' && !value.includes('\0')) this.#id = value;
    }
    this.#head = '';
    this.#lineBytes = 0;
  }
}
