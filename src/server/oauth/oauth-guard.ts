/**
 * Lets a request through or answers it: metadata, 400, 401, 403, 503.
 *
 * Owns the order of the checks and what each denial says. Works on an Exchange, so that node's requests and
 * web-standard ones are judged alike. A request that is let through is answered by whoever comes next.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { answerJson } from '../http/exchange.ts';
import type { BodyLimits, BodyRead, Exchange, Headers } from '../http/exchange.ts';
import { startTimer } from '../http/timer.ts';
import { readAuthorization } from './bearer-token.ts';
import { generateWWWAuthenticateHeader, isChallengeError, toHeaderText } from './challenge.ts';
import type { OAuthSettings } from './oauth-options.ts';
import { isAtOrBelow, normalisePath } from './protected-path.ts';
import { generateProtectedResourceMetadata, metadataPaths, metadataUrlOf } from './protected-resource.ts';
import { clientOf, names, refuseToken, toScopes } from './token-validation.ts';
import type { TokenValidationResult } from './token-validation.ts';

/** What became of a request. */
export type Verdict =
  | {
      readonly proceed: true;
      /** Absent where the path needs no token. */
      readonly authInfo?: AuthInfo;
      readonly validation?: TokenValidationResult;
      /** The body, where it had to be read. */
      readonly body?: BodyRead;
    }
  /** The request is answered. */
  | { readonly proceed: false; readonly validation?: TokenValidationResult };

/** Why a request is not let through, as an answer. */
interface Denial {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  /** Parameters of a challenge; without them there is none. */
  readonly challenge?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Headers;
  readonly closing?: boolean;
}

const PASS: Verdict = { proceed: true };
const BODY_LIMITS: BodyLimits = { maxBodyBytes: 4 * 1024 * 1024, bodyTimeoutMs: 30_000 };
const METADATA_METHODS = 'GET, HEAD, OPTIONS';

export class OAuthGuard {
  readonly #settings: OAuthSettings;
  readonly #bodyLimits: BodyLimits;
  readonly #metadataPaths: ReadonlySet<string>;
  readonly #metadataUrl: string;
  readonly #metadata: string;

  constructor(settings: OAuthSettings, bodyLimits: BodyLimits = BODY_LIMITS) {
    const { resource, mcpPath } = settings;
    this.#settings = settings;
    this.#bodyLimits = bodyLimits;
    this.#metadataPaths = metadataPaths(resource.resource, mcpPath);
    this.#metadataUrl = metadataUrlOf(resource.resource);
    this.#metadata = JSON.stringify(generateProtectedResourceMetadata(resource));
  }

  /** Judges one request. `base` are headers that every answer carries. Does not reject. */
  async check(exchange: Exchange, base: Headers = {}): Promise<Verdict> {
    const verdict = await this.#check(exchange, base).catch((error: unknown): Denied => {
      this.#settings.logger.error(`OAuth: the check of a request failed: ${describe(error)}`);
      return { denial: unavailable() };
    });
    if ('proceed' in verdict) return verdict;
    this.#refuse(exchange, verdict.denial, base);
    await exchange.answered;
    const { validation } = verdict;
    return { proceed: false, ...(validation === undefined ? {} : { validation }) };
  }

  async #check(exchange: Exchange, base: Headers): Promise<Verdict | Denied> {
    const paths = exchange.targets.map(normalisePath);
    if (paths.includes(undefined))
      return {
        denial: { status: 400, error: 'invalid_request', description: 'The path cannot be decoded' },
      };
    if (exchange.targets.some(target => this.#metadataPaths.has(target))) {
      this.#answerMetadata(exchange, base);
      await exchange.answered;
      return { proceed: false };
    }
    const { protectedPath } = this.#settings;
    const isProtected = paths.some(path => path !== undefined && isAtOrBelow(path, protectedPath));
    // A browser asks without a token whether it may come with one; nothing is done for such a question.
    if (!isProtected || isPreflight(exchange)) return PASS;
    const count = exchange.headerCount('authorization');
    const authorization = readAuthorization(exchange.header('authorization'), count);
    if (authorization.kind !== 'token') return { denial: refuseAuthorization(authorization.kind) };
    return this.#admit(exchange, authorization.token);
  }

  async #admit(exchange: Exchange, token: string): Promise<Verdict | Denied> {
    const found = await this.#validate(token);
    if (found === undefined) return { denial: unavailable() };
    const validation = found.valid ? (this.#disprove(found) ?? found) : found;
    if (!validation.valid) return { validation, denial: this.#refuseToken(validation) };
    const { requiredScopes, toolScopes } = this.#settings;
    const held = toScopes(validation.scopes);
    if (lacks(held, requiredScopes)) return { validation, denial: refuseScope(requiredScopes) };
    const passed = { proceed: true, validation, authInfo: toAuthInfo(token, validation, held) } as const;
    if (toolScopes.size === 0 || exchange.method !== 'POST') return passed;
    const body = await exchange.readBody(this.#bodyLimits);
    const needed = [...requiredScopes, ...calledTools(body).flatMap(tool => toolScopes.get(tool) ?? [])];
    if (lacks(held, needed)) return { validation, denial: refuseScope([...new Set(needed)]) };
    const unread = refuseBody(body);
    return unread === undefined ? { ...passed, body } : { validation, denial: unread };
  }

  /** `undefined` when the token could not be checked. */
  async #validate(token: string): Promise<TokenValidationResult | undefined> {
    const { validateToken, validationTimeoutMs, resource, logger } = this.#settings;
    if (validateToken === undefined) return { valid: true };
    let stopTimer = (): void => {};
    try {
      const late = new Promise<typeof LATE>(resolve => {
        stopTimer = startTimer(validationTimeoutMs, () => resolve(LATE));
      });
      const { authorizationServers } = resource;
      const validation = validateToken(token, resource.resource, { authorizationServers });
      const result: unknown = await Promise.race([validation, late]);
      if (isResult(result)) return result;
      logger.error(
        result === LATE
          ? `OAuth: a token could not be checked in ${validationTimeoutMs} ms`
          : 'OAuth: validateToken gave something that is no result',
      );
    } catch (error) {
      logger.error(`OAuth: a token could not be checked: ${describe(error).replaceAll(token, '<token>')}`);
    } finally {
      stopTimer();
    }
    return undefined;
  }

  /** What makes a token invalid that its validator took for valid. */
  #disprove({
    expiresAt,
    claims,
    audienceChecked,
  }: TokenValidationResult): TokenValidationResult | undefined {
    if (expiresAt !== undefined && !(expiresAt > Date.now() / 1000 - CLOCK_SKEW_SECONDS))
      return refuseToken('The token has expired');
    const audience = claims?.['aud'];
    if (audienceChecked === true || audience === undefined) return undefined;
    if (names(audience, [this.#settings.resource.resource])) return undefined;
    return refuseToken('The token is meant for another audience');
  }

  #refuseToken({ error, errorDescription, requiredScopes }: TokenValidationResult): Denial {
    if (error === 'insufficient_scope') {
      const needed = requiredScopes ?? this.#settings.requiredScopes;
      const supported = this.#settings.resource.scopesSupported ?? [];
      return refuseScope(needed.length > 0 ? needed : supported, errorDescription);
    }
    const code = isChallengeError(error) ? error : 'invalid_token';
    return refuseWith(
      code === 'invalid_request' ? 400 : 401,
      code,
      errorDescription ?? 'The token is not valid',
    );
  }

  #answerMetadata(exchange: Exchange, base: Headers): void {
    const headers = { ...base, 'access-control-allow-origin': '*' };
    if (exchange.method === 'GET' || exchange.method === 'HEAD')
      answerJson(exchange, 200, { ...headers, 'cache-control': 'max-age=3600' }, this.#metadata);
    else if (exchange.method === 'OPTIONS')
      exchange.answer(204, {
        ...headers,
        'access-control-allow-methods': METADATA_METHODS,
        'access-control-allow-headers': 'content-type, mcp-protocol-version',
        'access-control-max-age': '86400',
      });
    else exchange.answer(405, { ...headers, allow: METADATA_METHODS });
  }

  #refuse(exchange: Exchange, denial: Denial, base: Headers): void {
    const { status, error, description, challenge, headers } = denial;
    this.#settings.logger.debug(`OAuth: ${exchange.method} is refused with ${status} ${error}`);
    const { requiredScopes } = this.#settings;
    const scope = requiredScopes.length === 0 ? undefined : requiredScopes.join(' ');
    const all: Record<string, string> = {
      ...base,
      ...headers,
      'cache-control': 'no-store',
      'content-type': 'application/json',
    };
    if (challenge !== undefined)
      all['www-authenticate'] = generateWWWAuthenticateHeader({
        resourceMetadataUrl: this.#metadataUrl,
        additionalParams: { scope, ...challenge },
      });
    const body = { error, error_description: toHeaderText(description) };
    exchange.answer(status, all, JSON.stringify(body), denial.closing);
  }
}

interface Denied {
  readonly denial: Denial;
  readonly validation?: TokenValidationResult;
}

const LATE = Symbol('late');
const MAX_CAUSES = 4;
/** How far the clocks of a custom validator's issuer and ours may differ. */
const CLOCK_SKEW_SECONDS = 5;

function isPreflight(exchange: Exchange): boolean {
  return (
    exchange.method === 'OPTIONS' &&
    exchange.header('origin') !== undefined &&
    exchange.header('access-control-request-method') !== undefined
  );
}

function refuseAuthorization(kind: 'none' | 'malformed' | 'several'): Denial {
  switch (kind) {
    case 'none':
      // Without an error code: the client did not know that it needs a token.
      return { status: 401, error: 'unauthorized', description: 'A bearer token is needed', challenge: {} };
    case 'malformed':
      return refuseWith(401, 'invalid_token', 'The Authorization header must be "Bearer" and one token');
    case 'several':
      return refuseWith(400, 'invalid_request', 'There is more than one Authorization header');
  }
}

function refuseWith(status: number, error: string, description: string): Denial {
  return { status, error, description, challenge: { error, error_description: description } };
}

/** Names everything that is needed, also what the token has: a client asks for exactly that. */
function refuseScope(needed: readonly string[], description = 'The token permits too little'): Denial {
  const error = 'insufficient_scope';
  const scope = needed.length === 0 ? undefined : needed.join(' ');
  return { status: 403, error, description, challenge: { scope, error, error_description: description } };
}

function unavailable(): Denial {
  return {
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The token cannot be checked at the moment',
    headers: { 'retry-after': '5' },
  };
}

/** What the server itself would refuse is left to it, except a body that it could not read again. */
function refuseBody(body: BodyRead): Denial | undefined {
  switch (body.kind) {
    case 'too-large':
      return { status: 413, error: 'invalid_request', description: 'The body is too large', closing: true };
    case 'too-slow':
      return {
        status: 408,
        error: 'invalid_request',
        description: 'The body came too slowly',
        closing: true,
      };
    case 'gone':
      return { status: 400, error: 'invalid_request', description: 'The body broke off' };
    case 'bytes':
    case 'parsed':
      return undefined;
  }
}

/** The tools that the messages of a body call. */
function calledTools(body: BodyRead): readonly string[] {
  const value = body.kind === 'parsed' ? body.value : body.kind === 'bytes' ? parse(body.bytes) : undefined;
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  return messages.flatMap(message => {
    const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown };
    const { name } = Object(params) as { readonly name?: unknown };
    return method === 'tools/call' && typeof name === 'string' ? [name] : [];
  });
}

/** What is no JSON calls nothing: the server refuses it. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function lacks(held: readonly string[], needed: readonly string[]): boolean {
  return needed.some(scope => !held.includes(scope));
}

function toAuthInfo(token: string, validation: TokenValidationResult, scopes: readonly string[]): AuthInfo {
  const { subject, claims, expiresAt } = validation;
  return {
    token,
    clientId: validation.clientId ?? clientOf(claims) ?? '',
    scopes: [...scopes],
    ...(expiresAt === undefined ? {} : { expiresAt }),
    extra: {
      ...(subject === undefined ? {} : { subject }),
      ...(claims === undefined ? {} : { claims }),
    },
  };
}

function isResult(value: unknown): value is TokenValidationResult {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'valid') === 'boolean';
}

/** An error and what caused it, without their stacks. */
function describe(error: unknown): string {
  const texts: string[] = [];
  let next = error;
  while (next instanceof Error && texts.length < MAX_CAUSES) {
    texts.push(`${next.name}: ${next.message}`);
    next = next.cause;
  }
  return texts.length === 0 ? 'something that is no Error' : texts.join(' <- ');
}
