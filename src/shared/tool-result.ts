/**
 * The output of a Mastra tool and the result of `tools/call`, in both directions.
 *
 * Owns the rules for what passes as it is, what becomes text, what stays structured and what a model sees. Decides
 * nothing about calls; single content blocks lie in content-block.ts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isContentBlock, toContentBlock, toJsonText, toModelPart } from './content-block.ts';
import { toJsonValue } from './json-value.ts';
import { isJsonObject } from './schema-keywords.ts';

/** On structured output of a remote tool: the content blocks that came with it. */
export const MCP_CALL_TOOL_CONTENT: unique symbol = Symbol.for('@mastra/mcp.callToolContent');
/** On structured output of a remote tool: the `_meta` that came with it. */
export const MCP_CALL_TOOL_META: unique symbol = Symbol.for('@mastra/mcp.callToolMeta');

/** What the tool has declared about its results. */
export interface ToolResultOptions {
  /** Whether an output schema is advertised. */
  readonly hasOutputSchema: boolean;
}

/**
 * Tells whether a value is a result of `tools/call` already: `content` is a list of objects with a string `type`.
 *
 * Does not check what the blocks hold. A blog post with `content: ['…']` is plain data.
 */
export function isCallToolResult(value: unknown): value is CallToolResult {
  return isJsonObject(value) && Array.isArray(value['content']) && value['content'].every(hasType);
}

function hasType(block: unknown): boolean {
  return isJsonObject(block) && typeof block['type'] === 'string';
}

/**
 * Makes the result of `tools/call` from what a tool returned.
 *
 * Never throws: output that cannot be written as JSON gives an error result that says so. Content blocks that the
 * protocol does not know become JSON text. Does not validate against the output schema.
 */
export function toCallToolResult(output: unknown, options: ToolResultOptions): CallToolResult {
  if (output === undefined) return { content: [] };
  if (typeof output === 'string') return { content: [{ type: 'text', text: output }] };
  try {
    if (isCallToolResult(output)) return passThrough(output, options);
    return fromRemoteOutput(output) ?? fromData(output, options);
  } catch (error) {
    return toErrorResult(`The tool returned a value that cannot be sent: ${toErrorText(error)}`);
  }
}

/** Makes a result that says why a tool failed. */
export function toErrorResult(text: string, meta?: Record<string, unknown>): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }], ...(meta === undefined ? {} : { _meta: meta }) };
}

/** A result that the author of the tool made, with what the wire would refuse put right. */
function passThrough(result: CallToolResult, { hasOutputSchema }: ToolResultOptions): CallToolResult {
  const { content, structuredContent, _meta, isError, ...rest } = result;
  // an output schema asks for structured content, and the whole object is what matched it
  const source: unknown = structuredContent ?? (hasOutputSchema && isError !== true ? result : undefined);
  const structured = toJsonValue(source);
  const meta = toJsonValue(_meta);
  const isFlag = isError === undefined || typeof isError === 'boolean';
  const isSound =
    isFlag &&
    structured === structuredContent &&
    (structured === undefined || isJsonObject(structured)) &&
    meta === _meta &&
    (meta === undefined || isJsonObject(meta)) &&
    content.every(isContentBlock);
  if (isSound) return result;
  return {
    ...rest,
    content: content.map(toContentBlock),
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    ...(isJsonObject(meta) ? { _meta: meta } : {}),
    ...(isFlag && isError !== undefined ? { isError } : {}),
  };
}

/** Structured output of a remote tool that is served on: the content it came with goes along. */
function fromRemoteOutput(output: unknown): CallToolResult | undefined {
  if (typeof output !== 'object' || output === null || !(MCP_CALL_TOOL_CONTENT in output)) return undefined;
  const structured = toJsonValue(output);
  const meta = getMcpCallToolMeta(output);
  return {
    content: (getMcpCallToolContent(output) ?? []).map(toContentBlock),
    ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

function fromData(output: unknown, { hasOutputSchema }: ToolResultOptions): CallToolResult {
  const json = toJsonValue(output);
  // a function or a symbol has no JSON form
  if (json === undefined) return { content: [] };
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const content: ContentBlock[] = [{ type: 'text', text }];
  return isJsonObject(json) && (hasOutputSchema || isPlain(output))
    ? { content, structuredContent: json }
    : { content };
}

/** An object literal, also one of another realm: neither an instance of a class nor an array. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * What the `execute` of a remote tool gives back for a result.
 *
 * Without an output schema, and for an error, the whole result. With one the structured content, on which
 * {@link getMcpCallToolContent} and {@link getMcpCallToolMeta} find the rest; text that is one JSON object stands in
 * for structured content that is missing. Does not validate.
 */
export function fromCallToolResult(result: CallToolResult, options: ToolResultOptions): unknown {
  const content: unknown = result.content;
  const whole = Array.isArray(content) ? result : { ...result, content: [] };
  if (!options.hasOutputSchema || result.isError === true) return whole;
  const structured: unknown = result.structuredContent ?? parseObject(joinText(whole.content));
  if (typeof structured !== 'object' || structured === null) return whole;
  // a copy, because over an in-memory transport the object belongs to the server
  const output: object = Array.isArray(structured) ? structured.slice() : { ...structured };
  // hidden from JSON, logs and equality
  Object.defineProperty(output, MCP_CALL_TOOL_CONTENT, { value: whole.content });
  if (result._meta !== undefined) Object.defineProperty(output, MCP_CALL_TOOL_META, { value: result._meta });
  return output;
}

function parseObject(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The content blocks of what a remote tool gave back, in either form; `undefined` for other values. */
export function getMcpCallToolContent(result: unknown): ContentBlock[] | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const content: unknown = Reflect.get(result, MCP_CALL_TOOL_CONTENT);
  if (Array.isArray(content)) return content as ContentBlock[];
  return isCallToolResult(result) ? result.content : undefined;
}

/** The `_meta` of what a remote tool gave back, in either form; `undefined` when there was none. */
export function getMcpCallToolMeta(result: unknown): Record<string, unknown> | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const hidden: unknown = Reflect.get(result, MCP_CALL_TOOL_META);
  const meta: unknown = hidden ?? (isCallToolResult(result) ? result._meta : undefined);
  return isJsonObject(meta) ? meta : undefined;
}

/** Joins the text blocks of a result by line breaks. Leaves everything else out. */
export function joinText(content: readonly ContentBlock[]): string {
  return content
    .flatMap(block => (isJsonObject(block) && block.type === 'text' ? [block.text] : []))
    .filter(text => typeof text === 'string')
    .join('\n');
}

/** The forms of the AI SDK's tool result output that a remote tool can take. */
export type ToolModelOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'content'; readonly value: readonly ReturnType<typeof toModelPart>[] };

/**
 * What a model sees of the output of a remote tool: text, media, a readable error, else JSON.
 *
 * Media stays media and does not become base64 in JSON. Never throws, because core lets a run fail when this does.
 */
export function toModelOutput(output: unknown): ToolModelOutput {
  try {
    return modelOutputOf(output);
  } catch (error) {
    return { type: 'error-text', value: `The output of the tool cannot be shown: ${toErrorText(error)}` };
  }
}

function modelOutputOf(output: unknown): ToolModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output };
  const content = getMcpCallToolContent(output);
  if (content !== undefined && content.length > 0) return contentOutput(content, isFailed(output));
  if (isFailed(output)) return { type: 'error-text', value: failureText(output) };
  const structured = isCallToolResult(output) ? (output.structuredContent ?? '') : output;
  return structured === undefined || structured === ''
    ? { type: 'text', value: '' }
    : { type: 'json', value: toJsonValue(structured) ?? null };
}

function contentOutput(content: readonly unknown[], failed: boolean): ToolModelOutput {
  const parts = content.map(toModelPart);
  const texts = parts.flatMap(part => (part.type === 'text' ? [part.text] : []));
  // plain text is the one form that every provider takes
  if (texts.length < parts.length) return { type: 'content', value: parts };
  return { type: failed ? 'error-text' : 'text', value: texts.join('\n') };
}

/** A result with `isError`, or core's answer to arguments or output that break a schema. */
function isFailed(output: unknown): output is { readonly message?: unknown } {
  if (!isJsonObject(output)) return false;
  return output['isError'] === true ? isCallToolResult(output) : isValidationError(output);
}

function isValidationError(output: Readonly<Record<string, unknown>>): boolean {
  return output['error'] === true && typeof output['message'] === 'string' && 'validationErrors' in output;
}

function failureText({ message }: { readonly message?: unknown }): string {
  return typeof message === 'string' ? message : 'The tool failed without saying why.';
}

/** Longest text made of an error. */
const MAX_ERROR_TEXT = 2_000;

/** Says in one readable line what went wrong, without stack traces and without the inner form of an error. */
export function toErrorText(error: unknown): string {
  const text = toOneLine(rawErrorText(error));
  if (text === '') return 'Unknown error';
  return text.length > MAX_ERROR_TEXT ? `${text.slice(0, MAX_ERROR_TEXT)}…` : text;
}

function rawErrorText(error: unknown): string {
  if (typeof error === 'string') return error;
  if (error === undefined || error === null) return '';
  if (typeof error !== 'object') return toJsonText(error);
  const { issues, errors, message, name } = error as Record<string, unknown>;
  // the message of a zod error is the JSON of its issues
  if (Array.isArray(issues) && issues.length > 0) return issues.map(issueText).join('; ');
  if (typeof message === 'string' && message !== '') return message;
  if (Array.isArray(errors) && errors.length > 0) return errors.map(rawErrorText).join('; ');
  // any other object may hold what is nobody's business, such as the headers of a request
  return error instanceof Error && typeof name === 'string' ? name : '';
}

function issueText(issue: unknown): string {
  const { path, message } = (issue ?? {}) as Record<string, unknown>;
  const text = typeof message === 'string' ? message : 'Invalid';
  return Array.isArray(path) && path.length > 0 ? `${path.map(String).join('.')}: ${text}` : text;
}

const STACK_FRAME = /^\s*at\s.+(?:\)|:\d+:\d+)$/;

function toOneLine(text: string): string {
  return text
    .split(/\r?\n/)
    .filter(line => !STACK_FRAME.test(line))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
