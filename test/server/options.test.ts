import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { resolveServerConfig } from '../../src/server/options.ts';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { isMCPError } from '../../src/shared/errors.ts';
import { verifies } from '../requirements/requirements.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const minimal = { name: 's', version: '1.0.0' };

function wrongOption(config: unknown): string | undefined {
  try {
    // Constructed for real: what counts is that no server comes of it.
    // oxlint-disable-next-line no-new
    new MCPServer(config as MCPServerConfig);
  } catch (error) {
    if (!isMCPError(error)) throw error;
    if (error.code !== 'MCP_SERVER_CONFIGURATION_INVALID') throw error;
    expect(error.message).toContain(JSON.stringify(error.option));
    return error.option;
  }
  return undefined;
}

const callbacks = { listResources: () => [], getResourceContent: () => undefined, listPrompts: () => [] };

const wrong: readonly (readonly [option: string, config: Record<string, unknown>])[] = [
  ['name', { name: '' }],
  ['name', { name: undefined }],
  ['version', { version: 2 }],
  ['version', { version: ' ' }],
  ['id', { id: '' }],
  ['id', { id: 7 }],
  ['description', { description: 7 }],
  ['instructions', { instructions: ['x'] }],
  ['tools', { tools: [] }],
  ['tools', { tools: 'x' }],
  ['tools', { tools: { '': {} } }],
  ['tools.a', { tools: { a: null } }],
  ['tools.a', { tools: { a: () => 1 } }],
  ['agents', { agents: [] }],
  ['agents.a', { agents: { a: {} } }],
  ['workflows', { workflows: 1 }],
  ['workflows.w', { workflows: { w: { start: () => 1 } } }],
  ['toolApproval', { toolApproval: 'ask' }],
  ['toolApproval', { toolApproval: true }],
  ['agentOutput', { agentOutput: 'all' }],
  ['askTimeoutMs', { askTimeoutMs: 0 }],
  ['askTimeoutMs', { askTimeoutMs: Infinity }],
  ['askTimeoutMs', { askTimeoutMs: '5m' }],
  ['mapAuthInfoToUser', { mapAuthInfoToUser: {} }],
  ['fga', { fga: 'x' }],
  ['fga.resourceMapping', { fga: { resourceMapping: 'x' } }],
  ['fga.resourceMapping.agent', { fga: { resourceMapping: { agent: { fgaResourceType: 'a' } } } }],
  ['fga.resourceMapping.tool', { fga: { resourceMapping: { tool: 'team' } } }],
  ['fga.resourceMapping.tool.fgaResourceType', { fga: { resourceMapping: { tool: {} } } }],
  [
    'fga.resourceMapping.tools.deriveId',
    { fga: { resourceMapping: { tools: { fgaResourceType: 'team', deriveId: 'x' } } } },
  ],
  ['fga.permissionMapping', { fga: { permissionMapping: ['x'] } }],
  ['fga.permissionMapping.tools:execute', { fga: { permissionMapping: { 'tools:execute': 1 } } }],
  ['repository', { repository: 'https://example.com' }],
  ['repository.source', { repository: { url: 'https://example.com', id: '1' } }],
  ['releaseDate', { releaseDate: 'yesterday' }],
  ['releaseDate', { releaseDate: new Date() }],
  ['isLatest', { isLatest: 'yes' }],
  ['packageCanonical', { packageCanonical: '' }],
  ['packages', { packages: {} }],
  ['packages.0.version', { packages: [{ registry_name: 'npm', name: 'x' }] }],
  ['remotes.1', { remotes: [{ transport_type: 'sse', url: 'https://e.example' }, 'x'] }],
  ['allowedHosts', { allowedHosts: 'example.com' }],
  ['allowedHosts', { allowedHosts: [''] }],
  ['allowedOrigins', { allowedOrigins: [1] }],
  ['cors', { cors: true }],
  ['cors.origins', { cors: {} }],
  ['cors.credentials', { cors: { origins: '*', credentials: true } }],
  ['cors.maxAgeSeconds', { cors: { origins: [], maxAgeSeconds: -1 } }],
  ['limits', { limits: 5 }],
  ['limits.maxBodyBytes', { limits: { maxBodyBytes: '4mb' } }],
  ['limits.bodyTimeoutMs', { limits: { bodyTimeoutMs: 0 } }],
  ['limits.maxJsonDepth', { limits: { maxJsonDepth: NaN } }],
  ['limits.maxBatch', { limits: { maxBatch: -1 } }],
  ['limits.maxSessions', { limits: { maxSessions: 0 } }],
  ['limits.maxSessionsPerUser', { limits: { maxSessionsPerUser: 'two' } }],
  ['limits.sessionIdleMs', { limits: { sessionIdleMs: null } }],
  ['limits.maxStreamBacklog', { limits: { maxStreamBacklog: 10 } }],
  ['limits.maxStreamBacklog.bytes', { limits: { maxStreamBacklog: { bytes: 0 } } }],
  ['keepAliveMs', { keepAliveMs: -1 }],
  ['resources', { resources: 'x' }],
  ['resources', { resources: [() => []] }],
  ['resources.listResources', { resources: {} }],
  ['resources.listResources', { resources: { ...callbacks, listResources: [] } }],
  ['resources.getResourceContent', { resources: { listResources: () => [] } }],
  ['resources.resourceTemplates', { resources: { ...callbacks, resourceTemplates: [] } }],
  ['prompts', { prompts: [] }],
  ['prompts.listPrompts', { prompts: {} }],
  ['prompts.getPromptMessages', { prompts: { ...callbacks, getPromptMessages: {} } }],
  ['completions', { completions: () => [] }],
  ['completions.complete', { completions: {} }],
  ['appResources', { appResources: [] }],
  ['appResources.main', { appResources: { main: { name: 'x', html: '' } } }],
  ['appResources.ui://x.name', { appResources: { 'ui://x': { html: '' } } }],
  ['appResources.ui://x', { appResources: { 'ui://x': { name: 'x' } } }],
];

describe('wrong options', () => {
  test.each(wrong)('%s is named by a typed error at construction: %j', (option, config) => {
    expect(wrongOption({ ...minimal, ...config })).toBe(option);
  });

  test('a config that is no object is refused', () => {
    expect(wrongOption(undefined)).toBe('config');
    expect(wrongOption('server')).toBe('config');
  });
});

describe('defaults', () => {
  verifies(['S132', 'X33'], 'asks for a name and a version, and for nothing else', () => {
    const server = new MCPServer(minimal);
    expect(server.tools()).toEqual({});
    expect(server.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  verifies('D12', 'fills in every default, so that nothing is optional afterwards', () => {
    const resolved = resolveServerConfig(minimal);
    expect(resolved).toMatchObject({ toolApproval: 'elicit', agentOutput: 'text', askTimeoutMs: 300_000 });
    expect(resolved.http.limits.maxSessions).toBe(10_000);
    expect(resolved.core.tools).toEqual({});
  });

  test('names an option that does not exist', () => {
    expect(() => new MCPServer({ ...minimal, toolAproval: 'run' } as never)).toThrow('"toolAproval"');
  });

  test('accepts an explicit undefined for every option', () => {
    const keys = ['id', 'description', 'instructions', 'tools', 'agents', 'workflows', 'toolApproval'];
    const more = ['agentOutput', 'askTimeoutMs', 'mapAuthInfoToUser', 'fga', 'repository', 'releaseDate'];
    const rest = ['isLatest', 'packageCanonical', 'packages', 'remotes', 'allowedHosts', 'cors', 'limits'];
    const capabilities = ['resources', 'prompts', 'appResources', 'completions'];
    const all = [...keys, ...more, ...rest, ...capabilities];
    const config = Object.fromEntries(all.map(key => [key, undefined]));
    const server = new MCPServer({ ...minimal, ...config });
    expect(server.isLatest).toBe(true);
    expect(Number.isNaN(Date.parse(server.releaseDate))).toBe(false);
  });

  test('accepts real tools and agents, and does not hold on to the objects they came in', () => {
    const tools = { a: createTool({ id: 'a', description: 'A', execute: async () => 1 }) };
    const { model } = scriptedModel([{ text: 'x' }]);
    const helper = new Agent({ id: 'h', name: 'h', description: 'helps', instructions: 'x', model });
    const server = new MCPServer({ ...minimal, tools, agents: { helper } });
    delete (tools as Partial<typeof tools>).a;
    expect(Object.keys(server.tools())).toEqual(['a', 'ask_helper']);
  });
});
