/**
 * Who calls, and which tools they may see and use.
 *
 * Owns the identity a session is bound to, the user of a call, and the one FGA check per call with this server's mapping.
 * Does not verify tokens: whoever fills `authInfo` did. Core's FGA code is loaded only once a provider was found.
 */
import { createHash } from 'node:crypto';
import type { Mastra } from '@mastra/core/mastra';
import type { MCPAuthInfoToUserMapper, MCPServerFGAConfig } from '@mastra/core/mcp';
import type { CallContext } from './call-context.ts';

/** Identity of callers without `authInfo`. */
export const ANONYMOUS = 'anonymous';

/**
 * The identity behind `authInfo`: a hash of issuer, subject and client; without a subject that of the client; with neither
 * that of the token. Two values are equal only for the same caller; the hash tells nothing about them.
 */
export function principalOf(authInfo: unknown): string {
  if (!isRecord(authInfo)) return ANONYMOUS;
  const extra = isRecord(authInfo['extra']) ? authInfo['extra'] : {};
  const user = isRecord(extra['user']) ? extra['user'] : {};
  const claims = isRecord(extra['claims']) ? extra['claims'] : {};
  const subject = firstName(extra['subject'], extra['sub'], extra['userId'], user['id']);
  const clientId = firstName(authInfo['clientId']);
  if (subject !== undefined) {
    const issuer = firstName(extra['issuer'], extra['iss'], claims['iss']);
    return digest('subject', issuer, subject, clientId);
  }
  if (clientId !== undefined) return digest('client', clientId);
  const token = firstName(authInfo['token']);
  return token === undefined ? ANONYMOUS : digest('token', token);
}

/** What the checks need to know. */
export interface AuthorizationDeps {
  readonly serverId: () => string;
  readonly serverName: string;
  readonly mastra: () => Mastra | undefined;
  readonly mapAuthInfoToUser: MCPAuthInfoToUserMapper | undefined;
  readonly fga: MCPServerFGAConfig | undefined;
  readonly warn: (message: string, details?: Record<string, unknown>) => void;
}

/** Decides about callers and tools. Without an FGA provider everybody may use everything. */
export interface Authorization {
  /** Whether an FGA provider decides, so that callers see different lists. */
  readonly filters: boolean;
  /** Puts the user behind the caller into the call's RequestContext. Never rejects; a failed mapping means no user. */
  identify(call: CallContext): Promise<void>;
  /** Whether this caller may use this tool. Rejects when the provider itself fails. */
  mayUse(toolName: string, call: CallContext): Promise<boolean>;
  /** The names this caller may use, in their order. Rejects when the provider itself fails. */
  visible(toolNames: readonly string[], call: CallContext): Promise<readonly string[]>;
}

/** Checks of one list that run at the same time. */
const PARALLEL_CHECKS = 16;

/** The checks of one server. */
export function createAuthorization(deps: AuthorizationDeps): Authorization {
  let warnedAboutUser = false;
  const provider = (): FgaProvider | undefined => deps.mastra()?.getServer()?.fga;

  async function userOf(call: CallContext): Promise<unknown> {
    const { requestContext, authInfo } = call;
    // What the host put there was decided by the host, for this very request.
    if (requestContext.has('user')) return requestContext.get('user');
    // A host that calls by itself names the user, or there is none.
    if (call.askable === 'host') return undefined;
    if (deps.mapAuthInfoToUser === undefined) return fallbackUser(authInfo);
    try {
      return await deps.mapAuthInfoToUser({
        authInfo,
        extra: call.mcp.extra,
        requestContext,
      });
    } catch (error) {
      deps.warn('mapAuthInfoToUser failed: the caller counts as nobody', { error });
      return undefined;
    }
  }

  async function mayUse(toolName: string, call: CallContext): Promise<boolean> {
    const fgaProvider = provider();
    if (fgaProvider === undefined) return true;
    const user: unknown = call.requestContext.get('user');
    if (user === undefined || user === null) {
      if (!warnedAboutUser) {
        warnedAboutUser = true;
        deps.warn(
          'An FGA provider is configured and a caller has no user, so every tool is denied. Set mapAuthInfoToUser on the MCPServer, ' +
            'or have the HTTP layer put the user into authInfo.extra.user or into the request context under "user".',
        );
      }
      return false;
    }
    const { requireFGA, getMCPToolFGAResourceId, MastraFGAPermissions } =
      await import('@mastra/core/auth/ee');
    const resourceId = getMCPToolFGAResourceId(deps.serverId(), toolName);
    const mapping = deps.fga?.resourceMapping?.tool ?? deps.fga?.resourceMapping?.tools;
    const permission = MastraFGAPermissions.TOOLS_EXECUTE;
    const mapped = deps.fga?.permissionMapping?.[permission] ?? permission;
    const { requestContext } = call;
    try {
      await requireFGA({
        fgaProvider,
        user,
        resource: {
          type: mapping?.fgaResourceType ?? 'tool',
          id: mapping?.deriveId?.({ user, resourceId, requestContext }) ?? resourceId,
        },
        // A server may map to names of its own provider, which core's list does not know.
        permission: mapped,
        context: { resourceId },
        requestContext,
        metadata: { mcpServerId: deps.serverId(), mcpServerName: deps.serverName, toolId: toolName },
      });
      return true;
    } catch (error) {
      if (isDenial(error)) return false;
      throw error;
    }
  }

  async function visible(toolNames: readonly string[], call: CallContext): Promise<readonly string[]> {
    const allowed: boolean[] = [];
    let next = 0;
    const check = async (): Promise<void> => {
      try {
        for (let index = next++; index < toolNames.length; index = next++) {
          allowed[index] = await mayUse(toolNames[index] ?? '', call);
        }
      } catch (error) {
        // The list has failed; nobody needs the rest.
        next = toolNames.length;
        throw error;
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_CHECKS }, check));
    return toolNames.filter((_, index) => allowed[index] === true);
  }

  return {
    get filters(): boolean {
      return provider() !== undefined;
    },
    async identify(call) {
      const user = await userOf(call);
      if (user !== undefined && user !== null) call.requestContext.set('user', user);
    },
    mayUse,
    visible,
  };
}

type FgaProvider = NonNullable<NonNullable<ReturnType<Mastra['getServer']>>['fga']>;

/** Adapters that authenticate by themselves leave the user here. */
function fallbackUser(authInfo: unknown): unknown {
  const extra = isRecord(authInfo) ? authInfo['extra'] : undefined;
  return isRecord(extra) ? extra['user'] : undefined;
}

/**
 * A denial carries the status 403; two copies of core may exist, so its class says nothing. A provider that is itself not let
 * in (401) has failed, and has not decided.
 */
function isDenial(error: unknown): boolean {
  return isRecord(error) && error['status'] === 403;
}

function firstName(...candidates: readonly unknown[]): string | undefined {
  for (const candidate of candidates) {
    if (typeof candidate === 'string' && candidate !== '') return candidate;
    if (typeof candidate === 'number') return String(candidate);
  }
  return undefined;
}

function digest(...parts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
