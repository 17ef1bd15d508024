import type { ToolsInput } from '@mastra/core/agent';
import { FGADeniedError } from '@mastra/core/auth/ee';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ANONYMOUS, principalOf } from '../../src/server/calls/authorization.ts';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch } from './call-harness.ts';

describe('the identity behind authInfo', () => {
  const token = { token: 't1', scopes: [] };
  const subject = { ...token, clientId: 'c', extra: { issuer: 'i', subject: 's' } };

  verifies(['D12', 'S6'], 'is issuer, subject and client; the token does not matter then', () => {
    expect(principalOf(subject)).toBe(principalOf({ ...subject, token: 't2', scopes: ['x'], expiresAt: 1 }));
    const others = [
      { ...subject, extra: { issuer: 'other', subject: 's' } },
      { ...subject, extra: { issuer: 'i', subject: 'other' } },
      { ...subject, clientId: 'other' },
      { ...subject, extra: { subject: 's' } },
    ];
    expect(new Set([subject, ...others].map(principalOf)).size).toBe(5);
  });

  verifies('D12', 'takes the subject wherever it is kept', () => {
    const found = [{ subject: 'u' }, { sub: 'u' }, { userId: 'u' }, { user: { id: 'u' } }].map(extra =>
      principalOf({ ...token, clientId: 'c', extra }),
    );
    expect(new Set(found).size).toBe(1);
    expect(principalOf({ ...token, clientId: 'c', extra: { userId: 7 } })).not.toBe(found[0]);
  });

  verifies(
    'D12',
    'is the client without a subject, the token without a client, nobody without either',
    () => {
      expect(principalOf({ ...token, clientId: 'c' })).toBe(principalOf({ token: 't2', clientId: 'c' }));
      expect(principalOf(token)).not.toBe(principalOf({ ...token, token: 't2' }));
      expect(principalOf(token)).not.toBe(principalOf({ clientId: 't1' }));
      for (const nobody of [undefined, null, {}, 'x', { clientId: '' }])
        expect(principalOf(nobody)).toBe(ANONYMOUS);
    },
  );

  verifies('S6', 'tells nothing about what it was made of', () => {
    for (const known of [token, subject]) expect(principalOf(known)).toMatch(/^[0-9a-f]{64}$/);
  });
});

interface Check {
  readonly user: unknown;
  readonly resource: unknown;
  readonly permission: unknown;
  readonly context: Record<string, unknown>;
}

function provider(isAllowed: (check: Check) => boolean) {
  const checks: Check[] = [];
  const require = async (user: unknown, params: Omit<Check, 'user'>): Promise<void> => {
    const check = { user, ...params };
    checks.push(check);
    if (!isAllowed(check))
      throw new FGADeniedError(user, params.resource as never, params.permission as never);
  };
  const fga = { check: async () => false, require, filterAccessible: async () => [] };
  return { checks, fga: fga as never };
}

const echo = (id: string) =>
  createTool({
    id,
    description: id,
    inputSchema: z.object({ n: z.number() }),
    execute: async (_input, { requestContext }) => requestContext.get<string, unknown>('user'),
  });

const tools: ToolsInput = { open: echo('open-id'), closed: echo('closed-id') };

function serve(isAllowed: (check: Check) => boolean, more: Partial<MCPServerConfig> = {}) {
  const { checks, fga } = provider(isAllowed);
  const server = new MCPServer({ id: 'srv', name: 'Server', version: '1.0.0', tools, ...more });
  const warnings: string[] = [];
  const mastra = new Mastra({ mcpServers: { server }, server: { fga }, logger: false });
  const logger = { ...console, warn: (message: string) => warnings.push(message), debug() {}, error() {} };
  server.__setLogger(logger as never);
  return { server, checks, mastra, warnings };
}

const idOf = (name: string): string => JSON.stringify(['srv', name]);
const withUser = { authInfo: { token: 't', clientId: 'c', scopes: [], extra: { user: { id: 'u1' } } } };

describe('FGA', () => {
  const onlyOpen = ({ resource }: Check): boolean => (resource as { id: string }).id === idOf('open');

  verifies(
    'D11',
    'lists what the user may use, and answers a denied tool like an unknown one (S233)',
    async () => {
      const { server } = serve(onlyOpen);
      await using caller = await callByFetch(server, { facts: withUser });
      expect((await caller.client.listTools()).tools.map(({ name }) => name)).toEqual(['open']);
      expect(await caller.text('open', { n: 1 })).toBe('{"id":"u1"}');
      const denied = await caller.call('closed', { n: 1 }).catch((error: Error) => error);
      const unknown = await caller.call('nowhere', { n: 1 }).catch((error: Error) => error);
      expect(denied).toMatchObject({ code: -32602, message: 'MCP error -32602: Unknown tool: closed' });
      expect(unknown).toMatchObject({ code: -32602, message: 'MCP error -32602: Unknown tool: nowhere' });
      await server.close();
    },
  );

  verifies('D11', 'is asked exactly once per call, with the name of server and tool', async () => {
    const { server, checks } = serve(() => true);
    await using caller = await callByFetch(server, { facts: withUser });
    await caller.call('open', { n: 1 });
    expect(checks).toEqual([
      {
        user: { id: 'u1' },
        resource: { type: 'tool', id: idOf('open') },
        permission: 'tools:execute',
        context: {
          resourceId: idOf('open'),
          requestContext: expect.any(RequestContext),
          metadata: { mcpServerId: 'srv', mcpServerName: 'Server', toolId: 'open' },
        },
      },
    ]);
    await server.close();
  });

  verifies('D11', 'is asked before arguments are validated, so that nobody can probe a schema', async () => {
    const { server } = serve(onlyOpen);
    await using caller = await callByFetch(server, { facts: withUser });
    await expect(caller.call('closed', { n: 'x' })).rejects.toMatchObject({ code: -32602 });
    await server.close();
  });

  verifies('D11', 'is asked with the names this server maps to (S140)', async () => {
    const { server, checks } = serve(() => true, {
      fga: {
        resourceMapping: {
          tool: {
            fgaResourceType: 'team',
            deriveId: ({ user, resourceId }) =>
              resourceId === idOf('open') ? `team-of-${(user as { id: string }).id}` : undefined,
          },
        },
        permissionMapping: { 'tools:execute': 'can-run' },
      },
    });
    await using caller = await callByFetch(server, { facts: withUser });
    await caller.client.listTools();
    expect(checks.map(({ resource, permission }) => [resource, permission])).toEqual([
      [{ type: 'team', id: 'team-of-u1' }, 'can-run'],
      [{ type: 'team', id: idOf('closed') }, 'can-run'],
    ]);
    await server.close();
  });

  test('without a user lists nothing and denies everything, with one warning that says what to set (B91)', async () => {
    const { server, checks, warnings } = serve(() => true);
    await using caller = await callByFetch(server);
    expect((await caller.client.listTools()).tools).toEqual([]);
    await expect(caller.call('open', { n: 1 })).rejects.toMatchObject({ code: -32602 });
    expect(checks).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('mapAuthInfoToUser')]);
    await server.close();
  });

  test('uses the user that mapAuthInfoToUser makes of authInfo (S139)', async () => {
    const mapAuthInfoToUser = vi.fn(async ({ authInfo }: { authInfo: unknown }) => ({
      id: `mapped-${(authInfo as { clientId: string }).clientId}`,
    }));
    const { server, checks } = serve(() => true, { mapAuthInfoToUser });
    await using caller = await callByFetch(server, { facts: withUser });
    await caller.call('open', { n: 1 });
    expect(checks[0]?.user).toEqual({ id: 'mapped-c' });
    expect(mapAuthInfoToUser).toHaveBeenCalledWith({
      authInfo: withUser.authInfo,
      extra: expect.objectContaining({ requestId: expect.anything() }),
      requestContext: expect.any(RequestContext),
    });
    await server.close();
  });

  test('a mapper that gives nothing, or throws, means no user (S139, B91)', async () => {
    for (const mapper of [
      () => null,
      () => undefined,
      () => Promise.reject(new Error('directory is down')),
    ]) {
      const { server, checks } = serve(() => true, { mapAuthInfoToUser: mapper });
      await using caller = await callByFetch(server, { facts: withUser });
      expect((await caller.client.listTools()).tools).toEqual([]);
      expect(checks).toEqual([]);
      await server.close();
    }
  });

  test('a user that the host put into the request context counts as it is', async () => {
    const mapAuthInfoToUser = vi.fn(() => ({ id: 'mapped' }));
    const { server, checks } = serve(() => true, { mapAuthInfoToUser });
    const requestContext = new RequestContext();
    requestContext.set('user', { id: 'host' });
    await server.executeTool('open', { n: 1 }, { requestContext });
    expect(checks[0]?.user).toEqual({ id: 'host' });
    expect(mapAuthInfoToUser).not.toHaveBeenCalled();
  });

  test('the host’s own call without a user is denied, and not mapped', async () => {
    const mapAuthInfoToUser = vi.fn(() => ({ id: 'mapped' }));
    const { server, checks } = serve(() => true, { mapAuthInfoToUser });
    await expect(server.executeTool('open', { n: 1 })).rejects.toMatchObject({ details: { status: 403 } });
    expect([checks.length, mapAuthInfoToUser.mock.calls.length]).toEqual([0, 0]);
  });

  verifies(['D11', 'S181'], 'tells the host’s own call apart: denied has the status 403', async () => {
    const { server } = serve(onlyOpen);
    const requestContext = new RequestContext();
    requestContext.set('user', { id: 'u1' });
    await expect(server.executeTool('closed', { n: 1 }, { requestContext })).rejects.toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_FAILED',
      details: { status: 403 },
      mayHaveExecuted: false,
      cause: { code: 'MCP_SERVER_ACCESS_DENIED', details: { status: 403 } },
    });
  });

  verifies('S179', 'filters the host’s listing by the user of the request context', async () => {
    const { server } = serve(onlyOpen);
    const requestContext = new RequestContext();
    requestContext.set('user', { id: 'u1' });
    const { tools: listed } = await server.getToolListInfo(requestContext);
    expect(listed.map(({ name }) => name)).toEqual(['open']);
    expect(await server.getToolListInfo()).toEqual({ tools: [] });
    expect(server.getToolInfo('closed')?.name).toBe('closed');
  });

  verifies('S233', 'stops asking a provider that has failed: the list is lost anyway', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`tool${n}`, echo(`id${n}`)]));
    let asked = 0;
    const { server } = serve(
      () => {
        asked += 1;
        if (asked > 20) throw new Error('too many requests');
        return true;
      },
      { tools: many },
    );
    await using caller = await callByFetch(server, { facts: withUser });
    await expect(caller.client.listTools()).rejects.toMatchObject({ code: -32603 });
    await caller.client.ping();
    // At most those that were on their way: 16 at a time.
    expect(asked).toBeLessThanOrEqual(20 + 16);
    await server.close();
  });

  test('a provider that fails is an internal error, not a denial, and says nothing to the client (S233)', async () => {
    const { server } = serve(() => {
      throw new Error('fga.internal:5432 refused');
    });
    await using caller = await callByFetch(server, { facts: withUser });
    const answer = { code: -32603, message: 'MCP error -32603: Internal error' };
    await expect(caller.client.listTools()).rejects.toMatchObject(answer);
    await expect(caller.call('open', { n: 1 })).rejects.toMatchObject(answer);
    await server.close();
  });
});

describe('without an FGA provider', () => {
  verifies('D11', 'everybody may use everything, and the user is there for the tools', async () => {
    const server = new MCPServer({ name: 's', version: '1', tools });
    new Mastra({ mcpServers: { server }, logger: false });
    await using caller = await callByFetch(server, { facts: withUser });
    expect((await caller.client.listTools()).tools).toHaveLength(2);
    expect(await caller.text('closed', { n: 1 })).toBe('{"id":"u1"}');
    await server.close();
  });
});
