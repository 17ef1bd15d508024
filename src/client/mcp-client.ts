/**
 * MCPClient: servers by name, and everything that can be asked of them.
 *
 * The facade. Owns the connections of one client and its identity; every method delegates to a room.
 */
import type { Readable } from 'node:stream';
import { MastraBase } from '@mastra/core/base';
import { MCPConfigurationError, MCPRequestError } from '../shared/errors.ts';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { setLogLevel, takeServerLog } from './capabilities/logging.ts';
import type { ProgressHandler } from './capabilities/progress.ts';
import { ClientPrompts, complete, type CompleteOptions } from './capabilities/prompts.ts';
import { ClientResources } from './capabilities/resources.ts';
import type { ElicitationHandler, RootsHandler, SamplingHandler } from './connection/answers.ts';
import { Connection, type ConnectionState, type ConnectionStatus } from './connection/connection.ts';
import { quote } from './connection/to-error.ts';
import {
  toListErrors,
  type ListErrors,
  type ListWithErrorsOptions,
  type ServerOutcome,
  type Servers,
} from './discovery.ts';
import { claim, identify, release, type ClientIdentity } from './identity.ts';
import type { MCPClientOptions, ResolvedServerDefinition } from './options.ts';
import type { AuthenticateOptions, ServerAuthState } from './oauth/authorization.ts';
import { resolveClientOptions } from './resolve-options.ts';
import { MCPClientServerProxy } from './server-proxy.ts';
import { ToolCatalogue } from './tools/tool-catalogue.ts';
import type { ToolDefinitionChange } from './tools/tool-digest.ts';
import type { ListedTools, MCPToolDefinition, RemoteTool } from './tools/tools.ts';

/** What a request for input is when its server is unknown. */
const ELICITATION = {
  code: 'MCP_CLIENT_ON_REQUEST_ELICITATION_FAILED',
  method: 'elicitation/create',
} as const;

/** State of the connection to one server. */
export interface MCPServerStatus extends ConnectionStatus {
  /** Tools in the last listing; absent before the first. */
  readonly toolCount?: number;
}

/** A change of state of one server. */
export interface MCPServerStatusChange {
  readonly serverName: string;
  /** State before the change. */
  readonly previous: ConnectionState;
  readonly status: MCPServerStatus;
}

/**
 * Connects to MCP servers and turns their tools into Mastra tools.
 *
 * The constructor checks the options and connects to nothing; each server is connected at its first use and again after
 * a loss. Does not sanitise what servers return: results are untrusted input.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` for a wrong option, or when a client with the same
 * configuration exists and no `id` is given.
 */
export class MCPClient extends MastraBase implements AsyncDisposable {
  readonly #connections: ReadonlyMap<string, Connection>;
  readonly #catalogue: ToolCatalogue;
  readonly #statusHandlers = new Set<(change: MCPServerStatusChange) => void>();
  readonly #identity: ClientIdentity;

  /** Resources of the servers: listing, reading, subscribing. */
  readonly resources: ClientResources;
  /** Prompts of the servers: listing, filling in. */
  readonly prompts: ClientPrompts;
  /** Suggestions for arguments of prompts and variables of resource templates. */
  readonly completions: {
    readonly complete: (options: CompleteOptions) => ReturnType<typeof complete>;
  };
  /** Changes of tools. Listing them is `listTools` and `listToolsets`. */
  readonly tools: {
    /** Adds a handler for changes of the list of one server; the promise gives a function that removes it. */
    readonly onListChanged: (serverName: string, handler: () => void | Promise<void>) => Promise<() => void>;
    /**
     * Adds a handler for tools of one server whose definition is not what it was in an earlier listing; told once per
     * change. While there is one, the list is read again whenever the server says that it changed. The promise gives a
     * function that removes it.
     */
    readonly onDefinitionChanged: (
      serverName: string,
      handler: (change: ToolDefinitionChange) => void | Promise<void>,
    ) => Promise<() => void>;
  };
  /** Progress of running calls. */
  readonly progress: {
    /** Adds a handler for progress of calls at one server; the promise gives a function that removes it. */
    readonly onUpdate: (serverName: string, handler: ProgressHandler) => Promise<() => void>;
  };
  /** Requests of servers for input. */
  readonly elicitation: {
    /**
     * Sets the handler for one server, before or after connecting; the last one wins. Without one the answer is
     * `decline`. Pages (`mode: 'url'`) are asked for only where the handler was there before connecting. The promise gives
     * a function that removes it.
     */
    readonly onRequest: (serverName: string, handler: ElicitationHandler) => Promise<() => void>;
    /** Adds a handler for pages that the user has dealt with; the promise gives a function that removes it. */
    readonly onComplete: (
      serverName: string,
      handler: (params: { elicitationId: string }) => void | Promise<void>,
    ) => Promise<() => void>;
  };
  /** Requests of servers to run a model. */
  readonly sampling: {
    /**
     * Sets the handler for one server; the last one wins. When it comes after connecting, the server is connected anew
     * before the next request. The promise gives a function that removes it.
     */
    readonly onRequest: (serverName: string, handler: SamplingHandler) => Promise<() => void>;
  };
  /** Folders that servers may work in. */
  readonly roots: {
    /** Sets what answers `roots/list` of one server instead of its option `roots`; as for sampling. */
    readonly onRequest: (serverName: string, handler: RootsHandler) => Promise<() => void>;
    /** Tells one server that the folders changed, if it is connected and knows that there are some. */
    readonly notifyListChanged: (serverName: string) => Promise<void>;
  };
  /** Log messages of servers. */
  readonly logging: {
    /** Asks one server for messages of this level and above; holds over reconnects. */
    readonly setLevel: (serverName: string, level: LoggingLevel) => Promise<void>;
  };

  constructor(options: MCPClientOptions) {
    const { id, servers: definitions } = resolveClientOptions(options);
    super({ name: id ?? 'MCPClient' });
    this.#identity = identify(options);
    const { existing, replaced } = this.#identity;
    const before = replaced === undefined ? undefined : (replaced as MCPClient).disconnect();
    this.#connections = new Map(
      definitions.map(definition => [definition.serverName, this.#open(definition, before)]),
    );
    const servers: Servers = {
      all: [...this.#connections.values()],
      get: (serverName, unknown) => this.#connection(serverName, unknown),
      warn: text => this.logger.warn(`MCPClient: ${text}`),
    };
    this.#catalogue = new ToolCatalogue(servers.all, text => this.logger.warn(text));
    this.resources = new ClientResources(servers);
    this.prompts = new ClientPrompts(servers);
    this.completions = { complete: request => complete(servers, request) };
    this.tools = {
      onListChanged: async (serverName, handler) =>
        this.#connection(serverName).onKind('tools_list_changed', handler),
      onDefinitionChanged: async (serverName, handler) =>
        this.#catalogue.onDefinitionChanged(this.#connection(serverName), handler),
    };
    this.progress = {
      onUpdate: async (serverName, handler) => this.#connection(serverName).progress.onUpdate(handler),
    };
    this.elicitation = {
      onRequest: async (serverName, handler) =>
        this.#connection(serverName, ELICITATION).answers.set('elicitation', handler),
      onComplete: async (serverName, handler) =>
        this.#connection(serverName).on(event =>
          event.kind === 'elicitation_complete' ? handler({ elicitationId: event.elicitationId }) : undefined,
        ),
    };
    this.sampling = {
      onRequest: async (serverName, handler) => this.#connection(serverName).answers.set('sampling', handler),
    };
    this.roots = {
      onRequest: async (serverName, handler) => this.#connection(serverName).answers.set('roots', handler),
      notifyListChanged: async serverName =>
        this.#connection(serverName).notify('notifications/roots/list_changed'),
    };
    this.logging = {
      setLevel: async (serverName, level) => setLogLevel(this.#connection(serverName), level),
    };
    // The client that already has this id and configuration is the one the caller means (S002).
    if (existing !== undefined) return existing as MCPClient;
    claim(this.#identity, this);
    if (Object.values(options.servers).some(server => server.log !== undefined)) {
      this.logger.warn('MCPClient: the server option "log" is now called "logger"');
    }
  }

  /**
   * The tools of all servers by model-safe name `serverName_toolName`. Servers that fail are logged and left out.
   *
   * @throws MCPAuthorizationRequiredError when every server failed and one of them needs authorization.
   */
  async listTools(): Promise<Record<string, RemoteTool>> {
    return this.#catalogue.toPrefixed(await this.#list());
  }

  /** As `listTools`, with what went wrong. Does not reject for the failure of a server. */
  async listToolsWithErrors(
    options: ListWithErrorsOptions = {},
  ): Promise<{ readonly tools: Record<string, RemoteTool> } & ListErrors> {
    const outcomes = await this.#catalogue.list(options);
    return { tools: this.#catalogue.toPrefixed(outcomes), ...this.#errorsOf(outcomes) };
  }

  /**
   * The tools by server and model-safe name, for `toolsets` of `generate` and `stream`.
   *
   * @throws MCPAuthorizationRequiredError when every server failed and one of them needs authorization.
   */
  async listToolsets(): Promise<Record<string, Record<string, RemoteTool>>> {
    return this.#catalogue.toToolsets(await this.#list());
  }

  /** As `listToolsets`, with what went wrong. Does not reject for the failure of a server. */
  async listToolsetsWithErrors(
    options: ListWithErrorsOptions = {},
  ): Promise<{ readonly toolsets: Record<string, Record<string, RemoteTool>> } & ListErrors> {
    const outcomes = await this.#catalogue.list(options);
    return { toolsets: this.#catalogue.toToolsets(outcomes), ...this.#errorsOf(outcomes) };
  }

  /** The definitions of all tools by server and original name, as JSON to keep and rebuild tools from later. */
  async listToolDefinitions(): Promise<Record<string, Record<string, MCPToolDefinition>>> {
    return this.#catalogue.toDefinitions(await this.#list());
  }

  /** As `listToolDefinitions`, with what went wrong. Does not reject for the failure of a server. */
  async listToolDefinitionsWithErrors(
    options: ListWithErrorsOptions = {},
  ): Promise<{ readonly definitions: Record<string, Record<string, MCPToolDefinition>> } & ListErrors> {
    const outcomes = await this.#catalogue.list(options);
    return { definitions: this.#catalogue.toDefinitions(outcomes), ...this.#errorsOf(outcomes) };
  }

  /** A tool built from a definition without connecting; its first call connects. The name is the prefixed one. */
  toolFromDefinition(options: {
    readonly serverName: string;
    readonly definition: MCPToolDefinition;
  }): RemoteTool {
    const { serverName } = this.#connection(options.serverName);
    return this.#catalogue.fromDefinition(serverName, options.definition);
  }

  /** Tools by prefixed name, built from definitions by server without connecting. */
  toolsFromDefinitions(options: {
    readonly definitions: Readonly<Record<string, Readonly<Record<string, MCPToolDefinition>>>>;
  }): Record<string, RemoteTool> {
    const tools = Object.entries(options.definitions).flatMap(([serverName, definitions]) =>
      Object.values(definitions).map(definition => this.toolFromDefinition({ serverName, definition })),
    );
    return Object.fromEntries(tools.map(tool => [tool.id, tool]));
  }

  /**
   * Every server as an `MCPServerBase`, for `new Mastra({ mcpServers })`: so it shows in Studio. Connects to nothing; the
   * connections stay this client's.
   */
  toMCPServerProxies(): Record<string, MCPClientServerProxy> {
    return this.#mapServers(connection => {
      const { serverName } = connection;
      return new MCPClientServerProxy({
        connection,
        listTools: which => this.#catalogue.listOne(serverName, which),
        callTool: (definition, input, context) =>
          this.#catalogue.callForResult(serverName, definition, input, context),
        listResources: () => this.resources.listOne(serverName),
        readResource: uri => this.resources.read(serverName, uri),
      });
    });
  }

  /** The instructions each server gave when it was connected last; `undefined` for those without. */
  getServerInstructions(): Record<string, string | undefined> {
    return this.#mapServers(connection => connection.instructions);
  }

  /** The state of every server. Does not connect. */
  getServerStatus(): Record<string, MCPServerStatus> {
    return this.#mapServers(connection => this.#statusOf(connection));
  }

  /** Adds a handler for changes of state; the returned function removes it. */
  onStatusChange(handler: (change: MCPServerStatusChange) => void): () => void {
    this.#statusHandlers.add(handler);
    return () => this.#statusHandlers.delete(handler);
  }

  /** Session ids by server, of servers that gave one. */
  get sessionIds(): Record<string, string> {
    const ids = [...this.#connections].flatMap(([serverName, { peer }]) =>
      peer?.sessionId === undefined ? [] : [[serverName, peer.sessionId] as const],
    );
    return Object.fromEntries(ids);
  }

  /**
   * The standard error stream of a stdio server with `stderr: 'pipe'`; `null` for every other.
   *
   * @throws MCPConfigurationError for an unknown server.
   */
  getServerStderr(serverName: string): Readable | null {
    return this.#connection(serverName).transport?.stderr?.() ?? null;
  }

  /**
   * Asks a server whether it is alive, within its time-out.
   *
   * @throws AnyMCPError when it is not.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
   */
  async ping(serverName: string): Promise<void> {
    await this.#connection(serverName).request('ping', {}, { mayRepeat: true });
  }

  /**
   * Drops the connection to a server and connects anew.
   *
   * @throws MCPConfigurationError for an unknown server; AnyMCPError when connecting fails.
   */
  async reconnectServer(serverName: string): Promise<void> {
    await this.#connection(serverName).reconnect();
  }

  /**
   * Logs the user in at a server whose MCPOAuthClientProvider has a loopback redirect URL, and connects. Opens no browser
   * where stored credentials do. Joins the login of this server that is under way; its options hold then.
   *
   * @throws MCPConfigurationError for an unknown server or an unsuitable provider; MCPAuthorizationFailedError, whose
   * `reason` says why, when the login fails; AnyMCPError when connecting fails.
   */
  async authenticate(serverName: string, options: AuthenticateOptions = {}): Promise<void> {
    await this.#connection(serverName).authenticate(options);
  }

  /** Ends a login under way, whose `authenticate` rejects then. Resolves to whether there was one. */
  async cancelAuthentication(serverName: string): Promise<boolean> {
    return (await this.#connections.get(serverName)?.authorization?.cancel()) ?? false;
  }

  /** What the server said last about the credentials of its provider; `undefined` when it said nothing yet. */
  getServerAuthState(serverName: string): ServerAuthState | undefined {
    return this.#connections.get(serverName)?.authorization?.state;
  }

  /**
   * Disconnects one server, or all and frees the identity of the client. Ends child processes and sessions.
   *
   * Idempotent; a tool executed afterwards connects its server again.
   */
  async disconnect(serverName?: string): Promise<void> {
    if (serverName !== undefined) {
      await this.#connection(serverName).close();
      return;
    }
    await Promise.all([...this.#connections.values()].map(connection => connection.close()));
    release(this.#identity, this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #open(definition: ResolvedServerDefinition, before: Promise<void> | undefined): Connection {
    const connection: Connection = new Connection(definition, {
      logger: () => this.logger,
      onStatus: previous => this.#onStatus(connection, previous),
      before,
    });
    connection.on(event =>
      event.kind === 'log' ? takeServerLog(definition, event, this.logger) : undefined,
    );
    return connection;
  }

  #connection(serverName: string, unknown?: Parameters<Servers['get']>[1]): Connection {
    const connection = this.#connections.get(serverName);
    if (connection !== undefined) return connection;
    const problem = `names no configured server: ${quote(serverName)}`;
    if (unknown === undefined) throw new MCPConfigurationError('client', 'serverName', problem);
    throw new MCPRequestError(unknown.code, {
      message: `serverName ${problem}`,
      category: 'USER',
      serverName,
      method: unknown.method,
      mayHaveExecuted: false,
    });
  }

  #mapServers<T>(map: (connection: Connection) => T): Record<string, T> {
    return Object.fromEntries([...this.#connections].map(([name, connection]) => [name, map(connection)]));
  }

  #statusOf(connection: Connection): MCPServerStatus {
    const toolCount = this.#catalogue.count(connection.serverName);
    return { ...connection.status, ...(toolCount === undefined ? {} : { toolCount }) };
  }

  /**
   * A listing for those who take what there is. X01: a failed server is logged and left out, unless all failed and the
   * user could log in.
   */
  async #list(): Promise<readonly ServerOutcome<ListedTools>[]> {
    const outcomes = await this.#catalogue.list({});
    const failures = outcomes.flatMap(({ error }) => (error === undefined ? [] : [error]));
    for (const { message } of failures) this.logger.warn(`MCPClient: ${message}`);
    const unauthorized = failures.find(({ code }) => code === 'MCP_CLIENT_AUTHORIZATION_REQUIRED');
    if (failures.length === outcomes.length && unauthorized !== undefined) throw unauthorized;
    return outcomes;
  }

  #errorsOf(outcomes: readonly ServerOutcome<ListedTools>[]): ListErrors {
    return toListErrors(outcomes, outcome => ({
      ...outcome.value,
      tools: this.#catalogue.problemsOf(outcome),
    }));
  }

  #onStatus(connection: Connection, previous: ConnectionState): void {
    if (this.#statusHandlers.size === 0) return;
    const change = { serverName: connection.serverName, previous, status: this.#statusOf(connection) };
    for (const handler of this.#statusHandlers) {
      try {
        handler(change);
      } catch (error) {
        this.logger.warn(`MCPClient: a status handler failed: ${quote(String(error))}`);
      }
    }
  }
}
