/**
 * Small questions of ours to another server: one answer of limited size in limited time, and no redirects.
 *
 * Owns the limits. Does not judge what the answer says.
 */
import { startTimer } from './timer.ts';

/** How much one question may cost. */
export interface FetchLimits {
  /** Until the last byte of the answer. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Sends a request and reads the whole answer. Rejects with an Error when the server cannot be reached, is too slow or
 * says too much. A redirect is an answer like another.
 */
export async function boundedFetch(
  url: URL | string,
  init: RequestInit,
  { timeoutMs, maxBytes }: FetchLimits,
): Promise<Response> {
  const limit = new AbortController();
  const stopTimer = startTimer(timeoutMs, () =>
    limit.abort(new Error(`${hostOf(url)} gave no answer in ${timeoutMs} ms`)),
  );
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: limit.signal });
    const bytes = await readBytes(response, maxBytes);
    if (bytes === undefined) throw new Error(`The answer of ${hostOf(url)} is larger than ${maxBytes} bytes`);
    const { status, headers } = response;
    return new Response(bytes.length === 0 ? null : Buffer.from(bytes), { status, headers });
  } finally {
    stopTimer();
  }
}

async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function hostOf(url: URL | string): string {
  return new URL(url).host;
}
