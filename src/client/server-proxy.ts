/**
 * A remote server as Mastra and Studio see their own: an `MCPServerBase` whose every answer comes from the other side.
 *
 * Loses nothing on the way: schemas, titles, icons, annotations and `_meta` are those of the server. Owns no connection and
 * no list of tools: they are the client's, and so is closing. Does not serve MCP itself.
 */
import { MCPServerBase } from '@mastra/core/mcp';
import type { ServerDetailInfo, ServerInfo } from '@mastra/core/mcp';
import type { InternalCoreTool } from '@mastra/core/tools';
import type { CallToolResult, ReadResourceResult, Resource, Tool } from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPConfigurationError, MCPServerError, MCPToolCallError } from '../shared/errors.ts';
import type { Connection } from './connection/connection.ts';
import { quote } from './connection/to-error.ts';
import type { RemoteCallContext } from './tools/tool-call.ts';
import type { MCPToolDefinition } from './tools/tools.ts';

/** What a proxy needs of its server. */
export interface ProxyDoor {
  readonly connection: Connection;
  /** The tools, each with its name in this client; `known` is the last listing, where it still stands. */
  listTools(which: 'new' | 'known'): Promise<readonly ProxiedTool[]>;
  callTool(
    definition: MCPToolDefinition,
    input: unknown,
    context: RemoteCallContext,
  ): Promise<CallToolResult>;
  listResources(): Promise<Resource[]>;
  readResource(uri: string): Promise<ReadResourceResult>;
}

/** A tool of the server and the prefixed name under which agents know it. */
export interface ProxiedTool {
  readonly name: string;
  readonly definition: MCPToolDefinition;
}

/** A tool as a proxy lists it: what the server said, with `id` as its name there and `name` prefixed. */
export interface ProxiedToolInfo extends Tool {
  readonly id: string;
  readonly description: string;
  readonly _meta?: Record<string, unknown>;
}

type ListedResources = Awaited<ReturnType<MCPServerBase['listResources']>>;
type ExecutionContext = Parameters<MCPServerBase['executeTool']>[2];

/** Version of a server that is not connected. */
const UNKNOWN_VERSION = '1.0.0';
/** JSON-RPC code of a resource that does not exist, up to revision 2025-11-25. */
const RESOURCE_NOT_FOUND = -32002;
/** Status of a call that may have run; Studio sends again, three times, what is answered by 500 and above. */
const DO_NOT_REPEAT = 424;

/** Stands for one server of an MCPClient in `new Mastra({ mcpServers })`. Made by `toMCPServerProxies()`. */
export class MCPClientServerProxy extends MCPServerBase {
  readonly #door: ProxyDoor;

  constructor(door: ProxyDoor) {
    const { serverName } = door.connection;
    super({ name: serverName, version: UNKNOWN_VERSION, tools: {} });
    this.#door = door;
    // Not in the configuration, of which core makes a slug: two servers could share one, or have none.
    this.setId(serverName);
  }

  /** Nothing is converted: the tools are the server's and listed when they are asked for. */
  override convertTools(): Record<string, InternalCoreTool> {
    return {};
  }

  /** What the server said of itself, while it is connected, under the name that it has in the client. */
  override getServerInfo(): ServerInfo {
    const said = this.#door.connection.peer?.serverInfo;
    const version = said?.version ?? this.version;
    return {
      ...said,
      id: this.id,
      name: this.name,
      version_detail: { version, release_date: this.releaseDate, is_latest: this.isLatest },
    } as ServerInfo;
  }

  override getServerDetail(): ServerDetailInfo {
    return this.getServerInfo();
  }

  /** @throws AnyMCPError when the server cannot be asked. */
  override async getToolListInfo(): Promise<{ tools: ProxiedToolInfo[] }> {
    return { tools: (await this.#list('new')).map(toInfo) };
  }

  /** One tool, by its name at the server or as it is listed; `undefined` when there is none. */
  override async getToolInfo(toolId: string): Promise<ProxiedToolInfo | undefined> {
    const tool = find(await this.#list('new'), toolId);
    return tool === undefined ? undefined : toInfo(tool);
  }

  /**
   * Calls a tool at the server, without asking for approval, and resolves to its whole result: content, structured
   * content and `_meta`, of a failed one (`isError`) too.
   *
   * @throws MCPToolCallError `MCP_CLIENT_TOOL_EXECUTION_FAILED`, with status 404 for an unknown tool, and with status 424
   * for a call that may have run and has no result; every error of a call that did not run.
   */
  override async executeTool(
    toolId: string,
    args: unknown,
    { requestContext }: ExecutionContext = {},
  ): Promise<CallToolResult> {
    const tool = find(await this.#list('known'), toolId) ?? find(await this.#list('new'), toolId);
    if (tool === undefined) {
      throw this.#failure(toolId, {
        message: `Unknown tool: ${toolId}`,
        status: 404,
        mayHaveExecuted: false,
      });
    }
    try {
      return await this.#door.callTool(tool.definition, args, { requestContext });
    } catch (cause) {
      if (!isMCPError(cause) || !('mayHaveExecuted' in cause) || !cause.mayHaveExecuted) throw cause;
      const { message } = cause;
      throw this.#failure(toolId, { message, status: DO_NOT_REPEAT, mayHaveExecuted: true, cause });
    }
  }

  override async listResources(): Promise<ListedResources> {
    return { resources: await this.#door.listResources() } as ListedResources;
  }

  /** @throws MCPServerError `MCP_SERVER_RESOURCE_NOT_FOUND` (status 404); every error of a request. */
  override async readResource(uri: string): Promise<ReadResourceResult> {
    try {
      return await this.#door.readResource(uri);
    } catch (cause) {
      if (!isMCPError(cause) || !('rpcCode' in cause) || cause.rpcCode !== RESOURCE_NOT_FOUND) throw cause;
      // The route of the REST interface looks for these words.
      const message = `Resource not found: ${uri}`;
      throw new MCPServerError('MCP_SERVER_RESOURCE_NOT_FOUND', {
        message,
        status: 404,
        cause,
        data: { uri },
      });
    }
  }

  /** @throws MCPConfigurationError as do all `start` methods. */
  override async startStdio(): Promise<never> {
    return this.#refuse('startStdio');
  }

  override async startHTTP(): Promise<never> {
    return this.#refuse('startHTTP');
  }

  override async startSSE(): Promise<never> {
    return this.#refuse('startSSE');
  }

  override async startHonoSSE(): Promise<never> {
    return this.#refuse('startHonoSSE');
  }

  /** Does nothing: `disconnect` of the client ends the connection. */
  override async close(): Promise<void> {}

  /** The tools under names of which none stands for another tool as well, whichever of its two names is used. */
  async #list(which: 'new' | 'known'): Promise<readonly ProxiedTool[]> {
    const tools = await this.#door.listTools(which);
    const ids = new Set(tools.map(({ definition }) => definition.name));
    return tools.map(({ name, definition }) => ({
      name: ids.has(name) ? definition.name : name,
      definition,
    }));
  }

  #failure(
    toolName: string,
    init: { message: string; status: number; mayHaveExecuted: boolean; cause?: unknown },
  ): MCPToolCallError {
    const { name: serverName } = this;
    return new MCPToolCallError('MCP_CLIENT_TOOL_EXECUTION_FAILED', { ...init, toolName, serverName });
  }

  #refuse(method: string): never {
    const problem = `is not supported by the proxy of ${quote(this.name)}: clients connect to the server itself`;
    throw new MCPConfigurationError('client', method, problem);
  }
}

function find(tools: readonly ProxiedTool[], toolId: string): ProxiedTool | undefined {
  return (
    tools.find(({ definition }) => definition.name === toolId) ?? tools.find(({ name }) => name === toolId)
  );
}

function toInfo({ name, definition }: ProxiedTool): ProxiedToolInfo {
  const { server: _, ...said } = definition;
  // What came as JSON holds no member that is undefined.
  return { ...said, id: said.name, name, description: said.description ?? '' } as ProxiedToolInfo;
}
