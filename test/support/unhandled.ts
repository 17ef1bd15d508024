/** Rejections and exceptions that nobody handled. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Collects them until it is disposed, instead of the test runner. */
export function collectUnhandled(): Disposable & { readonly found: () => Promise<readonly unknown[]> } {
  const found: unknown[] = [];
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  const before = events.map(event => process.listeners(event as 'uncaughtException'));
  const note = (reason: unknown): void => void found.push(reason);
  for (const event of events) process.removeAllListeners(event).on(event, note);
  return {
    async found() {
      // An unhandled rejection is told after the microtasks of its turn.
      await nextTurn();
      await nextTurn();
      return found;
    },
    [Symbol.dispose]() {
      for (const [at, event] of events.entries()) {
        process.removeListener(event, note);
        for (const listener of before[at] ?? []) process.on(event as 'uncaughtException', listener);
      }
    },
  };
}
