/**
 * Completions as a capability: suggestions for an argument of a prompt or a variable of a resource template.
 *
 * Owns the shape of the question and the bound of the answer. Does not rank.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 */
import type { CompleteResult } from '@modelcontextprotocol/sdk/types.js';
import type { CallContext, CallHandler } from '../calls/call-context.ts';
import { callbackFailed, invalidParams, readStrings, runCallback, toRequestFacts } from './user-callback.ts';
import type { RequestFacts } from './user-callback.ts';

/** What is being filled in: a prompt by name, or a resource template by its text. */
export type CompletionReference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** What a client wants suggestions for. */
export interface CompletionRequest extends RequestFacts {
  readonly ref: CompletionReference;
  /** The argument, and what the user has typed of it. */
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that are filled in already. */
  readonly context: { readonly arguments: Readonly<Record<string, string>> };
}

/** Suggestions, best first. More than 100 are cut and marked as such. */
export type CompletionValues =
  | readonly string[]
  | {
      readonly values: readonly string[];
      readonly total?: number | undefined;
      readonly hasMore?: boolean | undefined;
    };

/** Completions of a server. */
export interface MCPServerCompletions {
  readonly complete: (request: CompletionRequest) => CompletionValues | Promise<CompletionValues>;
}

const MAX_VALUES = 100;

/** The method of this capability. */
export function completionHandlers(
  completions: MCPServerCompletions,
): readonly (readonly [string, CallHandler])[] {
  return [['completion/complete', (params, call) => complete(params, call, completions)]];
}

async function complete(
  params: unknown,
  call: CallContext,
  completions: MCPServerCompletions,
): Promise<CompleteResult> {
  const { ref, argument, context } = Object(params) as Record<string, unknown>;
  const request = {
    ref: toReference(ref),
    argument: toArgument(argument),
    context: { arguments: toContextArguments(context) },
    ...toRequestFacts(call),
  };
  return { completion: toCompletion(await runCallback('complete', () => completions.complete(request))) };
}

function toCompletion(given: unknown): CompleteResult['completion'] {
  const { values, total, hasMore } = Array.isArray(given)
    ? { values: given as readonly unknown[], total: given.length, hasMore: undefined }
    : (Object(given) as Readonly<Record<'values' | 'total' | 'hasMore', unknown>>);
  if (!Array.isArray(values) || !values.every(value => typeof value === 'string')) {
    throw callbackFailed('complete', 'must return strings, or an object with "values" that are strings');
  }
  if (total !== undefined && !isCount(total)) {
    throw callbackFailed('complete', 'must return a "total" that is a whole number, or none');
  }
  return {
    values: values.slice(0, MAX_VALUES),
    ...(total === undefined ? {} : { total }),
    hasMore: values.length > MAX_VALUES || hasMore === true,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function toReference(ref: unknown): CompletionReference {
  const { type, name, uri } = Object(ref) as Record<string, unknown>;
  if (type === 'ref/prompt' && typeof name === 'string') return { type, name };
  if (type === 'ref/resource' && typeof uri === 'string') return { type, uri };
  throw invalidParams('"ref" of completion/complete must name a prompt or a resource template');
}

function toArgument(argument: unknown): CompletionRequest['argument'] {
  const { name, value } = Object(argument) as Record<string, unknown>;
  if (typeof name === 'string' && typeof value === 'string') return { name, value };
  throw invalidParams('"argument" of completion/complete must have a "name" and a "value" that are strings');
}

function toContextArguments(context: unknown): Readonly<Record<string, string>> {
  const given: unknown = Reflect.get(Object(context), 'arguments');
  return readStrings(given, '"context.arguments" of completion/complete');
}
