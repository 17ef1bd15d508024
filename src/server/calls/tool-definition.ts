/**
 * The schemas of tools/list entries, made of whatever a tool was declared with.
 *
 * Owns what is advertised: always an object for arguments, only an object for results, in the dialect that every client
 * has to know. Validates nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool
 */
import type { PublicSchema } from '@mastra/core/schema';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import { inNewestDialect, inspectSchema, toJsonSchema } from '../../shared/schema.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { toErrorText } from '../../shared/tool-result.ts';

type Warn = (message: string) => void;

/** The schema of arguments. One that cannot be used is listed as any object, with a warning. */
export function toInputSchema(
  schema: PublicSchema | undefined,
  toolName: string,
  warn: Warn,
): ToolDefinition['inputSchema'] {
  const json = convert(schema, 'input', toolName, warn);
  if (json === undefined) return { type: 'object', properties: {} };
  const defect = inspectSchema(json);
  if (defect !== undefined) {
    const where = defect.path === '' ? 'the schema' : defect.path;
    warn(
      `The input schema of tool ${JSON.stringify(toolName)} is listed as any object: ${where} ${defect.reason}`,
    );
    return { type: 'object' };
  }
  // A union of objects has no type of its own, and arguments are always an object.
  return json['type'] === 'object' ? (json as ToolDefinition['inputSchema']) : { ...json, type: 'object' };
}

/** The schema of results; `undefined` when its root is no object, or when it cannot be used. */
export function toOutputSchema(
  schema: PublicSchema | undefined,
  toolName: string,
  warn: Warn,
): ToolDefinition['outputSchema'] {
  const json = convert(schema, 'output', toolName, warn);
  if (json === undefined || json['type'] !== 'object') return undefined;
  const defect = inspectSchema(json);
  if (defect === undefined) return json as ToolDefinition['outputSchema'];
  warn(
    `The output schema of tool ${JSON.stringify(toolName)} is not listed: ${defect.path} ${defect.reason}`,
  );
  return undefined;
}

function convert(
  schema: PublicSchema | undefined,
  io: 'input' | 'output',
  toolName: string,
  warn: Warn,
): JsonSchema | undefined {
  try {
    const json = toJsonSchema(schema, io);
    return json === undefined ? undefined : inNewestDialect(json);
  } catch (error) {
    warn(`The ${io} schema of tool ${JSON.stringify(toolName)} cannot be listed: ${toErrorText(error)}`);
    return undefined;
  }
}
