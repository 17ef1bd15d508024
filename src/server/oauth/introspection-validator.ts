/**
 * Asks the authorization server about each token.
 *
 * Owns the question, what counts as an answer, and how long one is remembered. What the answer is worth is judged in
 * token-validation.ts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662
 */
import { createHash } from 'node:crypto';
import { MCPConfigurationError, MCPServerError } from '../../shared/errors.ts';
import { boundedFetch } from '../http/bounded-fetch.ts';
import { toTrustedUrl } from './oauth-options.ts';
import { judgeClaims, refuseToken } from './token-validation.ts';
import type { ClaimOptions, TokenValidationResult, TokenValidator } from './token-validation.ts';

/** Options of `createIntrospectionValidator`. */
export interface IntrospectionOptions extends ClaimOptions {
  /** Credentials of this server at the authorization server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** What `iss` may be, where the answer has one. @defaultValue the `authorizationServers` of this server */
  readonly issuers?: readonly string[] | undefined;
  /** Milliseconds for one answer. @defaultValue 5000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds for which the answer about a valid token is remembered, at most until it expires: so long a revoked
   * token may go on working. 0 asks every time.
   *
   * @defaultValue 60000
   */
  readonly cacheMs?: number | undefined;
  /** Allows an endpoint of http that is not on this machine. @defaultValue false */
  readonly allowHttp?: boolean | undefined;
}

type Answer = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 64 * 1024;
const CACHE_MS = 60_000;
/** A token that is no good is not asked about again for so long. */
const NEGATIVE_CACHE_MS = 5000;
const MAX_REMEMBERED = 10_000;
const MAX_IN_FLIGHT = 256;

/**
 * A validator that asks the introspection endpoint, once for calls with the same token at the same time.
 *
 * Rejects with `MCP_SERVER_TOKEN_VALIDATION_FAILED` when the endpoint gives no usable answer.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong endpoint or wrong credentials.
 */
export function createIntrospectionValidator(
  endpoint: string | URL,
  options: IntrospectionOptions,
): TokenValidator {
  const url = toTrustedUrl('endpoint', endpoint, options.allowHttp);
  for (const option of ['clientId', 'clientSecret'] as const)
    if (typeof options[option] !== 'string' || options[option] === '')
      throw new MCPConfigurationError('server', option, 'must be a non-empty string');
  const { audience, issuers, allowMissingAudience = false, clockSkewSeconds = 5 } = options;
  const answers = new Answers(url, options);
  return async (token, resource, facts) => {
    const rules = {
      audiences: audience === undefined ? [resource] : [audience].flat(),
      issuers: issuers ?? facts?.authorizationServers,
      allowMissingAudience,
      clockSkewSeconds,
    };
    return judge(await answers.about(token, answer => judge(answer, rules)), rules);
  };
}

function judge(answer: Answer, rules: Parameters<typeof judgeClaims>[1]): TokenValidationResult {
  if (answer['active'] !== true) return refuseToken('The token is not active');
  const type = answer['token_type'];
  if (type !== undefined && !(typeof type === 'string' && type.toLowerCase() === 'bearer'))
    return refuseToken('The token is not a bearer token');
  return judgeClaims(answer, rules);
}

/** What the endpoint said about tokens: remembered by their digests, asked once at a time. */
class Answers {
  readonly #url: URL;
  readonly #authorization: string;
  readonly #timeoutMs: number;
  readonly #cacheMs: number;
  readonly #good = new Remembered();
  /** Apart, so that a flood of wrong tokens does not push out the right ones. */
  readonly #bad = new Remembered();
  readonly #asking = new Map<string, Promise<Answer>>();

  constructor(url: URL, { clientId, clientSecret, timeoutMs, cacheMs }: IntrospectionOptions) {
    this.#url = url;
    // Form-encoded first (RFC 6749 section 2.3.1): a colon in the id would end it.
    const credentials = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    this.#authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#cacheMs = cacheMs ?? CACHE_MS;
  }

  async about(token: string, judgeAnswer: (answer: Answer) => TokenValidationResult): Promise<Answer> {
    const key = createHash('sha256').update(token).digest('base64');
    const remembered = this.#good.get(key) ?? this.#bad.get(key);
    if (remembered !== undefined) return remembered;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return asking;
    if (this.#asking.size >= MAX_IN_FLIGHT) throw failure('Too many tokens are being asked about');
    const answer = this.#ask(token);
    this.#asking.set(key, answer);
    try {
      const found = await answer;
      const { valid, expiresAt = Infinity } = judgeAnswer(found);
      if (valid) this.#good.set(key, found, Math.min(this.#cacheMs, expiresAt * 1000 - Date.now()));
      else this.#bad.set(key, found, Math.min(this.#cacheMs, NEGATIVE_CACHE_MS));
      return found;
    } finally {
      this.#asking.delete(key);
    }
  }

  async #ask(token: string): Promise<Answer> {
    const request = {
      method: 'POST',
      headers: {
        accept: 'application/json',
        authorization: this.#authorization,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
    };
    const limits = { timeoutMs: this.#timeoutMs, maxBytes: MAX_ANSWER_BYTES };
    const response = await boundedFetch(this.#url, request, limits).catch((error: unknown) => {
      throw failure('The introspection endpoint gave no answer', error);
    });
    const answer = toAnswer(await response.json().catch(() => undefined));
    if (response.status === 200 && answer !== undefined) return answer;
    // What some servers say of a token of a form that they never call active.
    if (response.status === 400 && answer?.['error'] === 'unsupported_token_type') return { active: false };
    throw failure(`The introspection endpoint gave no usable answer, with status ${response.status}`);
  }
}

function toAnswer(value: unknown): Answer | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer) : undefined;
}

/** Answers for a limited time, by a clock that nobody turns. */
class Remembered {
  readonly #entries = new Map<string, { readonly answer: Answer; readonly until: number }>();

  get(key: string): Answer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > performance.now()) return entry.answer;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, answer: Answer, ms: number): void {
    if (!(ms > 0)) return;
    if (this.#entries.size >= MAX_REMEMBERED) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, { answer, until: performance.now() + ms });
  }
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function failure(message: string, cause?: unknown): MCPServerError {
  return new MCPServerError('MCP_SERVER_TOKEN_VALIDATION_FAILED', { message, status: 503, cause });
}
