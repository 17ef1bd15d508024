/**
 * Where a JSON Schema holds further schemas, for every dialect from draft-04 to 2020-12.
 *
 * Owns the table of applicators and the two ways to go over them. Does not judge a schema.
 */

/** A JSON object as it came from JSON.parse. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

const ONE = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAP = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** What a keyword must hold to hold schemas: one, a list or a map of them. `items` may be one or a list. */
type ApplicatorKind = 'one' | 'list' | 'map' | 'one-or-list';

/** Tells how a keyword holds schemas; `undefined` for a keyword that holds none. */
function applicatorKind(keyword: string): ApplicatorKind | undefined {
  if (keyword === 'items') return 'one-or-list';
  if (ONE.has(keyword)) return 'one';
  if (LIST.has(keyword)) return 'list';
  return MAP.has(keyword) ? 'map' : undefined;
}

/** Narrows to a JSON object: not an array, not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Calls `visit` with the value and JSON Pointer of every direct subschema. Does not go deeper. */
export function forEachSubschema(
  schema: JsonObject,
  visit: (subschema: unknown, pointer: string) => void,
): void {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const kind = applicatorKind(keyword);
    if (kind === undefined) continue;
    if (kind === 'map') {
      if (!isJsonObject(value)) continue;
      for (const name of Object.keys(value)) {
        // draft-07 `dependencies` may list property names in place of a schema
        if (keyword === 'dependencies' && Array.isArray(value[name])) continue;
        visit(value[name], `/${keyword}/${escapePointer(name)}`);
      }
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => visit(item, `/${keyword}/${index}`));
    } else {
      visit(value, `/${keyword}`);
    }
  }
}

/** Copies a schema one level deep, every direct subschema replaced by what `map` makes of it. */
export function mapSubschemas(
  schema: JsonObject,
  map: (subschema: unknown) => unknown,
): Record<string, unknown> {
  // Object.fromEntries defines properties, so a property named `__proto__` stays one
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, map)]),
  );
}

function mapKeyword(keyword: string, value: unknown, map: (subschema: unknown) => unknown): unknown {
  const kind = applicatorKind(keyword);
  if (kind === undefined) return value;
  if (kind !== 'map') return Array.isArray(value) ? value.map(map) : map(value);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      keyword === 'dependencies' && Array.isArray(item) ? item : map(item),
    ]),
  );
}

function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Reads one segment of a JSON Pointer. @see https://www.rfc-editor.org/rfc/rfc6901 */
export function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
