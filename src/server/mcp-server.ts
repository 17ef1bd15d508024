/**
 * MCPServer: Mastra tools, agents and workflows for any MCP client.
 *
 * The facade: wires rooms together and says what is registered. Every rule lives in a room.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent, ToolsInput } from '@mastra/core/agent';
import type { Mastra } from '@mastra/core/mastra';
import { MCPServerBase } from '@mastra/core/mcp';
import type { ServerDetailInfo, ServerInfo } from '@mastra/core/mcp';
import type { InternalCoreTool } from '@mastra/core/tools';
import type { Workflow } from '@mastra/core/workflows';
import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPConfigurationError, MCPServerError } from '../shared/errors.ts';
import type { MCPToolCallError } from '../shared/errors.ts';
import { ANONYMOUS, createAuthorization, principalOf } from './calls/authorization.ts';
import type { Authorization } from './calls/authorization.ts';
import type { AnyRequestContext } from './calls/call-context.ts';
import { CallGate } from './calls/call-gate.ts';
import type { CallToolDeps } from './calls/call-tool.ts';
import type { ServerElicitation } from './calls/elicitation.ts';
import { createHostCall, executeTool, toToolInfos } from './calls/execute-tool.ts';
import type { ToolExecutionOptions, ToolInfo } from './calls/execute-tool.ts';
import { MastraRegistry } from './calls/mastra-registry.ts';
import { buildToolTable, toCoreTools } from './calls/tool-table.ts';
import type { ToolTable } from './calls/tool-table.ts';
import { sendLoggingMessage } from './capabilities/logging.ts';
import type { LogMessageParams } from './capabilities/logging.ts';
import { createPromptActions } from './capabilities/prompts.ts';
import type { PromptActions } from './capabilities/prompts.ts';
import { createResourceActions } from './capabilities/resources.ts';
import type { ResourceActions } from './capabilities/resources.ts';
import { createServedCapabilities } from './capabilities/served-capabilities.ts';
import type { ServedCapabilities } from './capabilities/served-capabilities.ts';
import { ServerTools } from './capabilities/tools.ts';
import { FetchExchange } from './http/fetch-exchange.ts';
import { toHonoExchange } from './http/hono-exchange.ts';
import { resolveHTTPOptions } from './http/http-options.ts';
import type { HTTPListener } from './http/listen.ts';
import { NodeExchange } from './http/node-exchange.ts';
import { protectListener } from './oauth/middleware.ts';
import type { OAuthMiddleware } from './oauth/middleware.ts';
import type { OAuthLogger } from './oauth/oauth-options.ts';
import { assertTools, resolveServerConfig } from './options.ts';
import type {
  MCPServerConfig,
  MCPServerFetchOptions,
  MCPServerListenOptions,
  MCPServerStartHonoSSEOptions,
  MCPServerStartHTTPOptions,
  MCPServerStartSSEOptions,
  ResolvedServerConfig,
  ToolActions,
} from './options.ts';
import { DirectSessions } from './sessions/direct-sessions.ts';
import { publishOrThrow } from './sessions/notifications.ts';
import type { ServerEvent } from './sessions/notifications.ts';
import { askOnlyClient, Session } from './sessions/session-binding.ts';
import type { ConnectedTransport, SdkServer, SessionBinding } from './sessions/session-binding.ts';
import { LegacySSE } from './transports/sse.ts';
import type { SseEntrance } from './transports/sse-transport.ts';
import type { StdioConnection } from './transports/stdio.ts';
import { StreamableHTTP } from './transports/streamable-http.ts';
import type { StreamableHTTPDeps } from './transports/streamable-http.ts';

/** Listed resources; core's type knows fewer members and takes none that is `undefined`. */
type HostResources = ListResourcesResult & Awaited<ReturnType<MCPServerBase['listResources']>>;

/**
 * Serves tools, agents, workflows, resources and prompts over stdio, Streamable HTTP, web-standard requests and
 * the older HTTP+SSE.
 */
export class MCPServer<TId extends string = string> extends MCPServerBase<TId> implements AsyncDisposable {
  /** Adds and removes tools of the running server. `tools()` is the registry. */
  readonly toolActions: ToolActions;
  /** Tells clients what changed about resources. */
  readonly resources: ResourceActions = createResourceActions(event => this.#publish(event));
  /** Tells clients what changed about prompts. */
  readonly prompts: PromptActions = createPromptActions(event => this.#publish(event));
  readonly #config: ResolvedServerConfig<TId>;
  readonly #gate = new CallGate();
  readonly #authorization: Authorization;
  readonly #deps: CallToolDeps;
  readonly #capabilities: ServedCapabilities;
  readonly #binding: SessionBinding;
  readonly #direct: DirectSessions;
  readonly #listeners = new Set<HTTPListener>();
  readonly #registry = new MastraRegistry();
  #table: ToolTable;
  #http: StreamableHTTP | undefined;
  #sse: LegacySSE | undefined;
  #stdio: StdioConnection | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong option.
   * @throws MCPServerError `MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED` for an agent or workflow without description.
   */
  constructor(config: MCPServerConfig<TId>) {
    const resolved = resolveServerConfig(config);
    super(resolved.core);
    this.#config = resolved;
    this.#table = this.#buildTable();
    this.#authorization = createAuthorization({
      serverId: () => this.id,
      serverName: this.name,
      mastra: () => this.mastra,
      mapAuthInfoToUser: resolved.mapAuthInfoToUser,
      fga: resolved.fga,
      warn: (message, details) => this.logger.warn(message, details),
    });
    this.#deps = {
      table: () => this.#table,
      authorization: this.#authorization,
      mastra: () => this.mastra,
      serverId: () => this.id,
      serverName: this.name,
      serverVersion: this.version,
      toolApproval: resolved.toolApproval,
    };
    this.#capabilities = createServedCapabilities({
      ...resolved,
      tools: { ...this.#deps, onFailure: error => this.#logFailure(error) },
      warn: message => this.logger.warn(message),
    });
    this.#binding = this.#createBinding();
    this.#direct = new DirectSessions(
      () => new Session({ principal: ANONYMOUS, mode: 'stdio' }, this.#binding),
    );
    this.toolActions = this.#createToolActions();
  }

  /** Converts for `tools()` alone. Core calls it before this class has any field of its own. */
  override convertTools(
    tools: ToolsInput,
    agents?: Record<string, Agent>,
    workflows?: Record<string, Workflow>,
  ): Record<string, InternalCoreTool> {
    // Warnings come with the table that is served.
    const table = buildToolTable(
      { tools, agents, workflows },
      { agentOutput: 'text', warn: () => undefined },
    );
    return toCoreTools(table, { mastra: this.mastra, logger: this.logger });
  }

  /** Called by Mastra when the server is registered with it. */
  override __registerMastra(mastra: Mastra): void {
    this.#registry.join(mastra, this.originalTools, () => super.__registerMastra(mastra));
  }

  /**
   * Serves one client on stdin and stdout. Whatever else this process prints goes to stderr meanwhile.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` when the streams are served already.
   */
  override async startStdio(): Promise<void> {
    this.#assertOpen();
    const { startStdio } = await import('./transports/stdio.ts');
    const connection = await startStdio({
      createSession: init => new Session(init, this.#binding),
      principal: ANONYMOUS,
      onError: error => this.#binding.onError('Error on stdio', error, 'error'),
    });
    this.#stdio = connection;
    void connection.ended.then(() => {
      if (this.#stdio === connection) this.#stdio = undefined;
    });
  }

  /**
   * Answers one request of a node:http server. Resolves when a JSON answer has ended or the headers of a stream are sent.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong option of this call.
   */
  override async startHTTP({ url, httpPath, req, res, options }: MCPServerStartHTTPOptions): Promise<void> {
    await this.#httpSide().handle(new NodeExchange(req, res, url), httpPath, options);
  }

  /**
   * Answers one request of a node:http server over HTTP+SSE: a GET of `ssePath` opens a stream, POSTs to `messagePath`
   * talk to it. Call it for both paths. Resolves when the headers of a stream are sent or an answer has ended.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong path or option of this call.
   */
  override async startSSE(options: MCPServerStartSSEOptions): Promise<void> {
    await this.#serveSSE(options, 'node');
  }

  /**
   * Does what `startSSE` does for a Hono context, and resolves to the answer. Also takes the `req` and `res` of a node:http
   * server, and answers there.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong path or option of this call.
   */
  override startHonoSSE(options: MCPServerStartHonoSSEOptions): Promise<globalThis.Response>;
  override startHonoSSE(options: MCPServerStartSSEOptions): Promise<undefined>;
  override async startHonoSSE(
    options: MCPServerStartHonoSSEOptions | MCPServerStartSSEOptions,
  ): Promise<globalThis.Response | undefined> {
    if (!('context' in options)) return this.#serveSSE(options, 'hono');
    const { url, ssePath, messagePath, context } = options;
    const exchange = toHonoExchange(context, {
      url,
      authInfo: options.authInfo,
      assumedMethod: url.pathname === ssePath ? 'GET' : 'POST',
    });
    await this.#sseSide().handle(exchange, { ssePath, messagePath, entrance: 'hono' }, options.options);
    return exchange.response;
  }

  /**
   * Answers one web-standard request, on whatever path it came: routing is the host's.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong option of this call.
   */
  async fetch(request: globalThis.Request, facts: MCPServerFetchOptions = {}): Promise<globalThis.Response> {
    const exchange = new FetchExchange(request, facts);
    await this.#httpSide().handle(exchange, undefined, facts.options);
    return exchange.response;
  }

  /**
   * Starts a node:http server of its own, protected by OAuth where `oauth` is given. It ends with `close()` of either.
   *
   * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` for a wrong option.
   */
  async listen(options: MCPServerListenOptions): Promise<HTTPListener> {
    this.#assertOpen();
    const { listen } = await import('./http/listen.ts');
    const protect = this.#protectListener(options, () => listener.url);
    const handle = async (req: IncomingMessage, res: ServerResponse, path: string): Promise<void> => {
      if (protect !== undefined && !(await protect(req, res)).proceed) return;
      await this.#httpSide().handle(new NodeExchange(req, res), path, options.options);
    };
    const listener = await listen(handle, options);
    this.#listeners.add(listener);
    return listener;
  }

  /**
   * Refuses new work, lets running calls finish for at most `drainMs` (default 0), then ends every session and frees
   * everything. Idempotent; a closed server stays closed.
   */
  override async close({ drainMs = 0 }: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs);
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  override getServerInfo(): ServerInfo {
    return {
      id: this.id,
      name: this.name,
      ...(this.description === undefined ? {} : { description: this.description }),
      ...(this.repository === undefined ? {} : { repository: this.repository }),
      version_detail: { version: this.version, release_date: this.releaseDate, is_latest: this.isLatest },
    };
  }

  override getServerDetail(): ServerDetailInfo {
    return {
      ...this.getServerInfo(),
      ...(this.packageCanonical === undefined ? {} : { package_canonical: this.packageCanonical }),
      ...(this.packages === undefined ? {} : { packages: this.packages }),
      ...(this.remotes === undefined ? {} : { remotes: this.remotes }),
    };
  }

  /** The tools of this server; with an FGA provider only those that the user of the request context may use. */
  override getToolListInfo(
    requestContext?: AnyRequestContext,
  ): { tools: ToolInfo[] } | Promise<{ tools: ToolInfo[] }> {
    const table = this.#table;
    if (!this.#authorization.filters) return { tools: toToolInfos(table) };
    const call = createHostCall('tools/list', this.name, { requestContext });
    return this.#authorization
      .visible(table.names, call)
      .then(names => ({ tools: toToolInfos(table, names) }));
  }

  /** One tool, by name or by its own id; `undefined` when there is none. */
  override getToolInfo(toolName: string): ToolInfo | undefined {
    const tool = this.#table.resolve(toolName);
    return tool === undefined ? undefined : toToolInfos(this.#table, [tool.name])[0];
  }

  /**
   * Runs a tool for the host itself: without asking for approval, with the same checks of permission and arguments as a
   * client's call. Resolves to what the tool returned, or to core's validation error.
   *
   * @throws MCPToolCallError `MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED` for an unknown tool, `MCP_SERVER_TOOL_EXECUTE_FAILED`
   * when it throws or may not be used.
   */
  override async executeTool(
    toolName: string,
    args: unknown,
    options: ToolExecutionOptions = {},
  ): ReturnType<MCPServerBase['executeTool']> {
    return this.#gate.run(signal => executeTool(toolName, args, { ...options, signal }, this.#deps));
  }

  /**
   * The listed resources, as clients get them.
   *
   * @throws MCPServerError `MCP_SERVER_CALLBACK_FAILED` when listing fails.
   */
  override async listResources(): Promise<HostResources> {
    return this.#gate.run(async signal => {
      const call = createHostCall('resources/list', this.name, { signal });
      return (await this.#capabilities.resources.list(call)) as HostResources;
    });
  }

  /**
   * What a URI stands for, as clients get it.
   *
   * @throws MCPServerError `MCP_SERVER_RESOURCE_NOT_FOUND` (status 404), `MCP_SERVER_CALLBACK_FAILED` when reading fails.
   */
  override async readResource(uri: string): Promise<ReadResourceResult> {
    return this.#gate.run(signal => {
      const call = createHostCall('resources/read', this.name, { signal });
      return this.#capabilities.resources.read({ uri }, call);
    });
  }

  /**
   * Sends a log message to every connected client that wants its level. Stateless clients get none.
   *
   * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` for an unknown level, `MCP_SERVER_CLIENT_UNREACHABLE` when no client
   * could be reached.
   */
  async sendLoggingMessage(message: LogMessageParams): Promise<void> {
    await sendLoggingMessage(message, event => this.#publish(event));
  }

  /**
   * `sendRequest` asks outside of any call, through the one client that is connected; inside a tool use
   * `context.mcp.elicitation`. `complete` tells the client that was asked to open a page, and only it, that its user is done
   * there; it resolves to whether somebody was told.
   */
  get elicitation(): ServerElicitation {
    return {
      sendRequest: params => askOnlyClient(this.#sessions(), params),
      complete: ({ elicitationId }) => this.#completeElicitation(elicitationId),
    };
  }

  /** The protocol engine of the stdio connection, else a fresh one that serves this server and is connected to nothing. */
  getServer(): SdkServer {
    return (this.#stdio?.session ?? this.#direct.open()).sdkServer;
  }

  /** The transport of the stdio connection, for checks and tests. */
  getStdioTransport(): ConnectedTransport | undefined {
    return this.#stdio?.transport;
  }

  /** The transport of one Streamable HTTP session, or of the one opened last, for checks and tests. */
  getStreamableHTTPTransport(sessionId?: string): ConnectedTransport | undefined {
    return this.#http?.transport(sessionId);
  }

  /** The transport of one session opened through `startSSE`, or of the one opened last, for checks and tests. */
  getSseTransport(sessionId?: string): ConnectedTransport | undefined {
    return this.#sse?.transport('node', sessionId);
  }

  /** The transport of one session opened through `startHonoSSE`, or of the one opened last, for checks and tests. */
  getSseHonoTransport(sessionId?: string): ConnectedTransport | undefined {
    return this.#sse?.transport('hono', sessionId);
  }

  #buildTable(): ToolTable {
    const { agents, workflows } = this;
    const warn = (message: string): void => this.logger.warn(message);
    return buildToolTable(
      { tools: this.originalTools, agents, workflows },
      { agentOutput: this.#config.agentOutput, warn },
    );
  }

  #createToolActions(): ServerTools {
    return new ServerTools({
      tools: () => this.originalTools,
      replace: tools => {
        this.originalTools = tools as ToolsInput;
        this.#table = this.#buildTable();
        this.convertedTools = this.convertTools(this.originalTools, this.agents, this.workflows);
        this.#registry.follow(tools);
      },
      publish: () => this.#publish({ kind: 'tools_list_changed' }),
      debug: message => this.logger.debug(message),
      check: tools => assertTools('tools', tools),
    });
  }

  #createBinding(): SessionBinding {
    const { handlers, declared } = this.#capabilities;
    const session = { ...declared.changing, logging: {} };
    return {
      serverInfo: {
        name: this.name,
        version: this.version,
        ...(this.description === undefined ? {} : { description: this.description }),
      },
      instructions: this.instructions,
      handlers,
      // Without a session nothing can be announced later, and without a stream nothing can be logged.
      capabilities: {
        session,
        stdio: session,
        stateless: declared.fixed,
        'stateless-streaming': { ...declared.fixed, logging: {} },
      },
      askTimeoutMs: this.#config.askTimeoutMs,
      gate: this.#gate,
      onError: (message, error, severity) => this.logger[severity](message, { error }),
    };
  }

  #logFailure({ toolName, cause }: MCPToolCallError): void {
    const message = `Tool ${JSON.stringify(toolName)} failed`;
    // Errors of ours are about the caller, who was told.
    if (isMCPError(cause)) this.logger.debug(message, { error: cause });
    else this.logger.error(message, { error: cause });
  }

  /** The HTTP side begins with the first request: many servers never see one. */
  #httpSide(): StreamableHTTP {
    if (this.#http === undefined) {
      this.#http = new StreamableHTTP(this.#httpDeps());
      if (this.#closing !== undefined) void this.#http.close();
    }
    return this.#http;
  }

  #protectListener(options: MCPServerListenOptions, url: () => URL): OAuthMiddleware | undefined {
    const { oauth, path: mcpPath } = options;
    if (oauth === undefined) return undefined;
    const http = resolveHTTPOptions(options.options, this.#config.http);
    const logger: OAuthLogger = {
      debug: message => this.logger.debug(message),
      warn: message => this.logger.warn(message),
      error: message => this.logger.error(message),
    };
    return protectListener({ oauth, mcpPath, logger, http }, url);
  }

  #sseSide(): LegacySSE {
    if (this.#sse === undefined) {
      this.#sse = new LegacySSE(this.#httpDeps());
      if (this.#closing !== undefined) void this.#sse.close();
    }
    return this.#sse;
  }

  #httpDeps(): StreamableHTTPDeps {
    return {
      createSession: init => new Session(init, this.#binding),
      principalOf,
      settings: this.#config.http,
      logger: () => this.logger,
    };
  }

  async #serveSSE(options: MCPServerStartSSEOptions, entrance: SseEntrance): Promise<undefined> {
    const { url, ssePath, messagePath, req, res } = options;
    if (req === undefined || res === undefined)
      throw new MCPConfigurationError('server', 'req and res', 'are missing, and so is a Hono context');
    const exchange = new NodeExchange(req, res, url);
    await this.#sseSide().handle(exchange, { ssePath, messagePath, entrance }, options.options);
  }

  *#sessions(): IterableIterator<Session> {
    for (const { session } of this.#http?.sessions.each() ?? []) yield session;
    for (const { session } of this.#sse?.sessions.each() ?? []) yield session;
    if (this.#stdio !== undefined) yield this.#stdio.session;
    yield* this.#direct.each();
  }

  async #completeElicitation(elicitationId: string): Promise<boolean> {
    const event = { kind: 'elicitation_complete', elicitationId } as const;
    return (await publishOrThrow(event, this.#sessions(), message => this.logger.debug(message))) > 0;
  }

  async #publish(event: ServerEvent): Promise<void> {
    await publishOrThrow(event, this.#sessions(), message => this.logger.debug(message));
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new MCPServerError('MCP_SERVER_CLOSED', { message: 'The server is closed', status: 503 });
  }

  async #close(drainMs: number): Promise<void> {
    await Promise.all([
      this.#gate.close(drainMs),
      this.#http?.close({ drainMs }),
      this.#sse?.close({ drainMs }),
    ]);
    await Promise.all([
      this.#stdio?.close(),
      this.#direct.closeAll(),
      ...Array.from(this.#listeners, listener => listener.close()),
    ]);
    this.#listeners.clear();
  }
}
