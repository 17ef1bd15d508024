/**
 * The dialects of JSON Schema: which one a schema speaks, and the same schema in 2020-12.
 *
 * Owns what changed from draft-04 to 2020-12. Does not validate and does not judge a schema.
 *
 * @see https://json-schema.org/draft/2020-12/release-notes
 */
import { isJsonObject, mapSubschemas, type JsonObject } from './schema-keywords.ts';

/** Drafts 6 and 7 differ in nothing that counts here. */
export type Dialect = '4' | '7' | '2019-09' | '2020-12';

/** Unknown and private markers mean the newest dialect. @see https://json-schema.org/draft/2020-12 */
export function dialectOf(schema: JsonObject): Dialect {
  const marker = schema['$schema'];
  if (typeof marker !== 'string') return '2020-12';
  if (marker.includes('draft-04')) return '4';
  if (marker.includes('draft-06') || marker.includes('draft-07')) return '7';
  return marker.includes('2019-09') ? '2019-09' : '2020-12';
}

/**
 * Writes a schema of any dialect in 2020-12 and without a marker. What is no keyword of its dialect is read as in the
 * dialect that has it.
 */
export function toNewestDialect(schema: JsonObject): JsonObject {
  const newest = convert(schema, dialectOf(schema)) as JsonObject;
  const { definitions, ...rest } = newest;
  if (!isJsonObject(definitions) || rest['$defs'] !== undefined) return newest;
  return { ...(moveReferences(rest) as JsonObject), $defs: mapValues(definitions, moveReferences) };
}

const OLD_PLACE = '#/definitions/';

/** `definitions` of the root became `$defs`. */
function moveReferences(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const copy = mapSubschemas(schema, moveReferences);
  const { $ref } = copy;
  if (typeof $ref === 'string' && $ref.startsWith(OLD_PLACE))
    copy['$ref'] = `#/$defs/${$ref.slice(OLD_PLACE.length)}`;
  return copy;
}

function mapValues(object: JsonObject, map: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

/** What still counts beside a `$ref` before 2019-09: what no value can break. */
const BESIDE_REF = new Set(['$ref', '$defs', 'definitions', 'title', 'description', 'default', 'examples']);

function convert(schema: unknown, dialect: Dialect): unknown {
  if (!isJsonObject(schema)) return schema;
  const { $schema: _marker, ...copy } = mapSubschemas(schema, item => convert(item, dialect));
  convertTuple(copy);
  convertDependencies(copy);
  convertBound(copy, 'minimum', 'exclusiveMinimum');
  convertBound(copy, 'maximum', 'exclusiveMaximum');
  if (dialect === '2019-09') convertRecursion(copy);
  const ignoresSiblings = (dialect === '4' || dialect === '7') && typeof copy['$ref'] === 'string';
  return ignoresSiblings
    ? Object.fromEntries(Object.entries(copy).filter(([keyword]) => BESIDE_REF.has(keyword)))
    : copy;
}

/** 2019-09 and older write a tuple as a list in `items`. */
function convertTuple(copy: Record<string, unknown>): void {
  if (Array.isArray(copy['items'])) {
    copy['prefixItems'] = copy['items'];
    delete copy['items'];
    if (copy['additionalItems'] !== undefined) copy['items'] = copy['additionalItems'];
  }
  delete copy['additionalItems'];
}

/** Before 2019-09 one keyword holds both kinds of dependencies. */
function convertDependencies(copy: Record<string, unknown>): void {
  const { dependencies } = copy;
  if (!isJsonObject(dependencies)) return;
  delete copy['dependencies'];
  const entries = Object.entries(dependencies);
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  if (required.length > 0) copy['dependentRequired'] = Object.fromEntries(required);
  if (schemas.length > 0) copy['dependentSchemas'] = Object.fromEntries(schemas);
}

/** In draft-04 and OpenAPI an exclusive bound is a flag on the other one. */
function convertBound(copy: Record<string, unknown>, inclusive: string, exclusive: string): void {
  const flag = copy[exclusive];
  if (typeof flag !== 'boolean') return;
  delete copy[exclusive];
  if (!flag || copy[inclusive] === undefined) return;
  copy[exclusive] = copy[inclusive];
  delete copy[inclusive];
}

/** Within one document recursion is the same as a reference. */
function convertRecursion(copy: Record<string, unknown>): void {
  if (copy['$recursiveRef'] === '#') copy['$ref'] ??= '#';
  delete copy['$recursiveRef'];
  delete copy['$recursiveAnchor'];
}
