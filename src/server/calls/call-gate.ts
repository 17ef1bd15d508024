/**
 * How many calls are running, and whether new ones may begin.
 *
 * Owns the count, the closing of the door and the signals of calls that no session ends. Does not know what a call does.
 */
import { MCPServerError } from '../../shared/errors.ts';

/** Counts running calls of one server and lets them finish before it closes. */
export class CallGate {
  readonly #controllers = new Set<AbortController>();
  #running = 0;
  #closed = false;
  #onIdle: (() => void) | undefined;

  /** Calls that run at this moment. */
  get running(): number {
    return this.#running;
  }

  /**
   * Lets one call in; `leave` must follow.
   *
   * @throws MCPServerError `MCP_SERVER_CLOSED` once the server closes.
   */
  enter(): void {
    if (this.#closed) {
      throw new MCPServerError('MCP_SERVER_CLOSED', { message: 'The server is closing', status: 503 });
    }
    this.#running += 1;
  }

  /** Ends one call that was let in. */
  leave(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  /**
   * Runs one call that belongs to no session, with a signal that is aborted when the server has closed.
   *
   * @throws MCPServerError `MCP_SERVER_CLOSED` once the server closes.
   */
  async run<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.enter();
    const controller = new AbortController();
    this.#controllers.add(controller);
    try {
      return await call(controller.signal);
    } finally {
      this.#controllers.delete(controller);
      this.leave();
    }
  }

  /** Refuses new calls from now on, waits for the running ones for at most `drainMs`, then aborts those of `run`. */
  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    if (this.#running > 0 && drainMs > 0) await this.#idle(drainMs);
    for (const controller of this.#controllers) controller.abort();
  }

  async #idle(longestMs: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, longestMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
