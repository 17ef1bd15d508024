/**
 * Stops starting a program that keeps dying (D15): after five crashes within 180 s connecting is refused for 30 s, then
 * one attempt is let through at a time. Knows no processes; it counts.
 */
export class CrashLoopGuard {
  static readonly limit: number = 5;
  static readonly windowMs: number = 180_000;
  static readonly coolDownMs: number = 30_000;

  /** Monotonic times of the latest crashes, oldest first. */
  #crashes: number[] = [];

  note(): void {
    const now = performance.now();
    this.#crashes = [...this.#crashes.filter(time => now - time < CrashLoopGuard.windowMs), now].slice(
      -CrashLoopGuard.limit,
    );
  }

  /** Milliseconds until the next attempt is allowed, or `undefined` when it is allowed now. */
  blockedUntil(): number | undefined {
    const last = this.#crashes.at(-1);
    if (last === undefined || this.#crashes.length < CrashLoopGuard.limit) return undefined;
    const wait = last + CrashLoopGuard.coolDownMs - performance.now();
    return wait > 0 ? wait : undefined;
  }

  reset(): void {
    this.#crashes = [];
  }
}
