/**
 * The JSON Schema of a schema that a library made: zod 3 and 4, Standard Schemas, AI SDK schemas.
 *
 * Owns what the libraries leave open: dates, objects that ignore unknown keys, older dialects. Caches nothing.
 */
import { isStandardSchemaWithJSON, toStandardSchema } from '@mastra/core/schema';
import type { PublicSchema, StandardSchemaWithJSON } from '@mastra/core/schema';
import { toJSONSchema as zodToJsonSchema } from 'zod/v4';
import type { core } from 'zod/v4';
import { toJsonValue } from './json-value.ts';
import { toNewestDialect } from './schema-dialect.ts';
import { isJsonObject, mapSubschemas, type JsonObject } from './schema-keywords.ts';
import { SchemaUnusableError } from './schema-validator.ts';

const DIALECT = 'draft-2020-12';

/**
 * Converts the schema of a library.
 *
 * @throws SchemaUnusableError when it has no JSON form.
 */
export function convertToJson(schema: object, io: 'input' | 'output'): JsonObject {
  let json: unknown;
  try {
    json = toJsonValue(convertByKind(schema, io));
  } catch (error) {
    throw new SchemaUnusableError('it has no JSON form', error);
  }
  if (isJsonObject(json)) return json;
  throw new SchemaUnusableError('it has no JSON form');
}

function convertByKind(schema: object, io: 'input' | 'output'): unknown {
  if ('_zod' in schema) {
    return toNewestDialect(zodToJsonSchema(schema as core.$ZodType, { io, target: DIALECT, ...ZOD_OPTIONS }));
  }
  if ('_def' in schema) {
    // for newer targets core's converter writes exclusive bounds as draft-04 does
    const json = convertStandard(toStandardSchema(schema as PublicSchema), io, ['draft-07']);
    return tidyZod3(json, hasStrictObject(schema, new Set()));
  }
  if (isStandardSchemaWithJSON(schema)) return convertStandard(schema, io);
  // what the user of the AI SDK wrote, with the dialect it names
  return 'jsonSchema' in schema ? schema.jsonSchema : undefined;
}

function convertStandard(
  schema: StandardSchemaWithJSON,
  io: 'input' | 'output',
  [target, ...others]: readonly [string, ...string[]] = [DIALECT, 'draft-07'],
): unknown {
  if ('getJsonSchema' in schema && typeof schema.getJsonSchema === 'function') {
    return schema.getJsonSchema(); // the wrapper of core around an AI SDK schema
  }
  try {
    return toNewestDialect(schema['~standard'].jsonSchema[io]({ target }));
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined) throw error;
    return convertStandard(schema, io, [next, ...rest]);
  }
}

const ZOD_OPTIONS = { unrepresentable: 'any' as const, override: adjustZodNode };

function adjustZodNode({ zodSchema, jsonSchema }: { zodSchema?: core.$ZodTypes; jsonSchema: object }): void {
  const node = jsonSchema as Record<string, unknown>;
  const def = zodSchema?._zod?.def;
  if (def?.type === 'date') Object.assign(node, { type: 'string', format: 'date-time' });
  // results of an object that drops unknown keys are shown as open: a tool may hand on more than it declares
  if (def?.type === 'object' && def.catchall === undefined) delete node['additionalProperties'];
}

/**
 * Core closes every object of zod 3 and marks its dates; zod 3 itself ignores unknown keys unless told otherwise. Which of
 * the objects is the strict one cannot be told any more, so one strict object leaves all of them closed.
 */
function tidyZod3(schema: unknown, hasStrict: boolean): unknown {
  if (!isJsonObject(schema)) return schema;
  const { 'x-date': _mark, ...copy } = mapSubschemas(schema, item => tidyZod3(item, hasStrict));
  if (!hasStrict && copy['additionalProperties'] === false) delete copy['additionalProperties'];
  return copy;
}

/** Looks for a strict object anywhere in a schema of zod 3. */
function hasStrictObject(node: unknown, seen: Set<object>): boolean {
  if (typeof node !== 'object' || node === null || seen.has(node)) return false;
  seen.add(node);
  const def: unknown = '_def' in node ? node._def : node;
  if (!isJsonObject(def)) return Array.isArray(def) && def.some(item => hasStrictObject(item, seen));
  if (def['unknownKeys'] === 'strict') return true;
  const { shape } = def;
  const properties: unknown = typeof shape === 'function' ? shape() : undefined;
  return [properties, ...Object.values(def)].some(item => hasStrictObject(item, seen));
}
