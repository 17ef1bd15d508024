/** Where the credentials of a provider are kept: the interface, and the one that forgets with the process. */

/**
 * Keeps strings by key. Whoever can read it can act as the user: protect it like passwords.
 *
 * One storage may serve several servers and several providers: keys begin with the kind of value and end with the
 * address of the server.
 */
export interface OAuthStorage {
  set(key: string, value: string): Promise<void> | void;
  get(key: string): Promise<string | undefined> | string | undefined;
  delete(key: string): Promise<void> | void;
  /**
   * Runs `work` while nobody else runs work under the same key, in other processes too where they share the storage.
   * Without it, two processes may use the same refresh token, which many servers answer by ending the login.
   */
  lock?<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Lines work up: each starts when the one before it has ended. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** Keeps credentials in memory; they are gone with the process. */
export class InMemoryOAuthStorage implements OAuthStorage {
  readonly #values = new Map<string, string>();
  readonly #queues = new Map<string, Queue>();

  set(key: string, value: string): void {
    this.#values.set(key, value);
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? new Queue();
    this.#queues.set(key, queue);
    return queue.run(work);
  }
}
