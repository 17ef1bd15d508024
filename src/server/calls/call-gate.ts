/**
 * How many calls are running, and whether new ones may begin.
 *
 * Owns the count and the closing of the door. Does not cancel anything: closing the sessions does.
 */
import { MCPServerError } from '../../shared/errors.ts';

/** Counts running calls of one server and lets them finish before it closes. */
export class CallGate {
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

  /** Refuses new calls from now on and waits for the running ones, at most `drainMs`. */
  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    if (this.#running === 0 || drainMs <= 0) return;
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, drainMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
