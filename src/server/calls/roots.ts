/**
 * The question for the roots of a client: the folders it works in.
 *
 * Owns what an answer is. Roots are no permission: what a tool may do below them is its own matter.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/roots
 */
import { ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ListRootsResult } from '@modelcontextprotocol/sdk/types.js';
import type { QuestionKind } from './question-kind.ts';

/** The list of roots as a kind of question. It has no params; only `file://` URIs are roots. */
export const roots: QuestionKind<undefined, ListRootsResult> = {
  method: 'roots/list',
  noun: 'the request for its roots',
  lacks: capabilities =>
    capabilities?.['roots'] === undefined ? { name: 'roots', required: { roots: {} } } : undefined,
  toParams: () => undefined,
  answerSchema: () => ListRootsResultSchema,
  toAnswer: answer => ({ roots: answer.roots }),
};
