/**
 * The kinds of questions a running call may put to its caller, and what is checked before and after each.
 *
 * Owns capability checks, the shape of a form and of its answer, time limits and the codes of what can go wrong. Does not
 * send: the wire of the call does.
 */
import { MCPServerError } from '../../shared/errors.ts';
import { validateJson } from '../../shared/schema.ts';
import { toFormSchema } from './form-schema.ts';

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

/**
 * A form for the user: a message and a flat object schema of strings, numbers, booleans and enums.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
export interface ElicitParams {
  readonly message: string;
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  readonly mode?: 'form' | undefined;
}

/** What the user did with a form. `content` comes with `accept` only and fits the requested schema. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]>;
}

interface Questions {
  elicitation: { question: ElicitParams; answer: ElicitResult };
}

/** A kind of question. */
export type AskKind = keyof Questions;
/** What a kind of question consists of. */
export type Question<K extends AskKind> = Questions[K]['question'];
/** What the answer to a kind of question is. */
export type Answer<K extends AskKind> = Questions[K]['answer'];

/** Settings of one question. */
export interface AskOptions {
  /** Names the question within its call; the same question has the same key. */
  readonly key: string;
  /** How long to wait, in milliseconds. @defaultValue the server's `limits.askTimeoutMs` */
  readonly timeoutMs?: number | undefined;
}

/** Capability a client must have declared before it may be sent a method. */
const capabilityOf: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

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
  _kind: K,
  question: Question<K>,
  options: AskOptions,
): Promise<Answer<K>> {
  const requestedSchema = toFormSchema(question.requestedSchema);
  if (question.mode !== undefined && question.mode !== 'form') {
    throw invalid(`elicitation in mode ${JSON.stringify(question.mode)} is not served by this version`);
  }
  const answer = await requestFromCaller(
    target,
    'elicitation/create',
    { mode: 'form', message: question.message, requestedSchema },
    options,
  );
  return checkAnswer(answer, requestedSchema);
}

/**
 * Sends any request to the caller, within the limits of a question. The result is not checked here.
 *
 * @throws MCPServerError `MCP_SERVER_CLIENT_CAPABILITY_MISSING` when the caller cannot be asked,
 * `MCP_SERVER_CLIENT_UNREACHABLE` when no answer came or the client answered with an error.
 */
export async function requestFromCaller(
  target: AskTarget,
  method: string,
  params: Record<string, unknown> | undefined,
  options: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<unknown> {
  assertAskable(target, method);
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
    throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
      message: controller.signal.aborted
        ? `The call was cancelled before the client answered ${method}`
        : `The client gave no answer to ${method}: ${JSON.stringify(reasonOf(cause))}`,
      category: 'THIRD_PARTY',
      cause,
    });
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}

function assertAskable(target: AskTarget, method: string): void {
  if (target.askable === 'stateless') {
    throw missing(`This server keeps no session (serverless), so ${method} cannot reach the client`);
  }
  if (target.askable === 'host') {
    throw missing(`The tool was called by the host itself, so there is no client to send ${method} to`);
  }
  const capability = capabilityOf[method];
  if (capability === undefined) return;
  const declared =
    capability === 'elicitation'
      ? hasFormElicitation(target.client.capabilities)
      : target.client.capabilities?.[capability] !== undefined;
  if (!declared) {
    const name = capability === 'elicitation' ? 'form elicitation' : capability;
    throw missing(`The client does not support ${name}, which ${method} needs`, capability);
  }
}

/** `elicitation: {}` means forms, as does a capability that names `form`; one that names only `url` does not. */
function hasFormElicitation(capabilities: Readonly<Record<string, unknown>> | undefined): boolean {
  const elicitation = capabilities?.['elicitation'];
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return 'form' in elicitation || !('url' in elicitation);
}

function checkAnswer(answer: unknown, schema: Readonly<Record<string, unknown>>): ElicitResult {
  const action = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'action') : undefined;
  if (action === 'decline' || action === 'cancel') return { action };
  if (action !== 'accept') throw invalid('the client answered elicitation/create without a known action');
  const content: unknown = Reflect.get(Object(answer), 'content') ?? {};
  const [issue] = validateJson(schema, content);
  if (issue !== undefined) {
    throw invalid(
      `the client's answer does not fit the requested schema at ${issue.path || '/'}: ${issue.message}`,
    );
  }
  return { action, content: content as NonNullable<ElicitResult['content']> };
}

function missing(message: string, capability?: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_CLIENT_CAPABILITY_MISSING', {
    message,
    category: 'USER',
    ...(capability === undefined ? {} : { data: { requiredCapabilities: { [capability]: {} } } }),
  });
}

function invalid(problem: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
    message: `Elicitation refused: ${problem}`,
    category: 'USER',
  });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : 'unknown reason';
}
