/**
 * The making of a session that lives over many requests: room for it, its id, its transport, who is told.
 *
 * Does not answer `initialize`: the session does, once it is open.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { refuseForNow } from '../http/exchange.ts';
import type { Refusal } from '../http/exchange.ts';
import type { HTTPSettings } from '../http/http-options.ts';
import type { Session, SessionInit } from '../sessions/session-binding.ts';
import { toShortId } from '../sessions/sessions.ts';
import type { OpenSession, SessionActivity, Sessions } from '../sessions/sessions.ts';
import { SessionTransport } from './session-transport.ts';
import type { TransportHooks } from './session-transport.ts';

/** Who opens a session, and how. */
export interface SessionRequest {
  readonly principal: string;
  /** Callers who cannot be told apart have no limit of their own. */
  readonly isAnonymous: boolean;
  readonly requestId: RequestId | null;
  readonly settings: HTTPSettings;
}

export interface OpenSessionDeps {
  readonly sessions: Sessions<SessionTransport>;
  readonly hooks: TransportHooks;
  readonly createSession: (init: SessionInit) => Session;
  readonly logger: () => { debug(message: string): void; error(message: string, ...args: unknown[]): void };
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,512}$/;

/**
 * Opens one session, or says that there is no room for it.
 *
 * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID when the generator gives an id that cannot be used.
 */
export async function openSession(
  request: SessionRequest,
  deps: OpenSessionDeps,
): Promise<OpenSession<SessionTransport> | Refusal> {
  const { principal, settings } = request;
  const { sessions, hooks } = deps;
  const refused = refuseWithoutRoom(request, sessions);
  if (refused !== undefined) return refused;
  const id = generateId(settings, sessions);
  const transport = new SessionTransport(id, settings, hooks);
  const session = deps.createSession({ id, principal, mode: 'session' });
  const notify = async (option: 'onSessionInitialized' | 'onSessionClosed'): Promise<void> => {
    try {
      await settings[option]?.(id);
    } catch (error) {
      deps.logger().error(`The callback ${option.toLowerCase()} failed`, error);
    }
  };
  // What a host does when a session has ended is not waited for: it must not hold up others.
  const onClosed = (): void => void notify('onSessionClosed');
  const entry = { id, principal, session, transport, idleMs: settings.limits.sessionIdleMs, onClosed };
  // In the table before anything is waited for, so that sessions opened at once are all counted.
  sessions.open(entry);
  await session.connect(transport);
  deps.logger().debug(`MCP session ${toShortId(id)} opened`);
  await notify('onSessionInitialized');
  return entry;
}

/** Makes room for one more session, or says that there is none. */
export function refuseWithoutRoom<T extends SessionActivity>(
  { principal, isAnonymous, requestId, settings }: SessionRequest,
  sessions: Sessions<T>,
): Refusal | undefined {
  const { maxSessions, maxSessionsPerUser } = settings.limits;
  const maxSessionsOfPrincipal = isAnonymous ? Infinity : maxSessionsPerUser;
  if (sessions.makeRoom(principal, { maxSessions, maxSessionsOfPrincipal })) return undefined;
  return refuseForNow('Too many sessions', requestId);
}

function generateId(settings: HTTPSettings, sessions: Sessions<SessionTransport>): string {
  const id: unknown = settings.generateSessionId();
  if (typeof id === 'string' && VISIBLE_ASCII.test(id) && !sessions.has(id)) return id;
  const problem = 'must return 1 to 512 characters of visible ASCII that are no open session';
  throw new MCPConfigurationError('server', 'sessionIdGenerator', problem);
}
