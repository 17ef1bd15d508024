/**
 * Which parsed JSON values are JSON-RPC messages of MCP, checked by hand.
 *
 * At least as strict as the SDK's own schemas: what passes here is never dropped there without an answer, so nothing
 * is parsed twice. Does not know methods and their params.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/sdk/types.js';
import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';

/** One message of a peer and what it is. */
export type WireMessage =
  | { readonly kind: 'request'; readonly message: JSONRPCRequest }
  | { readonly kind: 'notification'; readonly message: JSONRPCNotification }
  | { readonly kind: 'response'; readonly message: JSONRPCResponse };

const REQUEST_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const RESPONSE_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value can be the id of a request: a string or a safe integer, never null. */
function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function hasOnly(value: object, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false;
  return true;
}

function hasUsableMeta(holder: Record<string, unknown>): boolean {
  const meta = holder['_meta'];
  if (meta === undefined) return true;
  if (!isObject(meta)) return false;
  const token = meta['progressToken'];
  if (token !== undefined && !isRequestId(token)) return false;
  const task = meta[RELATED_TASK_META_KEY];
  return task === undefined || (isObject(task) && typeof task['taskId'] === 'string');
}

/** Narrows a parsed JSON value to one message; `undefined` when it is none. Does not accept arrays. */
export function toWireMessage(value: unknown): WireMessage | undefined {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  if (typeof value['method'] === 'string') {
    const params = value['params'];
    if (params !== undefined && !(isObject(params) && hasUsableMeta(params))) return undefined;
    if (!hasOnly(value, REQUEST_KEYS)) return undefined;
    if (!('id' in value)) return { kind: 'notification', message: value as JSONRPCNotification };
    return isRequestId(value['id']) ? { kind: 'request', message: value as JSONRPCRequest } : undefined;
  }
  return isResponse(value) ? { kind: 'response', message: value } : undefined;
}

function isResponse(value: Record<string, unknown>): value is JSONRPCResponse {
  const { result, error } = value;
  if (!hasOnly(value, RESPONSE_KEYS) || 'result' in value === 'error' in value) return false;
  if (isObject(result)) return isRequestId(value['id']) && hasUsableMeta(result);
  if (!isObject(error) || !Number.isSafeInteger(error['code'])) return false;
  return typeof error['message'] === 'string' && (value['id'] === undefined || isRequestId(value['id']));
}

/** The requests among messages, in order. */
export function requestsOf(messages: readonly WireMessage[]): JSONRPCRequest[] {
  return messages.filter(({ kind }) => kind === 'request').map(({ message }) => message as JSONRPCRequest);
}

/** The id an error answer should carry: that of the value, when it has one that can be a request's, else null. */
export function idToAnswer(value: unknown): RequestId | null {
  return isObject(value) && isRequestId(value['id']) ? value['id'] : null;
}

/** An error answer, also to what had no id: JSON-RPC wants `null` there, which the SDK's type cannot say. */
export interface ErrorAnswer extends Omit<JSONRPCErrorResponse, 'id'> {
  readonly id: RequestId | null;
}

export function toErrorAnswer(
  id: RequestId | null,
  code: number,
  message: string,
  data?: unknown,
): ErrorAnswer {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** Whether an outgoing message answers a request. */
export function isAnswer(message: JSONRPCMessage): message is JSONRPCResponse {
  return !('method' in message);
}

/** Whether an outgoing message is a request of ours, which waits for an answer. */
export function isQuestion(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}
