/**
 * What makes up a kind of question to the caller. Each kind has a file of its own; `ask.ts` holds the table of them.
 *
 * Owns the shape of an entry and the error of what may not be asked or answered. Asks nobody.
 */
import { MCPServerError } from '../../shared/errors.ts';

/** What a client has declared about itself; `undefined` where it was not asked. */
export type DeclaredCapabilities = Readonly<Record<string, unknown>> | undefined;

/** Something a client would have had to declare. */
export interface LackingCapability {
  /** For people. */
  readonly name: string;
  /** As a client declares it. */
  readonly required: Readonly<Record<string, unknown>>;
}

/** Reads a value or says why it cannot. Schemas of the SDK are such. */
export interface AnswerSchema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: unknown };
}

/** One kind of question: what goes out, who can be asked, what may come back. */
export interface QuestionKind<TQuestion, TAnswer> {
  readonly method: string;
  /** What people call the request, in place of its method. */
  readonly noun: string;
  /** The first thing this client lacks for a request with these params; `undefined` when it can be asked. */
  readonly lacks: (capabilities: DeclaredCapabilities, params: unknown) => LackingCapability | undefined;
  /** @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` when this may not be asked. */
  readonly toParams: (question: TQuestion) => Record<string, unknown> | undefined;
  /** The shape that the protocol gives to an answer to these params. */
  readonly answerSchema: (params: unknown) => AnswerSchema<TAnswer>;
  /** @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` when an answer of that shape does not fit what was asked. */
  readonly toAnswer: (answer: TAnswer, params: Readonly<Record<string, unknown>> | undefined) => TAnswer;
}

/** The error of a question that may not be asked, or of an answer that does not fit. */
export function refusedQuestion(what: string, problem: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
    message: `${what} refused: ${problem}`,
    category: 'USER',
  });
}
