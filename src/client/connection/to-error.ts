/**
 * Turns the facts of a connection into the errors users get.
 *
 * Owns texts and codes of connection, request and authorization errors. Decides nothing about retries. Text of the
 * server is JSON-encoded and cut; arguments and headers never enter a message.
 */
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  isMCPError,
  MCPAuthorizationRequiredError,
  MCPConnectionError,
  MCPRequestError,
  MCPUrlPolicyError,
  type AnyMCPError,
  type MCPConnectionAttempt,
} from '../../shared/errors.ts';
import { RequestEnded } from '../capabilities/progress.ts';
import { AnsweredError, RevisionRefused } from './peer.ts';
import { TransportFailure } from './transport-failure.ts';

const MAX_QUOTE = 500;

/** Text of the other side, made safe for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text);
}

/** Why a connect was given up although no attempt failed. */
export class ConnectDeadline extends Error {
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`not connected within ${limitMs} ms`);
    this.name = 'ConnectDeadline';
    this.limitMs = limitMs;
  }
}

/** The error of a request that failed on an existing connection. */
export function toRequestError(
  error: unknown,
  where: {
    readonly serverName: string;
    readonly method: string;
    /** Whether a request that ended by its limits had been handed over. @defaultValue true */
    readonly mayHaveExecuted?: boolean;
  },
): AnyMCPError {
  if (isMCPError(error)) return error;
  const { serverName, method, mayHaveExecuted = true } = where;
  const at = `Server ${quote(serverName)}, ${method}`;
  if (error instanceof RequestEnded) {
    const code = error.kind === 'aborted' ? 'MCP_CLIENT_REQUEST_ABORTED' : 'MCP_CLIENT_REQUEST_TIMEOUT';
    const why = error.kind === 'total-timeout' ? `${error.message} (maxTotalTimeout)` : error.message;
    const message = `${at}: ${why}; ${mayHaveExecuted ? 'it may have run' : 'it was not sent'}`;
    return new MCPRequestError(code, { message, serverName, method, mayHaveExecuted, cause: error });
  }
  if (error instanceof AnsweredError) {
    const message = `${at}: the server answered error ${error.code} ${quote(error.message)}`;
    return new MCPRequestError('MCP_CLIENT_REQUEST_FAILED', {
      message,
      serverName,
      method,
      rpcCode: error.code,
      rpcData: error.data,
      mayHaveExecuted: true,
      cause: error,
    });
  }
  if (error instanceof UnauthorizedError) return toAuthorizationError(serverName, 401, undefined, error);
  if (error instanceof TransportFailure) return toTransportError(error, serverName, method, at);
  const cause = error instanceof Error ? error.message : String(error);
  return new MCPRequestError('MCP_CLIENT_RESPONSE_INVALID', {
    message: `${at}: the answer could not be used: ${quote(cause)}`,
    serverName,
    method,
    mayHaveExecuted: true,
    cause: error,
  });
}

function toTransportError(
  failure: TransportFailure,
  serverName: string,
  method: string,
  at: string,
): AnyMCPError {
  const { facts } = failure;
  const { mayHaveExecuted } = facts;
  const outcome = mayHaveExecuted ? '; whether it ran is unknown' : '; it did not run';
  const init = {
    message: `${at}: ${failure.message}${outcome}`,
    serverName,
    mayHaveExecuted,
    cause: failure,
  };
  switch (failure.kind) {
    case 'unreachable':
    case 'lost':
    case 'closed':
      return new MCPConnectionError('MCP_CLIENT_CONNECTION_LOST', init);
    case 'too-large':
      return new MCPConnectionError('MCP_CLIENT_MESSAGE_TOO_LARGE', init);
    case 'backpressure':
      return new MCPConnectionError('MCP_CLIENT_BACKPRESSURE', init);
    case 'malformed':
      return new MCPRequestError('MCP_CLIENT_RESPONSE_INVALID', {
        ...init,
        method,
        httpStatus: facts.status,
      });
    case 'unwritable':
      return new MCPRequestError('MCP_CLIENT_REQUEST_FAILED', { ...init, category: 'USER', method });
    case 'redirect':
      return new MCPUrlPolicyError('MCP_CLIENT_REDIRECT_REFUSED', { ...init, host: facts.target ?? '' });
    case 'status': {
      const authorization = toStatusAuthorization(failure, serverName);
      if (authorization !== undefined) return authorization;
      return new MCPRequestError('MCP_CLIENT_REQUEST_FAILED', {
        ...init,
        method,
        httpStatus: facts.status,
        rpcCode: facts.rpcError?.code,
        rpcData: facts.rpcError?.data,
      });
    }
  }
}

/** 401 always needs the user; 403 only where the challenge asks for more scope (RFC 6750 section 3.1). */
function toStatusAuthorization(
  failure: TransportFailure,
  serverName: string,
): MCPAuthorizationRequiredError | undefined {
  const { status, challenge } = failure.facts;
  const needsScope = status === 403 && /\berror="?insufficient_scope\b/.test(challenge ?? '');
  if (status !== 401 && !needsScope) return undefined;
  return toAuthorizationError(serverName, status ?? 401, challenge, failure);
}

function toAuthorizationError(
  serverName: string,
  httpStatus: number,
  challenge: string | undefined,
  cause: unknown,
): MCPAuthorizationRequiredError {
  const scope = /\bscope="([^"]*)"/.exec(challenge ?? '')?.[1];
  // A renewal that was tried and failed says more than the status.
  const tried =
    cause instanceof TransportFailure && isMCPError(cause.facts.cause) ? cause.facts.cause : undefined;
  const why = tried === undefined ? '' : `; ${tried.message}`;
  return new MCPAuthorizationRequiredError({
    message: `Server ${quote(serverName)} needs authorization (HTTP ${httpStatus}${why})`,
    serverName,
    httpStatus,
    scopes: scope?.split(' ').filter(Boolean),
    cause,
  });
}

/** The error of a connect that failed, from all its attempts. */
export function toConnectError(
  serverName: string,
  attempts: readonly MCPConnectionAttempt[],
  deadline: ConnectDeadline | undefined,
): AnyMCPError {
  const last = attempts.at(-1)?.cause;
  if (isMCPError(last)) return last;
  if (last instanceof UnauthorizedError) return toAuthorizationError(serverName, 401, undefined, last);
  if (last instanceof TransportFailure) {
    const authorization = toStatusAuthorization(last, serverName);
    if (authorization !== undefined) return authorization;
    if (last.kind === 'redirect') {
      return toTransportError(last, serverName, 'connect', `Server ${quote(serverName)}, connect`);
    }
  }
  const story = attempts
    .map(({ transport, cause, output }) => `${transport}: ${describe(cause)}${output ? `; ${output}` : ''}`)
    .join('; ');
  const code =
    last instanceof RevisionRefused
      ? 'MCP_CLIENT_PROTOCOL_VERSION_UNSUPPORTED'
      : deadline === undefined
        ? 'MCP_CLIENT_CONNECT_FAILED'
        : 'MCP_CLIENT_CONNECT_TIMEOUT';
  return new MCPConnectionError(code, {
    message: `Server ${quote(serverName)} could not be connected (${story})`,
    serverName,
    attempts,
    mayHaveExecuted: false,
    ...(last instanceof RevisionRefused ? { supportedVersions: last.offered } : {}),
    cause: attempts[0]?.cause ?? deadline,
  });
}

function describe(cause: unknown): string {
  if (cause instanceof AnsweredError)
    return `the server answered error ${cause.code} ${quote(cause.message)}`;
  return cause instanceof Error ? cause.message : String(cause);
}
