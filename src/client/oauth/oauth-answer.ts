/** What the last answer of an authorization server said, by its own codes; the SDK keeps only those it knows. */
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { shown } from './redaction.ts';

/** A failed answer. */
export interface OAuthAnswer {
  readonly status: number;
  /** Its error code (RFC 6749 section 5.2, RFC 7591 section 3.2.2), where it has one. */
  readonly error: string | undefined;
  /** What it says to people, unquoted; empty when nothing fit to show. */
  readonly said: string;
}

/** A fetch that remembers its last failed answer. */
export interface WatchedFetch {
  readonly fetch: FetchLike;
  /** `undefined` when there was no answer, or when it was a success. */
  failure(): OAuthAnswer | undefined;
}

export function watchAnswers(fetch: FetchLike): WatchedFetch {
  let failure: OAuthAnswer | undefined;
  return {
    async fetch(url, init) {
      failure = undefined;
      const response = await fetch(url, init);
      if (!response.ok) failure = read(response.status, await response.clone().text());
      return response;
    },
    failure: () => failure,
  };
}

/** One clause about a failed answer: status, code and text. */
export function describeAnswer({ status, error, said }: OAuthAnswer): string {
  const code = error === undefined ? '' : ` ${error}`;
  return `HTTP ${status}${code}${said === '' ? '' : `: ${shown(said)}`}`;
}

function read(status: number, body: string): OAuthAnswer {
  try {
    const { error, error_description: said } = JSON.parse(body) as Record<string, unknown>;
    // A code is a short word by the grammar; anything else is text of the server, which is quoted.
    const isCode = typeof error === 'string' && /^[\w.-]{1,64}$/.test(error);
    return { status, error: isCode ? error : undefined, said: typeof said === 'string' ? said : '' };
  } catch {
    const text = body.trim();
    return { status, error: undefined, said: text.startsWith('<') ? 'an HTML page' : text };
  }
}
