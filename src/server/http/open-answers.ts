/**
 * How many answers are still on their way.
 *
 * Owns the count and waiting for it. Does not end an answer.
 */
import type { Exchange } from './exchange.ts';
import { startTimer } from './timer.ts';

/** What was written last gets this long to leave, however little of the drain is left. */
const FLUSH_MS = 1000;

/** The answers of one server that the system has not taken whole. */
export class OpenAnswers {
  #count = 0;
  #onNone: (() => void) | undefined;

  /** Counts an exchange until its answer is over. */
  watch(exchange: Exchange): void {
    this.#count += 1;
    exchange.onOver(() => {
      this.#count -= 1;
      if (this.#count === 0) this.#onNone?.();
    });
  }

  /**
   * Resolves when no answer is on its way any more, or after `ms`, but not before a second. A host that ends its server or
   * its process cuts off what has not left: node itself takes a connection whose answer has been written for idle.
   */
  async none(ms: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>(resolve => {
      const stopTimer = startTimer(Math.max(ms, FLUSH_MS), resolve);
      this.#onNone = () => {
        stopTimer();
        resolve();
      };
    });
  }
}
