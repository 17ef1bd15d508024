/**
 * The URI of a resource, as a client or the host names it.
 *
 * Owns what can be one. Does not know which resources there are.
 */
import { MCPServerError } from '../../shared/errors.ts';

/** Longer ones are nobody's resource, and would be kept for as long as a client subscribes to them. */
const MAX_URI_LENGTH = 8192;

/**
 * Reads `uri` from the params of a request.
 *
 * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` for what cannot be a URI.
 */
export function readResourceUri(params: unknown): string {
  const uri: unknown = Reflect.get(Object(params), 'uri');
  if (typeof uri === 'string' && uri !== '' && uri.length <= MAX_URI_LENGTH) return uri;
  throw new MCPServerError('MCP_SERVER_PARAMS_INVALID', {
    message: `"uri" must be a string of 1 to ${MAX_URI_LENGTH} characters`,
    category: 'USER',
  });
}
