/**
 * How the requests of a server are answered: one handler per kind, kept as data, so that it outlives every connection.
 *
 * Owns what is declared because of a handler, what an answer is without one, and what is let through to one and back.
 * Does not talk to a server.
 */
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ErrorCode,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequest,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  type Root,
} from '@modelcontextprotocol/sdk/types.js';
import { APP_EXTENSION, APP_MIME_TYPE } from '../../shared/meta.ts';
import { messageDefect, wantsTools } from '../../shared/sampling-messages.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import type { ResolvedServerDefinition } from '../options.ts';
import type { AskedPages } from './asked-pages.ts';
import { RequestRefused, type PeerAnswers } from './peer.ts';
import { quote } from './to-error.ts';

/** What a handler knows about a request beside its parameters. */
export interface ServerRequest {
  readonly serverName: string;
  /** Aborts when the server takes its request back or the connection ends. */
  readonly signal: AbortSignal;
}

/** The wish of a server that the user fills in a form (`mode: 'form'`) or opens a page (`mode: 'url'`). */
export type ElicitationRequest =
  | (ElicitRequestFormParams & { mode: 'form' })
  | (ElicitRequestURLParams & {
      /** A page asks for no fields. */
      requestedSchema: ElicitRequestFormParams['requestedSchema'];
    });

/**
 * Answers a request for the user's input. Show which server asks. A page must be shown to the user, never opened or
 * fetched unasked; its address is http or https.
 */
export type ElicitationHandler = (
  params: ElicitationRequest,
  request: ServerRequest,
) => ElicitResult | Promise<ElicitResult>;

/**
 * Answers a request to run a model (`sampling/createMessage`). Tools come only where `capabilities.sampling.tools` declares
 * them. Security: the prompt is the server's.
 */
export type SamplingHandler = (
  params: CreateMessageRequestParams,
  request: ServerRequest,
) =>
  | CreateMessageResult
  | CreateMessageResultWithTools
  | Promise<CreateMessageResult | CreateMessageResultWithTools>;

/** Names the folders a server may work in (`roots/list`). Only `file://` URIs are handed on. */
export type RootsHandler = (request: ServerRequest) => readonly Root[] | Promise<readonly Root[]>;

interface Handlers {
  elicitation: ElicitationHandler;
  sampling: SamplingHandler;
  roots: RootsHandler;
}

/** The handlers of one server. */
export class Answers implements PeerAnswers {
  readonly #definition: ResolvedServerDefinition;
  readonly #pages: AskedPages;
  readonly #warn: (text: string) => void;
  readonly #handlers: { [K in keyof Handlers]?: Handlers[K] | undefined } = {};
  #warnedDecline = false;

  constructor(definition: ResolvedServerDefinition, pages: AskedPages, warn: (text: string) => void) {
    this.#definition = definition;
    this.#pages = pages;
    this.#warn = warn;
  }

  /** Sets the handler of a kind; the last one wins. The returned function removes it. */
  set<K extends keyof Handlers>(kind: K, handler: Handlers[K]): () => void {
    this.#handlers[kind] = handler;
    return () => {
      if (this.#handlers[kind] === handler) this.#handlers[kind] = undefined;
    };
  }

  /** What is declared to the server at this moment. */
  get capabilities(): ClientCapabilities {
    const { sampling, roots, elicitation, extensions, ...rest } = this.#definition.capabilities;
    return {
      ...rest,
      // Some servers show their App tools only then; Studio shows the pages of proxied servers.
      extensions: { [APP_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] }, ...extensions },
      elicitation: {
        form: {},
        ...(this.#handlers.elicitation === undefined ? {} : { url: {} }),
        ...elicitation,
      },
      ...(this.#handlers.sampling === undefined ? {} : { sampling: { ...sampling } }),
      ...(this.#hasRoots ? { roots: { listChanged: true, ...roots } } : {}),
    };
  }

  /** Whether more can be answered than was declared. A form always is, and a page waits for the next connection. */
  exceed({ sampling, roots }: ClientCapabilities): boolean {
    const hasSampling = this.#handlers.sampling !== undefined;
    return (hasSampling && sampling === undefined) || (this.#hasRoots && roots === undefined);
  }

  async elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const handler = this.#handlers.elicitation;
    if (handler === undefined) return this.#decline('no elicitation handler is set');
    if (params.mode === 'url' && !isWebUrl(params.url)) return this.#decline('its page is not on the web');
    if (params.mode === 'url') this.#pages.note(params.elicitationId);
    const request: ElicitationRequest =
      params.mode === 'url'
        ? { ...params, requestedSchema: { type: 'object', properties: {} } }
        : { ...params, mode: 'form' };
    const given = await handler(request, this.#request(signal));
    const { content, ...result } = expectResult('elicitation', ElicitResultSchema.safeParse(given));
    const hasContent = params.mode !== 'url' && result.action === 'accept' && content !== undefined;
    return hasContent ? { ...result, content } : result;
  }

  async sample(params: CreateMessageRequestParams, signal: AbortSignal): ReturnType<PeerAnswers['sample']> {
    const handler = this.#handlers.sampling;
    if (handler === undefined) throw new RequestRefused(ErrorCode.MethodNotFound, 'No handler is set');
    const hasTools = wantsTools(params);
    if (hasTools && this.#definition.capabilities.sampling?.tools === undefined) {
      throw new RequestRefused(ErrorCode.InvalidParams, 'Tools in sampling were not declared');
    }
    const defect = messageDefect(params.messages);
    if (defect !== undefined) throw new RequestRefused(ErrorCode.InvalidParams, defect);
    const given = await handler(params, this.#request(signal));
    return hasTools
      ? expectResult('sampling', CreateMessageResultWithToolsSchema.safeParse(given))
      : expectResult('sampling', CreateMessageResultSchema.safeParse(given));
  }

  async roots(signal: AbortSignal): Promise<readonly Root[]> {
    const roots = (await this.#handlers.roots?.(this.#request(signal))) ?? this.#definition.roots ?? [];
    if (!Array.isArray(roots)) throw new TypeError('the roots handler gave no list');
    const files = roots.filter(isFileRoot);
    const others = roots.length - files.length;
    if (others > 0) this.#warn(`MCP server ${this.#at}: ${others} roots without a file:// URI are left out`);
    return files;
  }

  get #hasRoots(): boolean {
    return this.#handlers.roots !== undefined || this.#definition.roots !== undefined;
  }

  get #at(): string {
    return quote(this.#definition.serverName);
  }

  #request(signal: AbortSignal): ServerRequest {
    return { serverName: this.#definition.serverName, signal };
  }

  #decline(reason: string): ElicitResult {
    if (!this.#warnedDecline) this.#warn(`MCP server ${this.#at} asked for input; declined, ${reason}`);
    this.#warnedDecline = true;
    return { action: 'decline' };
  }
}

type Parsed<T> =
  { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };

function expectResult<T>(kind: string, parsed: Parsed<T>): T {
  if (parsed.success) return parsed.data;
  throw new TypeError(`the ${kind} handler gave no result of its kind: ${toErrorText(parsed.error)}`);
}

function isFileRoot(root: unknown): root is Root {
  const { uri } = Object(root) as { readonly uri?: unknown };
  return typeof uri === 'string' && uri.startsWith('file://');
}

function isWebUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === 'https:' || protocol === 'http:';
}
