/**
 * What a transport tells a binding about the request that carried a message.
 *
 * Owns the shape only. The transports fill it, the SDK hands it through by reference, the binding reads it.
 */
import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '@mastra/core/request-context';

/**
 * The HTTP request that carried a message, as `MessageExtraInfo.requestInfo`. Absent on stdio.
 *
 * Members are getters where reading them costs something; does not keep a body.
 */
export interface WireRequestInfo {
  /** Header names are lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url?: URL;
  /** The original request: node's `IncomingMessage`, or a web-standard `Request`. */
  readonly req?: IncomingMessage | globalThis.Request;
  /** Given by the caller of `server.fetch`. */
  readonly requestContext?: RequestContext;
}
