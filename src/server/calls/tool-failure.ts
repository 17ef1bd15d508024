/**
 * What a tool threw, as an error of ours.
 *
 * Owns the code and the text. Does not decide who gets to read it.
 */
import { MCPToolCallError } from '../../shared/errors.ts';
import { toErrorText } from '../../shared/tool-result.ts';

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
