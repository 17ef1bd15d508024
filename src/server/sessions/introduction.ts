/**
 * Whether an `initialize` says what it has to, before anything is opened for its client.
 *
 * Pure. Does not negotiate and does not answer: that is the SDK's Server.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
import { InitializeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { toErrorAnswer } from './wire-message.ts';
import type { ErrorAnswer } from './wire-message.ts';

const INVALID_PARAMS = -32602;

/** The answer to an `initialize` that the SDK's Server would take for an error of its own; `undefined` for all else. */
export function refuseIntroduction(request: JSONRPCRequest): ErrorAnswer | undefined {
  if (request.method !== 'initialize' || InitializeRequestSchema.safeParse(request).success) return undefined;
  const problem = 'initialize needs protocolVersion, capabilities and clientInfo';
  return toErrorAnswer(request.id, INVALID_PARAMS, problem);
}
