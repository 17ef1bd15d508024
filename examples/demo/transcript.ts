/** What the demo prints: who did what, what came back, and how long it took. */

const WIDTH = 110;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Milliseconds for people. */
export const took = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

let headings = 0;

/** Starts a numbered part of the story. */
export function heading(text: string): void {
  headings += 1;
  console.log(`\n${headings}. ${text}`);
}

/** Prints a line; the time, when there is one, stands at its right end. */
export function line(mark: string, text: string, ms?: number): void {
  const time = ms === undefined ? '' : took(ms);
  const room = WIDTH - mark.length - time.length - 6;
  console.log(
    `   ${mark} ${cut(oneLine(text), room).padEnd(ms === undefined ? 0 : room)}  ${time}`.trimEnd(),
  );
}

/** Does something and prints it with the time it took. */
export async function timed<T>(text: (result: T) => string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  line('-', text(result), performance.now() - started);
  return result;
}

/** Draws progress as a bar: in place on a terminal, as one line each elsewhere. */
export function bar(done: number, total: number): void {
  const cells = Math.round((done / total) * 24);
  const text = `     [${'#'.repeat(cells)}${'.'.repeat(24 - cells)}] ${Math.round((done / total) * 100)} %`;
  if (!process.stdout.isTTY) console.log(text);
  else process.stdout.write(`\r${text}${done < total ? '' : '\n'}`);
}
