/**
 * Questions to the user: a form that is filled in, or a URL that is opened.
 *
 * Owns what both look like, what their answers may be, and the error that says a URL has to be opened first. The schema of
 * a form lies in `form-schema.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 */
import { randomUUID } from 'node:crypto';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import { isJsonObject } from '../../shared/schema-keywords.ts';
import { validateJson } from '../../shared/schema.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { toFormSchema } from './form-schema.ts';
import { refusedQuestion } from './question-kind.ts';
import type { DeclaredCapabilities, QuestionKind } from './question-kind.ts';

/**
 * A form for the user: a message and a flat object schema of strings, numbers, booleans and enums. Never for secrets.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-elicitation-requests
 */
export interface ElicitFormParams {
  readonly mode?: 'form' | undefined;
  readonly message: string;
  readonly requestedSchema: Readonly<Record<string, unknown>>;
}

/**
 * A page that the user is asked to open. What happens there stays between the user and the page.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
 */
export interface ElicitUrlParams {
  readonly mode: 'url';
  readonly message: string;
  /** http or https, without a user or password in it. */
  readonly url: string;
  /** Names it for `server.elicitation.complete`. @defaultValue a random one */
  readonly elicitationId?: string | undefined;
}

/** A question to the user, by form or by URL. */
export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/**
 * What the user did. After a form, `content` comes with `accept` only and fits the requested schema; after a URL there is
 * none, and `accept` says no more than that the user agreed to open it.
 */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]> | undefined;
}

/** What a server can ask and tell outside of any call. */
export interface ServerElicitation {
  sendRequest(params: ElicitParams): Promise<ElicitResult>;
  complete(params: { readonly elicitationId: string }): Promise<boolean>;
}

/** Questions to the user as a kind. */
export const elicitation: QuestionKind<ElicitParams, ElicitResult> = {
  method: 'elicitation/create',
  noun: 'the question to the user',
  lacks: (capabilities, params) => {
    const mode = isUrlMode(params) ? 'url' : 'form';
    if (mode === 'url' ? hasUrl(capabilities) : hasFormElicitation(capabilities)) return undefined;
    return {
      name: `${mode === 'url' ? 'URL' : 'form'} elicitation`,
      required: { elicitation: { [mode]: {} } },
    };
  },
  toParams: question => {
    if (typeof question.message !== 'string') throw refused('"message" must be a string');
    if (question.mode === 'url') return { ...toUrlParams(question) };
    if (question.mode !== undefined && question.mode !== 'form') {
      throw refused(`there is no mode ${JSON.stringify(question.mode)}`);
    }
    const requestedSchema = toFormSchema(question.requestedSchema);
    return { mode: 'form', message: question.message, requestedSchema };
  },
  answerSchema: () => ElicitResultSchema,
  toAnswer: ({ action, content = {} }, params) => {
    if (action !== 'accept' || isUrlMode(params)) return { action };
    const [issue] = validateJson(params?.['requestedSchema'] as JsonSchema, content);
    if (issue === undefined) return { action, content };
    const place = issue.path || '/';
    throw refused(`the client's answer does not fit the requested schema at ${place}: ${issue.message}`);
  },
};

/** `elicitation: {}` means forms, as does a capability that names `form`; one that names only `url` does not. */
export function hasFormElicitation(capabilities: DeclaredCapabilities): boolean {
  const declared = capabilities?.['elicitation'];
  return isJsonObject(declared) && ('form' in declared || !('url' in declared));
}

function hasUrl(capabilities: DeclaredCapabilities): boolean {
  const declared = capabilities?.['elicitation'];
  return isJsonObject(declared) && declared['url'] !== undefined;
}

function isUrlMode(params: unknown): boolean {
  return Reflect.get(Object(params), 'mode') === 'url';
}

function toUrlParams({ message, url, elicitationId = randomUUID() }: ElicitUrlParams): ElicitUrlParams {
  if (!isOpenableUrl(url)) {
    throw refused('"url" must be a whole http or https URL without a user or password in it');
  }
  if (typeof elicitationId !== 'string' || elicitationId === '') {
    throw refused('"elicitationId" must be a string that is not empty');
  }
  return { mode: 'url', message, url, elicitationId };
}

/** A user reads the host of a URL to know where it leads; what stands before an `@` is there to mislead. */
function isOpenableUrl(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** A page that has to be opened before a call can succeed. */
export type RequiredUrl = Omit<ElicitUrlParams, 'mode'>;

/**
 * The error with which a tool says that its user must open one or more pages, and that the call is to be repeated then.
 * The client gets it as JSON-RPC error -32042.
 *
 * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` when there is no page, or one with a URL that may not be asked for.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 */
export function urlElicitationRequired(
  pages: readonly RequiredUrl[],
  message = 'The user must open a page first',
): MCPServerError {
  if (pages.length === 0) throw refused('at least one page is needed');
  const elicitations = pages.map(page => toUrlParams({ ...page, mode: 'url' }));
  return new MCPServerError('MCP_SERVER_URL_ELICITATION_REQUIRED', {
    message,
    category: 'USER',
    data: { elicitations },
  });
}

/** The pages in the data of such an error, whoever made it; `undefined` when they are none that may be asked for. */
export function requiredUrlsOf(data: unknown): readonly Required<ElicitUrlParams>[] | undefined {
  const elicitations: unknown = Reflect.get(Object(data), 'elicitations');
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  const pages = elicitations.filter(isWholeUrlQuestion);
  if (pages.length < elicitations.length) return undefined;
  return pages.map(({ message, url, elicitationId }) => ({ mode: 'url', message, url, elicitationId }));
}

function isWholeUrlQuestion(value: unknown): value is Required<ElicitUrlParams> & { elicitationId: string } {
  return (
    isJsonObject(value) &&
    value['mode'] === 'url' &&
    typeof value['message'] === 'string' &&
    typeof value['elicitationId'] === 'string' &&
    isOpenableUrl(value['url'])
  );
}

function refused(problem: string): MCPServerError {
  return refusedQuestion('Elicitation', problem);
}
