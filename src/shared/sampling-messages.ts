/**
 * What a request to the model of a client has to look like beyond its schema: checked by who sends and by who gets it.
 *
 * Runs no tools and no loop: what a model wants to use is in its answer.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 */
import type { SamplingMessage, SamplingMessageContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from './schema-keywords.ts';

/** Whether a model may use tools in its answer, which the client must have declared. */
export function wantsTools(params: unknown): boolean {
  return isJsonObject(params) && (params['tools'] !== undefined || params['toolChoice'] !== undefined);
}

/**
 * Every use of a tool is answered by the very next message, which is the user's and holds nothing else. Says what breaks
 * the rule, or nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content-constraints
 */
export function messageDefect(messages: readonly SamplingMessage[]): string | undefined {
  let open: readonly string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = [content].flat();
    const results = blocks.flatMap(block => (block.type === 'tool_result' ? [block.toolUseId] : []));
    const uses = blocks.flatMap(toolUseIdOf);
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      return `messages.${index}: results of tools belong into a message of the user that holds nothing else`;
    }
    if (results.length !== open.length || open.some(id => !results.includes(id))) {
      return `messages.${index}: must give the results of exactly the tool uses of the message before it`;
    }
    if (uses.length > 0 && role !== 'assistant') return `messages.${index}: only an assistant uses tools`;
    open = uses;
  }
  return open.length === 0 ? undefined : `messages: the results of the last tool uses are missing`;
}

function toolUseIdOf(block: SamplingMessageContentBlock): string[] {
  return block.type === 'tool_use' ? [block.id] : [];
}
