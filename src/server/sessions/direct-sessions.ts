/**
 * Sessions whose transport the host connects by itself, through `getServer()`.
 *
 * Held weakly: a transport that is in use holds its session, and an engine that nobody connected may go.
 */
import type { Session } from './session-binding.ts';

/** The sessions that were given out and are still held by somebody. */
export class DirectSessions {
  readonly #refs = new Set<WeakRef<Session>>();
  readonly #create: () => Session;

  constructor(create: () => Session) {
    this.#create = create;
  }

  /** A fresh session that is connected to nothing. */
  open(): Session {
    const session = this.#create();
    this.#refs.add(new WeakRef(session));
    return session;
  }

  /** The sessions that have a client. */
  *each(): IterableIterator<Session> {
    for (const ref of this.#refs) {
      const session = ref.deref();
      if (session === undefined || session.closed) this.#refs.delete(ref);
      else if (session.ready) yield session;
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all(Array.from(this.each(), session => session.close()));
  }
}
