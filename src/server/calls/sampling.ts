/**
 * Requests to the model of the client.
 *
 * Owns what is checked before one is sent: the shape that the protocol gives it, and the order of tool uses and results.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
import {
  CreateMessageRequestParamsSchema,
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type {
  CreateMessageRequestParams,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/sdk/types.js';
import { messageDefect, wantsTools } from '../../shared/sampling-messages.ts';
import { isJsonObject } from '../../shared/schema-keywords.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import { refusedQuestion } from './question-kind.ts';
import type { QuestionKind } from './question-kind.ts';

/** Requests to the client's model as a kind of question. */
export const sampling: QuestionKind<CreateMessageRequestParams, CreateMessageResultWithTools> = {
  method: 'sampling/createMessage',
  noun: 'the request to its model',
  lacks: (capabilities, params) => {
    const declared = capabilities?.['sampling'];
    if (!isJsonObject(declared)) return { name: 'sampling', required: { sampling: {} } };
    if (!wantsTools(params) || declared['tools'] !== undefined) return undefined;
    return { name: 'tools in sampling', required: { sampling: { tools: {} } } };
  },
  toParams: question => {
    const { error } = CreateMessageRequestParamsSchema.safeParse(question);
    if (error !== undefined) throw refusedQuestion('Sampling', toErrorText(error));
    const defect = messageDefect(question.messages);
    if (defect !== undefined) throw refusedQuestion('Sampling', defect);
    return { ...question };
  },
  answerSchema: params =>
    wantsTools(params) ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema,
  toAnswer: answer => answer,
};
