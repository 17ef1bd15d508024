/**
 * What a client wants to be told by a server: subscriptions and a log level, kept as data and asked for again on every new
 * connection.
 *
 * Does not send: the connection does.
 */
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';

/** One request that makes a wish known. */
export type Wish =
  | { readonly method: 'resources/subscribe'; readonly params: { readonly uri: string } }
  | { readonly method: 'logging/setLevel'; readonly params: { readonly level: LoggingLevel } };

export class Wishes implements Iterable<Wish> {
  readonly #subscriptions = new Set<string>();
  #level: LoggingLevel | undefined;

  /** Remembers a wish. The returned function takes it back, where nobody had it before. */
  add(wish: Wish): () => void {
    if (wish.method === 'logging/setLevel') {
      const before = this.#level;
      this.#level = wish.params.level;
      return () => {
        if (this.#level === wish.params.level) this.#level = before;
      };
    }
    const { uri } = wish.params;
    if (this.#subscriptions.has(uri)) return () => undefined;
    this.#subscriptions.add(uri);
    return () => this.#subscriptions.delete(uri);
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.delete(uri);
  }

  /** Everything that a new connection has to be told. */
  *[Symbol.iterator](): IterableIterator<Wish> {
    if (this.#level !== undefined) yield { method: 'logging/setLevel', params: { level: this.#level } };
    for (const uri of this.#subscriptions) yield { method: 'resources/subscribe', params: { uri } };
  }
}
