/**
 * Everybody who is connected, by session id.
 *
 * Owns the table, its limits and the end of sessions that nobody uses. Does not know how a session talks.
 */
import { startInterval } from '../http/timer.ts';
import type { Session } from './session-binding.ts';

/** How busy a session is; times are those of `performance.now()`, which no clock change moves. */
export interface SessionActivity {
  /** A request is running or a stream is open. Such a session is never evicted. */
  readonly active: boolean;
  readonly lastActive: number;
}

/** One open session. */
export interface OpenSession<T extends SessionActivity = SessionActivity> {
  readonly id: string;
  readonly principal: string;
  readonly session: Session;
  readonly transport: T;
  readonly idleMs: number;
  /** Runs once when the session has ended, whatever ended it. */
  readonly onClosed: () => void;
}

/** Limits that a new session must fit in. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** `Infinity` for callers that cannot be told apart. */
  readonly maxSessionsOfPrincipal: number;
}

/** A timer that is so many milliseconds late tells that the event loop stood still. */
const STALL_MS = 250;

/** Ids are secrets: logs get their beginning only. */
export function toShortId(id: string): string {
  return id.slice(0, 8);
}

export class Sessions<T extends SessionActivity> {
  readonly #sessions = new Map<string, OpenSession<T>>();
  readonly #onError: (error: unknown) => void;
  #stopSweep: (() => void) | undefined;
  #sweepMs = Infinity;
  #lastSweep = 0;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Makes room for one more session: the longest idle one ends. `false` when all are in use. */
  makeRoom(principal: string, limits: SessionLimits): boolean {
    if (limits.maxSessionsOfPrincipal < Infinity) {
      const own = [...this.#sessions.values()].filter(entry => entry.principal === principal);
      if (own.length >= limits.maxSessionsOfPrincipal && !this.#evictIdlest(own)) return false;
    }
    return this.#sessions.size < limits.maxSessions || this.#evictIdlest(this.#sessions.values());
  }

  open(entry: OpenSession<T>): void {
    this.#sessions.set(entry.id, entry);
    this.#sweepEvery(Math.min(Math.max(entry.idleMs / 4, 20), 60_000));
  }

  /** The session with this id, if it belongs to this principal. To everybody else it does not exist. */
  find(id: string, principal: string): OpenSession<T> | undefined {
    const entry = this.#sessions.get(id);
    return entry?.principal === principal ? entry : undefined;
  }

  /** Whether an id is taken, by whomever. */
  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** All open sessions, in the order in which they were opened. */
  *each(): IterableIterator<OpenSession<T>> {
    yield* this.#sessions.values();
  }

  /** Ends one session. */
  async close(id: string): Promise<void> {
    const entry = this.#sessions.get(id);
    if (entry === undefined) return;
    this.#sessions.delete(id);
    if (this.#sessions.size === 0) this.#stopSweeping();
    try {
      await entry.session.close();
      entry.onClosed();
    } catch (error) {
      this.#onError(error);
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map(id => this.close(id)));
  }

  /** Ends every session that has been idle for its time. */
  evict(now: number = performance.now()): void {
    for (const { id, transport, idleMs } of this.#sessions.values())
      if (!transport.active && now - transport.lastActive >= idleMs) void this.close(id);
  }

  #evictIdlest(candidates: Iterable<OpenSession<T>>): boolean {
    let idlest: OpenSession<T> | undefined;
    for (const entry of candidates) {
      if (entry.transport.active) continue;
      if (idlest === undefined || entry.transport.lastActive < idlest.transport.lastActive) idlest = entry;
    }
    if (idlest === undefined) return false;
    void this.close(idlest.id);
    return true;
  }

  #sweepEvery(ms: number): void {
    if (this.#stopSweep !== undefined && ms >= this.#sweepMs) return;
    this.#stopSweep?.();
    this.#sweepMs = ms;
    this.#lastSweep = performance.now();
    this.#stopSweep = startInterval(ms, () => this.#sweep());
  }

  /** A sweep that comes late comes after a stall, when requests wait unread: they get until the next one to show. */
  #sweep(): void {
    const now = performance.now();
    const isLate = now - this.#lastSweep > this.#sweepMs + STALL_MS;
    this.#lastSweep = now;
    if (!isLate) this.evict(now);
  }

  #stopSweeping(): void {
    this.#stopSweep?.();
    this.#stopSweep = undefined;
    this.#sweepMs = Infinity;
  }
}
