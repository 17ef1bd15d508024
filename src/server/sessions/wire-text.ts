/**
 * The JSON text of a message, made once for results that many callers get.
 *
 * Owns the texts that were kept. Does not decide which results are worth keeping.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

const texts = new WeakMap<object, string>();

/**
 * Marks a result as one that is sent again and again: its JSON text is made at the first sending and kept as long as
 * the object lives. The result must not be changed afterwards.
 */
export function keepWireText<T extends object>(result: T): T {
  if (!texts.has(result)) texts.set(result, '');
  return result;
}

/** The JSON text of one message. */
export function toWireText(message: JSONRPCMessage): string {
  if (!('result' in message)) return JSON.stringify(message);
  let text = texts.get(message.result);
  if (text === undefined) return JSON.stringify(message);
  if (text === '') {
    text = JSON.stringify(message.result);
    texts.set(message.result, text);
  }
  return `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${text}}`;
}
