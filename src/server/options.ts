/**
 * What users may set on an MCPServer, and the settings the server works with.
 *
 * Owns the public option types, every check and every default of the constructor. HTTP options are resolved by
 * http/http-options.ts. Past `resolveServerConfig` nobody handles an absent option.
 */
import type { Agent, ToolsInput } from '@mastra/core/agent';
import type {
  MCPAuthInfoToUserMapper,
  MCPServerConfig as CoreServerConfig,
  MCPServerFGAConfig,
  MCPServerHonoSSEOptions,
  MCPServerHTTPOptions,
  MCPServerSSEOptions,
  PackageInfo,
  RemoteInfo,
  Repository,
} from '@mastra/core/mcp';
import type { Workflow } from '@mastra/core/workflows';
import { MCPConfigurationError } from '../shared/errors.ts';
import type { AgentOutput } from './calls/agents-as-tools.ts';
import type { AnyRequestContext } from './calls/call-context.ts';
import { resolveAppResources } from './capabilities/app-resources.ts';
import type { AppResources, ServedApp } from './capabilities/app-resources.ts';
import type { MCPServerCompletions } from './capabilities/completions.ts';
import type { MCPServerPrompts } from './capabilities/prompts.ts';
import type { MCPServerResources } from './capabilities/resources.ts';
import { resolveHTTPSecurity } from './http/http-options.ts';
import type {
  HTTPSettings,
  MCPServerHTTPSecurityOptions,
  StreamableHTTPServerTransportOptions,
} from './http/http-options.ts';
import type { ListenOptions } from './http/listen.ts';
import type { MCPServerListenOAuthOptions } from './oauth/oauth-options.ts';

/** Options of the MCPServer constructor. */
export interface MCPServerConfig<TId extends string = string> extends MCPServerHTTPSecurityOptions {
  /** Name of the server, as clients and log messages show it. */
  readonly name: string;
  /** Version of the server, e.g. `1.2.0`. */
  readonly version: string;
  /** Unique id; final once given. @defaultValue a UUID, which Mastra replaces by the key the server is registered under */
  readonly id?: TId | undefined;
  /** What the server is for. */
  readonly description?: string | undefined;
  /** How to use the server; sent to clients when they connect, and possibly put into a model's prompt. */
  readonly instructions?: string | undefined;
  /** Tools by the name under which clients call them: Mastra tools or tools of the AI SDK. @defaultValue none */
  readonly tools?: ToolsInput | undefined;
  /** Agents, each served as a tool `ask_<key>`. Each needs a description. */
  readonly agents?: Readonly<Record<string, Agent>> | undefined;
  /** Workflows, each served as a tool `run_<key>`. Each needs a description. */
  readonly workflows?: Readonly<Record<string, Workflow>> | undefined;
  /** Resources that clients can list, read and subscribe to. */
  readonly resources?: MCPServerResources | undefined;
  /** Prompts that clients can list and fill in. */
  readonly prompts?: MCPServerPrompts | undefined;
  /** Pages of MCP Apps by their `ui://` URI. A tool shows one by `mcp._meta.ui.resourceUri`. */
  readonly appResources?: AppResources | undefined;
  /** Suggestions for arguments of prompts and variables of resource templates. */
  readonly completions?: MCPServerCompletions | undefined;
  /**
   * What a tool that needs approval does when a client calls it: `'elicit'` asks the user through the client, and refuses
   * where that is not possible; `'run'` runs it at once. The host's own `executeTool` always runs.
   *
   * @defaultValue 'elicit'
   */
  readonly toolApproval?: 'elicit' | 'run' | undefined;
  /**
   * What clients get of an agent's answer: `'text'` its text, `'full'` the whole result of `generate` beside it, which
   * includes the conversation and what the agent's tools returned.
   *
   * @defaultValue 'text'
   */
  readonly agentOutput?: AgentOutput | undefined;
  /** Milliseconds a question to the user (elicitation, approval) may wait for its answer. @defaultValue 5 minutes */
  readonly askTimeoutMs?: number | undefined;
  /**
   * Makes the `user` that FGA checks, tools and callbacks see from what the HTTP layer found out. Not called when the request
   * context has a `user` already. Nothing, or an error, means no user.
   *
   * @defaultValue `authInfo.extra.user`
   */
  readonly mapAuthInfoToUser?: MCPAuthInfoToUserMapper | undefined;
  /** Resource and permission names of this server's FGA checks. Needs an FGA provider on the Mastra instance. */
  readonly fga?: MCPServerFGAConfig | undefined;
  /** Where the source code is. */
  readonly repository?: Repository | undefined;
  /** ISO 8601 date of this version. @defaultValue the time of construction */
  readonly releaseDate?: string | undefined;
  /** @defaultValue true */
  readonly isLatest?: boolean | undefined;
  /** How the server is packaged, e.g. `npm` or `docker`. */
  readonly packageCanonical?: string | undefined;
  readonly packages?: PackageInfo[] | undefined;
  readonly remotes?: RemoteInfo[] | undefined;
}

/** What the caller of `fetch` knows about a request. */
export interface MCPServerFetchOptions {
  /** Who calls, as a token check found out; tools see it as `context.mcp.extra.authInfo`. */
  readonly authInfo?: unknown;
  /** Values for this request; tools get a copy. */
  readonly requestContext?: AnyRequestContext | undefined;
  readonly options?: StreamableHTTPServerTransportOptions | undefined;
}

/** Options of `startHTTP`. */
export interface MCPServerStartHTTPOptions extends MCPServerHTTPOptions {
  options?: StreamableHTTPServerTransportOptions;
}

/** Options of `startSSE`. */
export interface MCPServerStartSSEOptions extends MCPServerSSEOptions {
  options?: MCPServerHTTPSecurityOptions;
}

/** Options of `startHonoSSE`. */
export interface MCPServerStartHonoSSEOptions extends MCPServerHonoSSEOptions {
  options?: MCPServerHTTPSecurityOptions;
}

/** Options of `listen`. */
export interface MCPServerListenOptions extends ListenOptions {
  /** Requests need a token of these authorization servers. @defaultValue none */
  readonly oauth?: MCPServerListenOAuthOptions | undefined;
  /** What every request is handled with, as in `startHTTP`. */
  readonly options?: StreamableHTTPServerTransportOptions | undefined;
}

/** Tools that come and go while the server runs. */
export interface ToolActions {
  /** Adds tools by key, replacing those that exist, and tells every client. */
  add(tools: ToolsInput): Promise<void>;
  /** Removes tools by key, else by their own id where only one has it, and tells every client. Ignores unknown ones. */
  remove(toolIds: string[]): Promise<void>;
  /** Only tells every client that the list changed. */
  notifyListChanged(): Promise<void>;
}

/** What the server works with. */
export interface ResolvedServerConfig<TId extends string = string> {
  /** For the constructor of core's base class. */
  readonly core: CoreServerConfig<TId>;
  readonly toolApproval: 'elicit' | 'run';
  readonly agentOutput: AgentOutput;
  readonly askTimeoutMs: number;
  readonly resources: MCPServerResources | undefined;
  readonly prompts: MCPServerPrompts | undefined;
  readonly apps: ReadonlyMap<string, ServedApp>;
  readonly completions: MCPServerCompletions | undefined;
  readonly mapAuthInfoToUser: MCPAuthInfoToUserMapper | undefined;
  readonly fga: MCPServerFGAConfig | undefined;
  readonly http: HTTPSettings;
}

const ASK_TIMEOUT_MS = 5 * 60_000;
/** Longer timers fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const OPTIONS: ReadonlySet<string> = new Set(
  (
    'id name version description instructions repository releaseDate isLatest packageCanonical packages remotes ' +
    'tools agents workflows resources prompts appResources completions toolApproval agentOutput askTimeoutMs mapAuthInfoToUser fga ' +
    'allowedHosts allowedOrigins cors limits keepAliveMs'
  ).split(' '),
);

/**
 * Checks every option of the constructor and fills in the defaults.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the option.
 */
export function resolveServerConfig<TId extends string>(
  config: MCPServerConfig<TId>,
): ResolvedServerConfig<TId> {
  if (!isRecord(config)) invalid('config', 'must be an object');
  for (const [option, value] of Object.entries(config)) {
    if (value !== undefined && !OPTIONS.has(option)) invalid(option, 'is not an option of MCPServer');
  }
  assertIdentity(config);
  assertRegistryInfo(config);
  assertTools('tools', config.tools ?? {});
  assertRecord('agents', config.agents, isAgent, 'must be an Agent');
  assertRecord('workflows', config.workflows, isWorkflow, 'must be a Workflow');
  assertCallbacks(
    'resources',
    config.resources,
    ['listResources', 'getResourceContent'],
    ['resourceTemplates'],
  );
  assertCallbacks('prompts', config.prompts, ['listPrompts'], ['getPromptMessages']);
  assertCallbacks('completions', config.completions, ['complete']);
  assertObject('appResources', config.appResources);
  assertFunction('mapAuthInfoToUser', config.mapAuthInfoToUser);
  assertFga(config.fga);
  assertObject('cors', config.cors);
  assertObject('limits', config.limits);
  assertObject('limits.maxStreamBacklog', Reflect.get(Object(config.limits), 'maxStreamBacklog'));
  return {
    core: toCoreConfig(config),
    toolApproval: oneOf('toolApproval', config.toolApproval, ['elicit', 'run']),
    agentOutput: oneOf('agentOutput', config.agentOutput, ['text', 'full']),
    askTimeoutMs: milliseconds('askTimeoutMs', config.askTimeoutMs, ASK_TIMEOUT_MS),
    resources: config.resources,
    prompts: config.prompts,
    apps: resolveAppResources(config.appResources ?? {}),
    completions: config.completions,
    mapAuthInfoToUser: config.mapAuthInfoToUser,
    fga: config.fga,
    http: resolveHTTPSecurity(config),
  };
}

/**
 * Checks a set of tools, as the constructor and `toolActions.add` take it.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the tool.
 */
export function assertTools(option: string, tools: unknown): void {
  assertRecord(option, tools, isRecord, 'must be a tool');
}

function toCoreConfig<TId extends string>(config: MCPServerConfig<TId>): CoreServerConfig<TId> {
  const { name, version, id, description, instructions, agents, workflows } = config;
  const { repository, releaseDate, isLatest, packageCanonical, packages, remotes } = config;
  return {
    name,
    version,
    // A copy: tools that come and go later are the server's, not the caller's.
    tools: { ...config.tools },
    ...(id === undefined ? {} : { id }),
    ...(description === undefined ? {} : { description }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(agents === undefined ? {} : { agents: { ...agents } }),
    ...(workflows === undefined ? {} : { workflows: { ...workflows } }),
    ...(repository === undefined ? {} : { repository }),
    ...(releaseDate === undefined ? {} : { releaseDate }),
    ...(isLatest === undefined ? {} : { isLatest }),
    ...(packageCanonical === undefined ? {} : { packageCanonical }),
    ...(packages === undefined ? {} : { packages }),
    ...(remotes === undefined ? {} : { remotes }),
  };
}

function assertIdentity(config: MCPServerConfig): void {
  assertText('name', config.name);
  assertText('version', config.version);
  if (config.id !== undefined) assertText('id', config.id);
  for (const option of ['description', 'instructions'] as const) {
    if (config[option] !== undefined && typeof config[option] !== 'string')
      invalid(option, 'must be a string');
  }
}

function assertRegistryInfo(config: MCPServerConfig): void {
  const { repository, releaseDate, isLatest, packageCanonical, packages, remotes } = config;
  if (repository !== undefined) assertTexts('repository', repository, ['url', 'source', 'id']);
  if (
    releaseDate !== undefined &&
    (typeof releaseDate !== 'string' || Number.isNaN(Date.parse(releaseDate)))
  ) {
    invalid('releaseDate', 'must be an ISO 8601 date');
  }
  if (isLatest !== undefined && typeof isLatest !== 'boolean') invalid('isLatest', 'must be true or false');
  if (packageCanonical !== undefined) assertText('packageCanonical', packageCanonical);
  assertList('packages', packages, ['registry_name', 'name', 'version']);
  assertList('remotes', remotes, ['transport_type', 'url']);
}

function assertFga(fga: unknown): void {
  if (fga === undefined) return;
  if (!isRecord(fga)) invalid('fga', 'must be an object');
  const { resourceMapping, permissionMapping } = fga;
  assertObject('fga.resourceMapping', resourceMapping);
  for (const [kind, entry] of Object.entries(Object(resourceMapping))) {
    const path = `fga.resourceMapping.${kind}`;
    if (kind !== 'tool' && kind !== 'tools') invalid(path, 'is unknown; only "tool" and "tools" are mapped');
    if (!isRecord(entry)) invalid(path, 'must be an object');
    assertText(`${path}.fgaResourceType`, entry['fgaResourceType']);
    assertFunction(`${path}.deriveId`, entry['deriveId']);
  }
  assertRecord('fga.permissionMapping', permissionMapping, isText, 'must be a non-empty string');
}

function assertList(option: string, list: unknown, keys: readonly string[]): void {
  if (list === undefined) return;
  if (!Array.isArray(list)) invalid(option, 'must be an array');
  list.forEach((entry, index) => assertTexts(`${option}.${index}`, entry, keys));
}

function assertTexts(option: string, value: unknown, keys: readonly string[]): void {
  if (!isRecord(value)) invalid(option, 'must be an object');
  for (const key of keys) assertText(`${option}.${key}`, value[key]);
}

function assertRecord(
  option: string,
  record: unknown,
  isEntry: (entry: unknown) => boolean,
  problem: string,
): void {
  if (record === undefined) return;
  if (!isRecord(record)) invalid(option, 'must be an object');
  for (const [key, entry] of Object.entries(record)) {
    if (key.trim() === '') invalid(option, 'must not have an empty key');
    if (!isEntry(entry)) invalid(`${option}.${key}`, problem);
  }
}

function assertObject(option: string, value: unknown): void {
  if (value !== undefined && !isRecord(value)) invalid(option, 'must be an object');
}

function assertText(option: string, value: unknown): void {
  if (!isText(value)) invalid(option, 'must be a non-empty string');
}

function assertCallbacks(
  option: string,
  callbacks: unknown,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  if (callbacks === undefined) return;
  if (!isRecord(callbacks)) invalid(option, 'must be an object');
  for (const name of required) {
    if (typeof callbacks[name] !== 'function') invalid(`${option}.${name}`, 'must be a function');
  }
  for (const name of optional) assertFunction(`${option}.${name}`, callbacks[name]);
}

function assertFunction(option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') invalid(option, 'must be a function');
}

function oneOf<const T extends string>(
  option: string,
  value: T | undefined,
  choices: readonly [T, ...T[]],
): T {
  if (value === undefined) return choices[0];
  if (!choices.includes(value))
    invalid(option, `must be one of ${choices.map(choice => `'${choice}'`).join(', ')}`);
  return value;
}

function milliseconds(option: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !(value > 0 && value <= MAX_TIMEOUT_MS)) {
    invalid(option, `must be a number of milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  }
  return value;
}

function isAgent(value: unknown): boolean {
  return hasMethods(value, ['generate', 'getDescription']);
}

function isWorkflow(value: unknown): boolean {
  return hasMethods(value, ['createRun']);
}

/** Two copies of core may be loaded, so classes say nothing about what a value is. */
function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every(name => typeof value[name] === 'function');
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(option: string, problem: string): never {
  throw new MCPConfigurationError('server', option, problem);
}
