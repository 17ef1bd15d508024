/**
 * The pages that a server asked the user to open, until it says that the user is through.
 *
 * Owns which of its ids are known: what a server says about any other, or says twice, is ignored. Opens nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
 */
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { AnsweredError } from './peer.ts';
import { TransportFailure } from './transport-failure.ts';

/** JSON-RPC code of a request that is refused until pages were opened. */
const PAGES_REQUIRED: number = ErrorCode.UrlElicitationRequired;
/** Pages remembered of one server; the oldest is forgotten first. */
const MAX_PAGES = 1000;

export class AskedPages {
  readonly #ids = new Set<string>();

  note(elicitationId: string): void {
    this.#ids.delete(elicitationId);
    this.#ids.add(elicitationId);
    if (this.#ids.size <= MAX_PAGES) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  /** Notes the pages that a refused request has to wait for (`URLElicitationRequiredError`). */
  noteRequired(error: unknown): void {
    const answer =
      error instanceof TransportFailure
        ? error.facts.rpcError
        : error instanceof AnsweredError
          ? error
          : undefined;
    if (answer?.code !== PAGES_REQUIRED) return;
    const { elicitations } = Object(answer.data) as { readonly elicitations?: unknown };
    if (!Array.isArray(elicitations)) return;
    for (const elicitation of elicitations.slice(0, MAX_PAGES)) {
      const { elicitationId } = Object(elicitation) as { readonly elicitationId?: unknown };
      if (typeof elicitationId === 'string') this.note(elicitationId);
    }
  }

  /** Takes a page off the list; `false` when it was not on it. */
  finish(elicitationId: string): boolean {
    return this.#ids.delete(elicitationId);
  }
}
