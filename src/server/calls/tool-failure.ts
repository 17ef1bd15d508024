/**
 * What a tool threw, as an error of ours.
 *
 * Owns the code and the text, and the finding of a page that its user must open first. Does not decide who gets to read it.
 */
import { isMCPError, MCPServerError, MCPToolCallError } from '../../shared/errors.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import { requiredUrlsOf } from './elicitation.ts';

/** The error of a tool that failed. Its message is what a client may read. */
export function toToolFailure(toolName: string, serverName: string, cause: unknown): MCPToolCallError {
  return new MCPToolCallError('MCP_SERVER_TOOL_EXECUTE_FAILED', {
    message: isDenial(cause) ? 'Access denied' : toErrorText(cause),
    toolName,
    serverName,
    cause,
  });
}

/** Core's authorization inside agents and workflows denies with a status; why is nobody's business. */
function isDenial(cause: unknown): boolean {
  return typeof cause === 'object' && cause !== null && Reflect.get(cause, 'status') === 403;
}

/** Core wraps what a tool throws, and tools wrap what others threw; nobody wraps this often. */
const MAX_CAUSES = 10;

/** Code under which the SDK's own error, of whatever copy, says that a page has to be opened first. */
const URL_ELICITATION_REQUIRED = -32042;

/** The pages that a tool said its user must open first, as an error of ours; `undefined` when it failed otherwise. */
export function toUrlElicitationRequired(thrown: unknown): MCPServerError | undefined {
  let error = thrown;
  for (let depth = 0; depth < MAX_CAUSES && typeof error === 'object' && error !== null; depth += 1) {
    const elicitations = saysUrlRequired(error) ? requiredUrlsOf(Reflect.get(error, 'data')) : undefined;
    if (elicitations !== undefined) {
      return new MCPServerError('MCP_SERVER_URL_ELICITATION_REQUIRED', {
        // The SDK's error repeats its code in its text, and its client will do so again.
        message: toErrorText(error).replace(`MCP error ${URL_ELICITATION_REQUIRED}: `, ''),
        category: 'USER',
        data: { elicitations },
        cause: thrown,
      });
    }
    error = Reflect.get(error, 'cause');
  }
  return undefined;
}

function saysUrlRequired(error: object): boolean {
  if (isMCPError(error)) return error.code === 'MCP_SERVER_URL_ELICITATION_REQUIRED';
  return Reflect.get(error, 'code') === URL_ELICITATION_REQUIRED;
}
