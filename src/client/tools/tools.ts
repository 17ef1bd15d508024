/**
 * Remote tools as Mastra Tools: one server's `tools/list` entries in, Tool objects out.
 *
 * Owns conversion, reuse of what was built for an unchanged definition, and isolation: a bad entry never takes others
 * along (D06). What `execute` does is in `tool-call.ts`, names are in `tool-names.ts`.
 */
import { createTool, type Tool, type ToolAnnotations } from '@mastra/core/tools';
import type { Tool as WireTool } from '@modelcontextprotocol/sdk/types.js';
import { inspectSchema, toStandardSchema, type JsonSchema } from '../../shared/schema.ts';
import { toModelOutput } from '../../shared/tool-result.ts';
import { readPages } from '../capabilities/pages.ts';
import type { Connection } from '../connection/connection.ts';
import { quote } from '../connection/to-error.ts';
import type { ToolProblem } from '../discovery.ts';
import { toApprovalFields } from './approval.ts';
import { toMcpMetadata, type ServerIdentity } from './instructions.ts';
import { callRemoteTool, type RemoteCallContext } from './tool-call.ts';

/** A tool of a remote server, for an Agent, a workflow or a direct call; a direct call needs no context. */
export type RemoteTool = Tool & {
  execute: (input: unknown, context?: RemoteCallContext) => Promise<unknown>;
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
  readonly definition: MCPToolDefinition;
  readonly problems: readonly ToolProblem[];
}

interface Built {
  readonly definition: MCPToolDefinition;
  readonly tool: RemoteTool;
}

/** What a tool gets when the schema of its server cannot be used: any object (D06). */
const ANY_OBJECT: JsonSchema = { type: 'object', properties: {} };

export class RemoteTools {
  readonly #connection: Connection;
  readonly #warn: (text: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #built = new Map<string, Built>();
  readonly #reported = new Set<string>();
  #count: number | undefined;

  constructor(connection: Connection, warn: (text: string) => void) {
    this.#connection = connection;
    this.#warn = warn;
  }

  /** How many tools the last listing gave; absent before the first. */
  get count(): number | undefined {
    return this.#count;
  }

  /** Reads the definitions of all tools that exist for this client. */
  async list(): Promise<ListedTools> {
    const { items, stopped } = await readPages(this.#connection, 'tools/list', 'tools');
    const server = this.#serverIdentity();
    const definitions: MCPToolDefinition[] = [];
    const problems: ToolProblem[] = [];
    for (const item of items) {
      const { name } = (item ?? {}) as { readonly name?: unknown };
      if (typeof name !== 'string' || name === '') {
        problems.push({ toolName: String(name), kind: 'name', reason: 'the name is not a non-empty string' });
        continue;
      }
      if (!this.#connection.definition.allowsTool(name)) continue;
      const known = this.#know(item as WireTool, server);
      definitions.push(known.definition);
      problems.push(...known.problems);
    }
    this.#count = definitions.length;
    for (const problem of problems) this.reportOnce(problem);
    if (stopped !== undefined) this.#warn(`tools/list of server ${this.#at} ended early: ${stopped}`);
    return { definitions, problems, ...(stopped === undefined ? {} : { stopped }) };
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

  #know(entry: WireTool, server: ServerIdentity): Known {
    let known = this.#known.get(entry.name);
    if (known === undefined || !sameJson(known.entry, entry) || !sameJson(known.definition.server, server)) {
      known = { entry, definition: { ...entry, server }, problems: [...schemaProblems(entry)] };
      this.#known.set(entry.name, known);
    }
    return known;
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
      mcpMetadata: toMcpMetadata(this.#connection.definition, name, definition.server),
      ...(annotations === undefined && meta === undefined
        ? {}
        : {
            mcp: {
              ...(annotations === undefined ? {} : { annotations }),
              ...(meta === undefined ? {} : { _meta: meta }),
            },
          }),
      toModelOutput,
      execute: (input: unknown, context: unknown) =>
        callRemoteTool(this.#connection, definition, input, (context ?? {}) as RemoteCallContext),
    }) as RemoteTool;
    const approval = toApprovalFields(requireToolApproval, { toolName: name, annotations }, error =>
      this.#warn(
        `approval function of server ${this.#at} failed, approval is required: ${quote(String(error))}`,
      ),
    );
    return Object.assign(tool, approval);
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
