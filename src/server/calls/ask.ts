/**
 * The one way to ask a caller: the table of the kinds of questions, and what every request to a client has in common.
 *
 * Owns who can be asked, time limits and the codes of what can go wrong. What is checked about a question and its answer
 * lies in the file of its kind. Does not send: the wire of the call does.
 */
import type {
  CreateMessageRequestParams,
  CreateMessageResultWithTools,
  ListRootsResult,
} from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPServerError } from '../../shared/errors.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import { elicitation, hasFormElicitation } from './elicitation.ts';
import type { ElicitParams, ElicitResult } from './elicitation.ts';
import type { QuestionKind } from './question-kind.ts';
import { roots } from './roots.ts';
import { sampling } from './sampling.ts';

/** Who can be asked: the client, nobody because the server keeps no state, or nobody because the host itself calls. */
export type Askable = 'client' | 'stateless' | 'host';

/** Limits of one request to a caller. */
export interface WireRequestOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** What is needed to ask somebody. Every call is one; so is an open session outside of any call. */
export interface AskTarget {
  readonly askable: Askable;
  readonly askTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly client: { readonly capabilities: Readonly<Record<string, unknown>> | undefined };
  readonly wire: {
    request(
      method: string,
      params: Record<string, unknown> | undefined,
      options: WireRequestOptions,
    ): Promise<unknown>;
  };
}

interface Questions {
  elicitation: { question: ElicitParams; answer: ElicitResult };
  sampling: { question: CreateMessageRequestParams; answer: CreateMessageResultWithTools };
  roots: { question: undefined; answer: ListRootsResult };
}

/** A kind of question. */
export type AskKind = keyof Questions;
/** What a kind of question consists of. */
export type Question<K extends AskKind> = Questions[K]['question'];
/** What the answer to a kind of question is. */
export type Answer<K extends AskKind> = Questions[K]['answer'];

const kinds: { readonly [K in AskKind]: QuestionKind<Question<K>, Answer<K>> } = {
  elicitation,
  sampling,
  roots,
};

/** What is known of a request by its method alone. */
type KnownRequest = Pick<QuestionKind<never, unknown>, 'method' | 'noun' | 'lacks' | 'answerSchema'>;

const kindsByMethod: ReadonlyMap<string, KnownRequest> = new Map(
  Object.values(kinds).map((kind: KnownRequest) => [kind.method, kind]),
);

/** Settings of one question. */
export interface AskOptions {
  /** Names the question within its call; the same question has the same key. */
  readonly key: string;
  /** How long to wait, in milliseconds. @defaultValue the server's `askTimeoutMs` */
  readonly timeoutMs?: number | undefined;
}

/** Whether the target can be shown a form at all. */
export function canElicit(target: Pick<AskTarget, 'askable' | 'client'>): boolean {
  return target.askable === 'client' && hasFormElicitation(target.client.capabilities);
}

/**
 * Asks the caller and checks both the question and the answer.
 *
 * @throws MCPServerError `MCP_SERVER_CLIENT_CAPABILITY_MISSING` when the caller cannot be asked, `MCP_SERVER_PARAMS_INVALID`
 * when the question is not allowed or the answer does not fit it, `MCP_SERVER_CLIENT_UNREACHABLE` when no answer came.
 */
export async function askCaller<K extends AskKind>(
  target: AskTarget,
  kind: K,
  question: Question<K>,
  options: AskOptions,
): Promise<Answer<K>> {
  const { method, toParams, toAnswer } = kinds[kind];
  const params = toParams(question);
  // What comes back has been read by the schema of this very kind.
  return toAnswer((await requestFromCaller(target, method, params, options)) as Answer<K>, params);
}

/**
 * Sends any request to the caller, within the limits of a question. Where its method is that of a kind, the answer has the
 * shape that the protocol gives it; other answers are not looked at.
 *
 * @throws MCPServerError `MCP_SERVER_CLIENT_CAPABILITY_MISSING` when the caller cannot be asked,
 * `MCP_SERVER_CLIENT_UNREACHABLE` when no answer came or the client answered with an error, `MCP_SERVER_PARAMS_INVALID` when
 * the answer has another shape.
 */
export async function requestFromCaller(
  target: AskTarget,
  method: string,
  params: Record<string, unknown> | undefined,
  options: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<unknown> {
  assertAskable(target, method, params);
  const answer = await send(target, method, params, options);
  const read = kindsByMethod.get(method)?.answerSchema(params).safeParse(answer);
  if (read === undefined) return answer;
  if (read.success) return read.data;
  throw new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
    message: `The client's answer to ${describeRequest(method)} is not what the protocol has: ${toErrorText(read.error)}`,
    category: 'THIRD_PARTY',
  });
}

/** What people call a request to a client, in place of its method. */
export function describeRequest(method: string): string {
  return kindsByMethod.get(method)?.noun ?? 'a request of this server';
}

async function send(
  target: AskTarget,
  method: string,
  params: Record<string, unknown> | undefined,
  options: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<unknown> {
  // A controller of our own: the caller's signal may outlive the answer, and must not cancel what is finished.
  const controller = new AbortController();
  const signals = [target.signal, options.signal].filter(signal => signal !== undefined);
  const abort = (): void => controller.abort(new Error('The call was cancelled'));
  for (const signal of signals) {
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  try {
    if (controller.signal.aborted) throw controller.signal.reason;
    return await target.wire.request(method, params, {
      timeoutMs: options.timeoutMs ?? target.askTimeoutMs,
      signal: controller.signal,
    });
  } catch (cause) {
    if (isMCPError(cause)) throw cause;
    throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
      message: controller.signal.aborted
        ? `The call was cancelled before the client answered ${describeRequest(method)}`
        : `The client gave no answer to ${describeRequest(method)}: ${JSON.stringify(reasonOf(cause))}`,
      category: 'THIRD_PARTY',
      cause,
    });
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}

function assertAskable({ askable, client }: AskTarget, method: string, params: unknown): void {
  const noun = describeRequest(method);
  if (askable === 'stateless') {
    throw missing(`This server keeps no session (serverless), so ${noun} cannot reach the client`);
  }
  if (askable === 'host') {
    throw missing(`The tool was called by the host itself, so there is no client for ${noun}`);
  }
  const lacking = kindsByMethod.get(method)?.lacks(client.capabilities, params);
  if (lacking === undefined) return;
  throw missing(`The client does not support ${lacking.name}, so ${noun} was not sent`, {
    requiredCapabilities: lacking.required,
  });
}

function missing(message: string, data?: object): MCPServerError {
  return new MCPServerError('MCP_SERVER_CLIENT_CAPABILITY_MISSING', { message, category: 'USER', data });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : 'unknown reason';
}
