/**
 * Remote tools as Mastra Tools: one server's `tools/list` entries in, Tool objects out.
 *
 * Owns conversion, reuse of what was built for an unchanged definition, and isolation: a bad entry never takes others
 * along (D06). What `execute` does is in `tool-call.ts`, names are in `tool-names.ts`.
 */
import { createTool, type Tool, type ToolAnnotations } from '@mastra/core/tools';
import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/sdk/types.js';
import { isMCPError, MCPToolCallError } from '../../shared/errors.ts';
import { inspectSchema, toStandardSchema, type JsonSchema } from '../../shared/schema.ts';
import { toModelOutput } from '../../shared/tool-result.ts';
import { readPages, type ListedKind } from '../capabilities/pages.ts';
import type { Connection } from '../connection/connection.ts';
import type { Peer } from '../connection/peer.ts';
import { quote } from '../connection/to-error.ts';
import type { ToolProblem } from '../discovery.ts';
import { toApprovalFields } from './approval.ts';
import { toMcpMetadata, type RemoteToolMetadata, type ServerIdentity } from './instructions.ts';
import { callForResult, callRemoteTool, toArgumentsError, type RemoteCallContext } from './tool-call.ts';
import { digestOf, type ToolDefinitionChange } from './tool-digest.ts';

/** A tool of a remote server, for an Agent, a workflow or a direct call; a direct call needs no context. */
export type RemoteTool = Tool & {
  execute: (input: unknown, context?: RemoteCallContext) => Promise<unknown>;
  readonly mcpMetadata: RemoteToolMetadata;
};

/** A tool as its server describes it, with what is needed to rebuild it later. JSON all through. */
export interface MCPToolDefinition extends WireTool {
  /** What the server said of itself when the definition was read. */
  readonly server?: ServerIdentity | undefined;
}

/** What one listing of a server gave. */
export interface ListedTools {
  readonly definitions: readonly MCPToolDefinition[];
  readonly problems: readonly ToolProblem[];
  readonly stopped?: string;
}

/** What was made of an entry; used again while the server sends an equal one. */
interface Known {
  readonly entry: WireTool;
  /** As the server first described the tool to this client. */
  readonly first: WireTool;
  readonly definition: MCPToolDefinition;
  readonly problems: readonly ToolProblem[];
}

interface Built {
  readonly definition: MCPToolDefinition;
  readonly tool: RemoteTool;
}

const TOOLS: ListedKind = { method: 'tools/list', key: 'tools', capability: 'tools' };

/** Levels of JSON in a member of a definition; what is deeper overflows whoever writes it as JSON. */
const MAX_LEVELS = 2500;
/** What a tool gets when the schema of its server cannot be used: any object (D06). */
const ANY_OBJECT: JsonSchema = { type: 'object', properties: {} };

export class RemoteTools {
  readonly #connection: Connection;
  readonly #warn: (text: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #built = new Map<string, Built>();
  readonly #reported = new Set<string>();
  readonly #changeHandlers = new Set<(change: ToolDefinitionChange) => void | Promise<void>>();
  #count: number | undefined;
  /** How often the server said that its list changed. */
  #changes = 0;
  /** The last listing, and what it stands for: this connection, after so many changes. */
  #listed:
    { readonly giver: Peer | undefined; readonly changes: number; readonly listing: ListedTools } | undefined;
  #reading: Promise<ListedTools> | undefined;
  #isFollowing = false;

  constructor(connection: Connection, warn: (text: string) => void) {
    this.#connection = connection;
    this.#warn = warn;
    connection.onKind('tools_list_changed', () => {
      this.#changes += 1;
      void this.#follow();
    });
  }

  /** How many tools the last listing gave; absent before the first. */
  get count(): number | undefined {
    return this.#count;
  }

  /** Reads the definitions of all tools that exist for this client. */
  async list(signal?: AbortSignal): Promise<ListedTools> {
    const changes = this.#changes;
    const { items, stopped, giver } = await readPages(this.#connection, TOOLS, signal);
    const server = this.#serverIdentity();
    const definitions = new Map<string, MCPToolDefinition>();
    const problems: ToolProblem[] = [];
    for (const item of items) {
      const { name } = (item ?? {}) as { readonly name?: unknown };
      if (typeof name !== 'string' || name === '') {
        problems.push({ toolName: String(name), kind: 'name', reason: 'the name is not a non-empty string' });
        continue;
      }
      if (!this.#connection.definition.allowsTool(name)) continue;
      if (definitions.has(name)) {
        problems.push({
          toolName: name,
          kind: 'name',
          reason: 'the name was given before; the first one counts',
        });
        continue;
      }
      const known = this.#know(item as WireTool, server);
      definitions.set(name, known.definition);
      problems.push(...known.problems);
    }
    this.#count = definitions.size;
    for (const problem of problems) this.reportOnce(problem);
    if (stopped !== undefined) this.#warn(`tools/list of server ${this.#at} ended early: ${stopped}`);
    const listing = {
      definitions: [...definitions.values()],
      problems,
      ...(stopped === undefined ? {} : { stopped }),
    };
    this.#listed = { giver, changes, listing };
    return listing;
  }

  /** The last listing where it still stands, otherwise a new one, shared by all who ask meanwhile. @throws as `list` */
  async listOnce(): Promise<ListedTools> {
    return this.#isCurrent && this.#listed !== undefined ? this.#listed.listing : this.#read();
  }

  /** Calls a tool for its whole result. @throws MCPToolCallError `MCP_CLIENT_TOOL_CHANGED`; as `callForResult` */
  async callForResult(
    definition: MCPToolDefinition,
    input: unknown,
    context: RemoteCallContext,
  ): Promise<CallToolResult> {
    if (this.#isGuarded(definition)) await this.#assertUnchanged(definition);
    return callForResult(this.#connection, definition, input, context);
  }

  /** A Tool of its own under `id`; what was built for an equal definition is used again. */
  toTool(definition: MCPToolDefinition, id: string): RemoteTool {
    const known = this.#built.get(definition.name);
    let tool = known?.tool;
    if (tool === undefined || !sameJson(known?.definition, definition)) {
      tool = this.#build(definition);
      this.#built.set(definition.name, { definition, tool });
    }
    // A shallow copy: what a user changes on it stays theirs.
    const copy = Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as RemoteTool, tool);
    copy.id = id;
    return copy;
  }

  #know(sent: WireTool, server: ServerIdentity): Known {
    const before = this.#known.get(sent.name);
    const isKnown = (entry: WireTool): boolean =>
      sameJson(before?.entry, entry) && sameJson(before?.definition.server, server);
    if (before !== undefined && isKnown(sent)) return before;
    const { entry, cut } = withoutDepths(sent);
    if (before !== undefined && cut.length > 0 && isKnown(entry)) return before;
    const first = before?.first ?? entry;
    const problems = [...cut.map(member => toDepthProblem(entry.name, member)), ...schemaProblems(entry)];
    const known = { entry, first, definition: { ...entry, server }, problems };
    this.#known.set(entry.name, known);
    const earlier = before?.entry ?? this.#built.get(entry.name)?.definition;
    if (earlier !== undefined) this.#tellChange(earlier, entry);
    if (before === undefined && earlier !== undefined && digestOf(earlier) !== digestOf(entry)) {
      const reason = 'the definition it was built from is not that of the server any more';
      this.reportOnce({ toolName: entry.name, kind: 'schema', reason });
    }
    return known;
  }

  /** Adds a handler for definitions that change; the returned function removes it. */
  onDefinitionChanged(handler: (change: ToolDefinitionChange) => void | Promise<void>): () => void {
    this.#changeHandlers.add(handler);
    return () => this.#changeHandlers.delete(handler);
  }

  #tellChange(before: WireTool, entry: WireTool): void {
    if (this.#changeHandlers.size === 0) return;
    const change = { toolName: entry.name, previousDigest: digestOf(before), digest: digestOf(entry) };
    if (change.digest === change.previousDigest) return;
    for (const handler of this.#changeHandlers) {
      void (async () => handler(change))().catch((error: unknown) =>
        this.#warn(`a handler of server ${this.#at} failed: ${quote(String(error))}`),
      );
    }
  }

  /** Lists anew while somebody wants to know what changed and the last listing is older than the last change. */
  async #follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      while (this.#changeHandlers.size > 0 && this.#connection.peer !== undefined && !this.#isCurrent) {
        await this.#read();
      }
    } catch (error) {
      this.#warn(`the changed tools of server ${this.#at} were not read: ${(error as Error).message}`);
    } finally {
      this.#isFollowing = false;
    }
  }

  /** The last listing still stands: the connection is the same, and the server told of no change since. */
  get #isCurrent(): boolean {
    const { giver, changes } = this.#listed ?? {};
    return giver !== undefined && giver === this.#connection.peer && changes === this.#changes;
  }

  /** Lists, or joins the listing under way. */
  #read(): Promise<ListedTools> {
    this.#reading ??= this.list().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  #isGuarded({ name }: WireTool): boolean {
    const { pinnedTools, onToolChanged } = this.#connection.definition;
    return onToolChanged === 'block' || Object.hasOwn(pinnedTools, name);
  }

  /**
   * T4: nothing runs that is not what somebody agreed to. The list is read first where the connection is a new one or the
   * server said that its list changed.
   *
   * @throws MCPToolCallError `MCP_CLIENT_TOOL_CHANGED`; every error of a listing.
   */
  async #assertUnchanged(definition: WireTool): Promise<void> {
    const { pinnedTools, onToolChanged } = this.#connection.definition;
    const { name } = definition;
    const pinned = Object.hasOwn(pinnedTools, name) ? pinnedTools[name] : undefined;
    await this.#connection.connect();
    // Once more when the first one had begun before the last change. A list that never rests is taken as it is then.
    for (let reading = 1; reading <= 2 && !this.#isCurrent; reading += 1) await this.#read();
    const known = this.#known.get(name);
    const isOther = (expected: string): boolean =>
      digestOf(definition) !== expected || (known !== undefined && digestOf(known.entry) !== expected);
    const isChanged =
      (pinned !== undefined && isOther(pinned)) ||
      (onToolChanged === 'block' && isOther(digestOf(known?.first ?? definition)));
    if (!isChanged) return;
    throw new MCPToolCallError('MCP_CLIENT_TOOL_CHANGED', {
      message: `Tool ${quote(name)} of server ${this.#at} was not called: its definition is not the one agreed to`,
      category: 'USER',
      toolName: name,
      serverName: this.#connection.serverName,
      mayHaveExecuted: false,
    });
  }

  /** Warns about a problem; the same one only once. */
  reportOnce({ toolName, reason }: ToolProblem): void {
    const text = `tool ${quote(toolName)} of server ${this.#at}: ${reason}`;
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#warn(text);
  }

  get #at(): string {
    return quote(this.#connection.serverName);
  }

  #build(definition: MCPToolDefinition): RemoteTool {
    const { name, outputSchema } = definition;
    const annotations = definition.annotations as ToolAnnotations | undefined;
    const { requireToolApproval } = this.#connection.definition;
    const inputOk = inspectSchema(definition.inputSchema) === undefined;
    const outputOk = outputSchema !== undefined && inspectSchema(outputSchema) === undefined;
    const title = definition.title ?? annotations?.title ?? name;
    const meta = definition._meta;
    const tool = createTool({
      id: name,
      title,
      description: definition.description ?? '',
      inputSchema: acceptNothing(
        this.#schema(inputOk ? withProperties(definition.inputSchema) : ANY_OBJECT, name),
      ),
      ...(outputOk ? { outputSchema: acceptErrors(this.#schema(outputSchema, name)) } : {}),
      mcpMetadata: toMcpMetadata(this.#connection.definition, definition, definition.server),
      ...(annotations === undefined && meta === undefined
        ? {}
        : {
            mcp: {
              ...(annotations === undefined ? {} : { annotations }),
              ...(meta === undefined ? {} : { _meta: meta }),
            },
          }),
      toModelOutput,
      execute: async (input: unknown, context: unknown) => {
        if (this.#isGuarded(definition)) await this.#assertUnchanged(definition);
        return callRemoteTool(this.#connection, definition, input, context ?? {});
      },
    }) as RemoteTool;
    const approval = toApprovalFields(requireToolApproval, { toolName: name, annotations }, error =>
      this.#warn(
        `approval function of server ${this.#at} failed, approval is required: ${quote(String(error))}`,
      ),
    );
    const { execute } = tool;
    return Object.assign(tool, approval, {
      // Core copies the arguments before it hands them on, and a cycle has no end.
      execute: async (input: unknown, context?: RemoteCallContext) => {
        try {
          return await execute(input, context);
        } catch (error) {
          throw isMCPError(error) ? error : (toArgumentsError(this.#connection, definition, input) ?? error);
        }
      },
    });
  }

  #schema(schema: JsonSchema, toolName: string): ReturnType<typeof toStandardSchema> {
    return toStandardSchema(schema, {
      onUnusable: error =>
        this.#warn(
          `a schema of tool ${quote(toolName)} of server ${this.#at} is not checked: ${quote(String(error))}`,
        ),
    });
  }

  #serverIdentity(): ServerIdentity {
    const { serverInfo, instructions } = this.#connection.peer ?? {};
    return {
      ...(serverInfo === undefined ? {} : { version: serverInfo.version }),
      ...(instructions === undefined ? {} : { instructions }),
    };
  }
}

function* schemaProblems({ name, inputSchema, outputSchema }: WireTool): Generator<ToolProblem> {
  for (const [label, schema] of [
    ['inputSchema', inputSchema],
    ['outputSchema', outputSchema],
  ] as const) {
    const defect = label === 'outputSchema' && schema === undefined ? undefined : inspectSchema(schema);
    if (defect === undefined) continue;
    const reason = `its ${label} cannot be used (${defect.path || '/'}: ${defect.reason}); any object is accepted`;
    yield { toolName: name, kind: 'schema', reason };
  }
}

/** An entry without the members that are nested too deep; an input schema that is becomes one for any object. */
function withoutDepths(entry: WireTool): { readonly entry: WireTool; readonly cut: readonly string[] } {
  const cut = Object.entries(entry).flatMap(([member, value]) => (isDeep(value, MAX_LEVELS) ? [member] : []));
  if (cut.length === 0) return { entry, cut };
  const kept = Object.entries(entry).filter(([member]) => !cut.includes(member));
  const inputSchema = cut.includes('inputSchema') ? ANY_OBJECT : entry.inputSchema;
  return { entry: { ...Object.fromEntries(kept), inputSchema } as WireTool, cut };
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(member => isDeep(member, levels - 1));
}

function toDepthProblem(toolName: string, member: string): ToolProblem {
  return {
    toolName,
    kind: 'schema',
    reason: `its ${member} is nested deeper than ${MAX_LEVELS} levels and left out`,
  };
}

/** B21: some providers refuse an object schema without `properties`. Composed schemas say it elsewhere. */
function withProperties(schema: JsonSchema): JsonSchema {
  const composed = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties'].some(key => key in schema);
  return composed ? schema : { ...schema, properties: {} };
}

type StandardSchema = ReturnType<typeof toStandardSchema>;

/** B21: a model that calls a tool without arguments sends nothing, `null` or an empty string. */
function acceptNothing(schema: StandardSchema): StandardSchema {
  const { validate } = schema['~standard'];
  return mapValidate(schema, value =>
    validate(value === undefined || value === null || value === '' ? {} : value),
  );
}

/** A failed result that is returned instead of thrown (`onToolError`) is no output to check. */
function acceptErrors(schema: StandardSchema): StandardSchema {
  const { validate } = schema['~standard'];
  return mapValidate(schema, value => {
    const isError =
      typeof value === 'object' && value !== null && 'isError' in value && value.isError === true;
    return isError && 'content' in value ? { value } : validate(value);
  });
}

function mapValidate(
  schema: StandardSchema,
  validate: StandardSchema['~standard']['validate'],
): StandardSchema {
  return { ...schema, '~standard': { ...schema['~standard'], validate } };
}

/** Equality of JSON values, key order aside. Runs over every listing, so it allocates nothing. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  let surplus = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key)) return false;
    if (!sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false;
    surplus -= 1;
  }
  for (const _ in b) surplus += 1;
  return surplus === 0;
}
