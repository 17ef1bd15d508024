/**
 * Checks what a user configured and fills every default; the one place that handles `undefined` and old spellings.
 *
 * A wrong or unknown option throws, naming its path. Does not connect and reads no environment.
 */
import { MCPConfigurationError } from '../shared/errors.ts';
import { jsonSchemaValidator } from '../shared/schema.ts';
import type {
  HttpServerDefinition,
  MastraMCPServerDefinition,
  MCPClientOptions,
  ResolvedClientOptions,
  ResolvedHttpServer,
  ResolvedServerBase,
  ResolvedServerDefinition,
  StdioServerDefinition,
  ToolFilter,
} from './options.ts';

/** Says what is wrong with a value, or nothing. */
type Check = (value: unknown) => string | undefined;

const is =
  (kind: string, test: (value: unknown) => boolean): Check =>
  value =>
    test(value) ? undefined : `must be ${kind}`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

const isDigest = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

const filledText = is(
  'a non-empty string without NUL characters',
  value => isText(value) && value.trim() !== '',
);
const flag = is('a boolean', value => typeof value === 'boolean');
const callback = is('a function', value => typeof value === 'function');
const record = is('an object', isRecord);
const texts = is(
  'an array of strings without NUL characters',
  value => Array.isArray(value) && value.every(isText),
);
const duration = is(
  'a number of milliseconds from 1 to 2147483647',
  value => typeof value === 'number' && value >= 1 && value <= 0x7fff_ffff,
);
const count = is('a positive integer', value => Number.isSafeInteger(value) && Number(value) > 0);
const oneOf = (...values: readonly string[]): Check =>
  is(`one of ${values.map(value => JSON.stringify(value)).join(', ')}`, value =>
    values.includes(value as string),
  );

const patterns = is('an array of strings and regular expressions', value => {
  return Array.isArray(value) && value.every(item => typeof item === 'string' || item instanceof RegExp);
});
const filter: Check = value => {
  if (!isRecord(value)) return 'must be an object with include, exclude or both';
  for (const [key, list] of Object.entries(value)) {
    if (key !== 'include' && key !== 'exclude') return `has an unknown key ${JSON.stringify(key)}`;
    if (list !== undefined && patterns(list) !== undefined)
      return `must have as ${key} ${patterns(list)?.slice(8)}`;
  }
  return undefined;
};
const variables = is('an object whose values are strings without NUL characters', value => {
  return isRecord(value) && Object.values(value).every(isText);
});
const fileRoots = is('an array of roots whose uri starts with file://', value => {
  return (
    Array.isArray(value) &&
    value.every(
      root => isRecord(root) && typeof root['uri'] === 'string' && root['uri'].startsWith('file://'),
    )
  );
});
const sessionId = is(
  'a string of 1 to 512 visible ASCII characters',
  value => typeof value === 'string' && /^[\x21-\x7e]{1,512}$/.test(value),
);
const httpUrl: Check = value => {
  const href = value instanceof URL ? value.href : value;
  if (typeof href !== 'string' || !URL.canParse(href)) return 'must be a URL or a string that is one';
  const { protocol, username, password } = new URL(href);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must start with http: or https:';
  // `fetch` refuses such a URL, and it would end up in logs.
  return username === '' && password === ''
    ? undefined
    : 'must not hold credentials; use requestInit.headers';
};

const commonChecks: Readonly<Record<string, Check>> = {
  enabled: flag,
  logger: callback,
  log: callback,
  timeout: duration,
  maxTotalTimeout: duration,
  connectTimeout: duration,
  resetTimeoutOnProgress: flag,
  enableProgressTracking: flag,
  retryAnnotatedTools: flag,
  capabilities: record,
  roots: fileRoots,
  enableServerLogs: flag,
  forwardInstructions: flag,
  instructionsMaxLength: is(
    'an integer of at least 0',
    value => Number.isSafeInteger(value) && Number(value) >= 0,
  ),
  requireToolApproval: is(
    'a boolean or a function',
    value => typeof value === 'boolean' || typeof value === 'function',
  ),
  onToolError: oneOf('throw', 'return'),
  onToolChanged: oneOf('allow', 'block'),
  pinnedTools: is(
    'an object whose values are digests: 64 lower-case hexadecimal digits',
    value => isRecord(value) && Object.values(value).every(isDigest),
  ),
  tools: filter,
  maxPages: count,
  maxMessageBytes: count,
  jsonSchemaValidator: is(
    'an object with a getValidator function',
    value => isRecord(value) && typeof value['getValidator'] === 'function',
  ),
  protocolVersion: oneOf('auto', 'legacy'),
};

const stdioChecks: Readonly<Record<string, Check>> = {
  ...commonChecks,
  command: filledText,
  args: texts,
  env: variables,
  inheritDefaultEnv: flag,
  cwd: filledText,
  stderr: oneOf('inherit', 'ignore', 'pipe'),
};

const httpChecks: Readonly<Record<string, Check>> = {
  ...commonChecks,
  url: httpUrl,
  requestInit: record,
  eventSourceInit: record,
  fetch: callback,
  allowedHosts: texts,
  authProvider: record,
  transport: oneOf('auto', 'http', 'sse'),
  openEventStream: flag,
  reconnectionOptions: record,
  sessionId,
};

const clientChecks: Readonly<Record<string, Check>> = {
  id: filledText,
  servers: is('an object of server definitions by name', isRecord),
  timeout: duration,
  maxTotalTimeout: duration,
};

function checkAll(path: string, value: object, checks: Readonly<Record<string, Check>>, where: string): void {
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const option = path === '' ? key : `${path}.${key}`;
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (check === undefined)
      throw new MCPConfigurationError('client', option, `is not an option of ${where}`);
    const problem = check(item);
    if (problem !== undefined) throw new MCPConfigurationError('client', option, problem);
  }
}

function toMatcher(pattern: string | RegExp): (name: string) => boolean {
  if (typeof pattern === 'string') {
    const source = pattern
      .split('*')
      .map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*');
    const expression = new RegExp(`^${source}$`, 's');
    return name => expression.test(name);
  }
  // A fresh, non-global copy: `test` of a global expression moves its lastIndex.
  const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  return name => expression.test(name);
}

function toToolPredicate(tools: ToolFilter | undefined): (toolName: string) => boolean {
  const include = tools?.include?.map(toMatcher);
  const exclude = tools?.exclude?.map(toMatcher) ?? [];
  return name => (include?.some(matches => matches(name)) ?? true) && !exclude.some(matches => matches(name));
}

function resolveCommon(
  serverName: string,
  definition: MastraMCPServerDefinition,
  client: MCPClientOptions,
): ResolvedServerBase {
  return {
    serverName,
    logHandler: definition.logger ?? definition.log,
    timeout: definition.timeout ?? client.timeout ?? 60_000,
    maxTotalTimeout: definition.maxTotalTimeout ?? client.maxTotalTimeout,
    connectTimeout: definition.connectTimeout ?? 10_000,
    resetTimeoutOnProgress: definition.resetTimeoutOnProgress ?? true,
    enableProgressTracking: definition.enableProgressTracking ?? true,
    retryAnnotatedTools: definition.retryAnnotatedTools ?? true,
    capabilities: definition.capabilities ?? {},
    roots: definition.roots,
    enableServerLogs: definition.enableServerLogs ?? true,
    forwardInstructions: definition.forwardInstructions ?? false,
    instructionsMaxLength: definition.instructionsMaxLength ?? 512,
    requireToolApproval: definition.requireToolApproval ?? false,
    onToolError: definition.onToolError ?? 'throw',
    onToolChanged: definition.onToolChanged ?? 'allow',
    pinnedTools: definition.pinnedTools ?? {},
    allowsTool: toToolPredicate(definition.tools),
    maxPages: definition.maxPages ?? 1000,
    maxMessageBytes: definition.maxMessageBytes ?? 64 * 1024 * 1024,
    jsonSchemaValidator: definition.jsonSchemaValidator ?? jsonSchemaValidator,
  };
}

function resolveServer(
  serverName: string,
  definition: MastraMCPServerDefinition,
  client: MCPClientOptions,
): ResolvedServerDefinition {
  const path = `servers.${serverName}`;
  if (serverName.trim() === '' || serverName === '__proto__') {
    throw new MCPConfigurationError('client', path, 'must have a name that is not blank and not "__proto__"');
  }
  if (!isRecord(definition)) throw new MCPConfigurationError('client', path, 'must be an object');
  if (definition.command !== undefined && definition.url !== undefined) {
    throw new MCPConfigurationError('client', path, 'must have either a command or a url, not both');
  }
  if (definition.command !== undefined) {
    const stdio: StdioServerDefinition = definition;
    checkAll(path, stdio, stdioChecks, 'a server with a command');
    return {
      ...resolveCommon(serverName, stdio, client),
      kind: 'stdio',
      command: stdio.command,
      args: stdio.args ?? [],
      env: stdio.env ?? {},
      inheritDefaultEnv: stdio.inheritDefaultEnv ?? true,
      cwd: stdio.cwd,
      stderr: stdio.stderr ?? 'inherit',
    };
  }
  if (definition.url === undefined) {
    throw new MCPConfigurationError('client', path, 'must have a command or a url');
  }
  checkAll(path, definition, httpChecks, 'a server with a url');
  return { ...resolveCommon(serverName, definition, client), ...resolveHttp(definition) };
}

function resolveHttp(definition: HttpServerDefinition): Omit<ResolvedHttpServer, keyof ResolvedServerBase> {
  return {
    kind: 'http',
    url: new URL(definition.url),
    requestInit: definition.requestInit ?? {},
    eventSourceInit: definition.eventSourceInit,
    fetch: definition.fetch,
    allowedHosts: definition.allowedHosts,
    authProvider: definition.authProvider,
    transport: definition.transport ?? 'auto',
    openEventStream: definition.openEventStream ?? true,
    reconnectionOptions: definition.reconnectionOptions,
    sessionId: definition.sessionId,
  };
}

/**
 * Checks the options of a client and fills the defaults.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` for a wrong or unknown option, naming its path.
 */
export function resolveClientOptions(options: MCPClientOptions): ResolvedClientOptions {
  if (!isRecord(options)) throw new MCPConfigurationError('client', 'options', 'must be an object');
  if (options.servers === undefined) {
    throw new MCPConfigurationError('client', 'servers', 'is required');
  }
  checkAll('', options, clientChecks, 'MCPClient');
  const servers = Object.entries(options.servers)
    .map(([name, definition]) => ({ resolved: resolveServer(name, definition, options), definition }))
    .filter(({ definition }) => definition.enabled !== false)
    .map(({ resolved }) => resolved);
  return { id: options.id, servers };
}
