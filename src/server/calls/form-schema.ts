/**
 * The schema of a form: what the specification allows in an elicitation, and nothing else.
 *
 * Owns the check of a question's schema and the reduction of a resume schema to a form. Does not ask anybody.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema
 */
import { PrimitiveSchemaDefinitionSchema } from '@modelcontextprotocol/sdk/types.js';
import { inspectSchema } from '../../shared/schema.ts';
import type { JsonSchema } from '../../shared/schema.ts';
import { refusedQuestion } from './question-kind.ts';

const formats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);

/**
 * Checks that a schema is a flat object of strings, numbers, booleans and enums, and returns only what a form carries.
 *
 * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` naming the property that a form cannot show.
 */
export function toFormSchema(schema: unknown): JsonSchema {
  const defect = formDefect(schema);
  if (defect !== undefined) throw refusedQuestion('Elicitation', `requestedSchema ${defect}`);
  const { properties, required } = schema as JsonSchema;
  return { type: 'object', properties, ...(required === undefined ? {} : { required }) };
}

/** Why a schema cannot be a form, or `undefined` when it can. */
export function formDefect(schema: unknown): string | undefined {
  if (!isRecord(schema) || schema['type'] !== 'object') return 'must be a JSON Schema of type "object"';
  const properties = schema['properties'];
  if (!isRecord(properties)) return 'must have "properties"';
  for (const [name, property] of Object.entries(properties)) {
    const shown = `has a property ${JSON.stringify(name)}`;
    if (!isPrimitive(property)) return `${shown} that is neither a string, a number, a boolean nor an enum`;
    // Clients read it by the protocol's own schema, and would refuse the whole question.
    if (!PrimitiveSchemaDefinitionSchema.safeParse(property).success) {
      return `${shown} with a keyword whose value the protocol does not allow`;
    }
  }
  const required = schema['required'];
  if (required !== undefined && !isStrings(required)) return 'has a "required" that is no list of names';
  const broken = inspectSchema({ type: 'object', properties });
  return broken === undefined ? undefined : `cannot be used: ${broken.path} ${broken.reason}`;
}

function isPrimitive(property: unknown): boolean {
  if (!isRecord(property)) return false;
  switch (property['type']) {
    case 'boolean':
    case 'number':
    case 'integer':
      return true;
    case 'string':
      return isStringProperty(property);
    case 'array':
      return isMultiSelect(property['items']);
    default:
      return false;
  }
}

function isStringProperty(property: JsonSchema): boolean {
  if (property['enum'] !== undefined) return isStrings(property['enum']);
  if (property['oneOf'] !== undefined) return isTitledOptions(property['oneOf']);
  return property['format'] === undefined || formats.has(property['format']);
}

function isMultiSelect(items: unknown): boolean {
  if (!isRecord(items)) return false;
  if (items['anyOf'] !== undefined) return isTitledOptions(items['anyOf']);
  return items['type'] === 'string' && isStrings(items['enum']);
}

function isTitledOptions(options: unknown): boolean {
  return (
    Array.isArray(options) &&
    options.every(
      option =>
        isRecord(option) && typeof option['const'] === 'string' && typeof option['title'] === 'string',
    )
  );
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string');
}

function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
