/**
 * The tools of all servers of a client: listed together, named, handed out as Tool objects.
 *
 * Owns the names (D05) and one `RemoteTools` per server. Does not connect by itself and reports no failure of a server.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Connection } from '../connection/connection.ts';
import { quote } from '../connection/to-error.ts';
import { askEvery, type ListWithErrorsOptions, type ServerOutcome, type ToolProblem } from '../discovery.ts';
import type { RemoteCallContext } from './tool-call.ts';
import type { ToolDefinitionChange } from './tool-digest.ts';
import { ToolNames, type AssignedName } from './tool-names.ts';
import { RemoteTools, type ListedTools, type MCPToolDefinition, type RemoteTool } from './tools.ts';

interface Shelf {
  readonly tools: RemoteTools;
  /** Names within the toolset of this server. */
  readonly names: ToolNames;
}

type Named = readonly [name: string, tool: RemoteTool];

export class ToolCatalogue {
  readonly #connections: readonly Connection[];
  readonly #shelves: ReadonlyMap<string, Shelf>;
  readonly #prefixedNames = new ToolNames();

  constructor(connections: readonly Connection[], warn: (text: string) => void) {
    this.#connections = connections;
    this.#shelves = new Map(
      connections.map(connection => [
        connection.serverName,
        { tools: new RemoteTools(connection, warn), names: new ToolNames() },
      ]),
    );
  }

  /** Lists every server in parallel; the order of outcomes is that of the configuration. Never rejects. */
  list(options: ListWithErrorsOptions): Promise<readonly ServerOutcome<ListedTools>[]> {
    const list = (connection: Connection, signal?: AbortSignal): Promise<ListedTools> =>
      this.#shelf(connection.serverName).tools.list(signal);
    return askEvery(this.#connections, 'tools/list', list, options);
  }

  /** How many tools the last listing of a server gave; absent before the first. */
  count(serverName: string): number | undefined {
    return this.#shelf(serverName).tools.count;
  }

  /** Tools by prefixed name. Names are given in the order of the configuration, whoever answered first. */
  toPrefixed(outcomes: readonly ServerOutcome<ListedTools>[]): Record<string, RemoteTool> {
    return Object.fromEntries(
      outcomes.flatMap(({ connection, value }) =>
        (value?.definitions ?? []).map((definition): Named => {
          const tool = this.fromDefinition(connection.serverName, definition);
          return [tool.id, tool];
        }),
      ),
    );
  }

  /** Tools by server and un-prefixed name; servers that failed are absent. */
  toToolsets(outcomes: readonly ServerOutcome<ListedTools>[]): Record<string, Record<string, RemoteTool>> {
    return mapListed(outcomes, (serverName, { definitions }) => {
      const { tools, names } = this.#shelf(serverName);
      return Object.fromEntries(
        definitions.map((definition): Named => {
          const { name } = names.assign({ serverName, toolName: definition.name }, definition.name);
          return [name, tools.toTool(definition, name)];
        }),
      );
    });
  }

  /** Definitions by server and original name; servers that failed are absent. */
  toDefinitions(
    outcomes: readonly ServerOutcome<ListedTools>[],
  ): Record<string, Record<string, MCPToolDefinition>> {
    return mapListed(outcomes, (_, { definitions }) =>
      Object.fromEntries(definitions.map(definition => [definition.name, definition])),
    );
  }

  /** The tool of one definition under its prefixed name; a collision is warned about once. Does not connect. */
  fromDefinition(serverName: string, definition: MCPToolDefinition): RemoteTool {
    const { tools } = this.#shelf(serverName);
    const assigned = this.#assign(serverName, definition.name);
    for (const problem of collisionOf(definition.name, assigned)) tools.reportOnce(problem);
    return tools.toTool(definition, assigned.name);
  }

  /** Adds a handler for definitions of one server that change; the returned function removes it. */
  onDefinitionChanged(
    { serverName }: Connection,
    handler: (change: ToolDefinitionChange) => void | Promise<void>,
  ): () => void {
    return this.#shelf(serverName).tools.onDefinitionChanged(handler);
  }

  /**
   * The tools of one server with their prefixed names. `known` is the last listing, where it still stands.
   *
   * @throws AnyMCPError
   */
  async listOne(
    serverName: string,
    which: 'new' | 'known',
  ): Promise<readonly { readonly name: string; readonly definition: MCPToolDefinition }[]> {
    const { tools } = this.#shelf(serverName);
    const { definitions } = await (which === 'new' ? tools.list() : tools.listOnce());
    return definitions.map(definition => ({
      name: this.#assign(serverName, definition.name).name,
      definition,
    }));
  }

  /** Calls a tool for its whole result, which may say `isError`. @throws AnyMCPError */
  callForResult(
    serverName: string,
    definition: MCPToolDefinition,
    input: unknown,
    context: RemoteCallContext,
  ): Promise<CallToolResult> {
    return this.#shelf(serverName).tools.callForResult(definition, input, context);
  }

  /** What could not be listed as it was sent, collisions of prefixed names included. */
  problemsOf({ connection, value }: ServerOutcome<ListedTools>): readonly ToolProblem[] {
    const collisions = (value?.definitions ?? []).flatMap(({ name }) =>
      collisionOf(name, this.#assign(connection.serverName, name)),
    );
    return [...(value?.problems ?? []), ...collisions];
  }

  #assign(serverName: string, toolName: string): AssignedName {
    return this.#prefixedNames.assign({ serverName, toolName }, `${serverName}_${toolName}`);
  }

  #shelf(serverName: string): Shelf {
    const shelf = this.#shelves.get(serverName);
    if (shelf === undefined) throw new TypeError(`no server ${quote(serverName)} in this catalogue`);
    return shelf;
  }
}

function collisionOf(toolName: string, { name, collidesWith }: AssignedName): readonly ToolProblem[] {
  if (collidesWith === undefined) return [];
  const holder = `${quote(collidesWith.toolName)} of server ${quote(collidesWith.serverName)}`;
  const reason = `${holder} has its name; it is listed as ${quote(name)}`;
  return [{ toolName, kind: 'collision', reason }];
}

function mapListed<T>(
  outcomes: readonly ServerOutcome<ListedTools>[],
  map: (serverName: string, listed: ListedTools) => T,
): Record<string, T> {
  return Object.fromEntries(
    outcomes.flatMap(({ connection, value }) =>
      value === undefined ? [] : [[connection.serverName, map(connection.serverName, value)]],
    ),
  );
}
