/** Timers that never hold the process open and take any length, also `Infinity`. */

const LONGEST_MS = 2 ** 31 - 1;
const nothing = (): void => {};

/** Node's timers hold the process unless told otherwise; other runtimes give a number that has nothing to call. */
function release(timer: { unref?: () => unknown } | number): void {
  if (typeof timer === 'object') timer.unref?.();
}

/** Runs `action` once after `ms`; the result stops that. */
export function startTimer(ms: number, action: () => void): () => void {
  if (ms > LONGEST_MS) return nothing;
  const timer = setTimeout(action, ms);
  release(timer);
  return () => clearTimeout(timer);
}

/** Runs `action` every `ms`; the result stops that. Zero means never. */
export function startInterval(ms: number, action: () => void): () => void {
  if (ms <= 0 || ms > LONGEST_MS) return nothing;
  const timer = setInterval(action, ms);
  release(timer);
  return () => clearInterval(timer);
}

/** Resolves after `ms`. For short waits inside work that holds the process anyway. */
export function pause(ms: number): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve, ms);
  });
}
