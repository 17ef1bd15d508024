/**
 * Finds what makes a JSON Schema unusable, by its structure alone.
 *
 * Owns the walk that decides at listing time. Compiles no validator, fetches nothing, judges no value.
 */
import { forEachSubschema, isJsonObject, unescapePointer, type JsonObject } from './schema-keywords.ts';
import { isPattern } from './schema-patterns.ts';

/** The first reason found why a schema cannot be used. */
export interface SchemaDefect {
  /** JSON Pointer into the schema; '' is its root. */
  readonly path: string;
  readonly reason: string;
}

/** Schemas nested deeper than this are not used. */
const MAX_SCHEMA_DEPTH = 256;

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Finds the first defect of a schema whose instances are objects. */
export function findDefect(schema: unknown): SchemaDefect | undefined {
  if (!isJsonObject(schema)) return { path: '', reason: `is ${describe(schema)}, not a JSON Schema object` };
  const { type } = schema;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return { path: '/type', reason: `is ${describe(type)}, but the value is always an object` };
  }
  const walk = new Walk(schema);
  return walk.visit(schema, '', 0, schema);
}

class Walk {
  readonly #root: JsonObject;
  #anchors: ReadonlySet<string> | undefined;
  readonly #endless = new WeakSet<object>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  visit(schema: unknown, path: string, depth: number, resource: JsonObject): SchemaDefect | undefined {
    if (typeof schema === 'boolean') return undefined;
    if (!isJsonObject(schema)) return { path, reason: `is ${describe(schema)}, not a JSON Schema` };
    if (depth > MAX_SCHEMA_DEPTH) return { path: '', reason: `is nested deeper than ${MAX_SCHEMA_DEPTH}` };
    // `#/...` points into the nearest schema with an identifier of its own
    const id = schema['$id'];
    const home = typeof id === 'string' && !id.startsWith('#') ? schema : resource;
    let defect = keywordDefect(schema, path) ?? this.#refDefect(schema, path, home);
    if (defect !== undefined) return defect;
    forEachSubschema(schema, (subschema, pointer) => {
      defect ??= this.visit(subschema, path + pointer, depth + 1, home);
    });
    return defect;
  }

  #refDefect(schema: JsonObject, path: string, resource: JsonObject): SchemaDefect | undefined {
    const { $ref } = schema;
    if ($ref === undefined) return undefined;
    const at = `${path}/$ref`;
    if (typeof $ref !== 'string') return { path: at, reason: `is ${describe($ref)}, not a string` };
    // what lies elsewhere is never fetched, and is not a defect: it allows everything
    if (!$ref.startsWith('#')) return undefined;
    const target = this.#resolve($ref, resource);
    if (target === undefined) return { path: at, reason: `${JSON.stringify($ref)} leads nowhere` };
    return this.#isEndless(schema, resource, new Set())
      ? { path: at, reason: `${JSON.stringify($ref)} leads back to itself` }
      : undefined;
  }

  #resolve(ref: string, resource: JsonObject): unknown {
    const fragment = decodeFragment(ref.slice(1));
    if (fragment === undefined) return undefined;
    if (fragment === '') return resource;
    if (!fragment.startsWith('/')) {
      this.#anchors ??= collectAnchors(this.#root);
      return this.#anchors.has(fragment) ? true : undefined;
    }
    let target: unknown = resource;
    for (const segment of fragment.slice(1).split('/').map(unescapePointer)) {
      if (typeof target !== 'object' || target === null || !Object.hasOwn(target, segment)) return undefined;
      target = Reflect.get(target, segment);
    }
    return isJsonObject(target) || typeof target === 'boolean' ? target : undefined;
  }

  /** A cycle of schemas that all apply to the same value never ends. */
  #isEndless(schema: unknown, resource: JsonObject, above: Set<object>): boolean {
    if (!isJsonObject(schema) || this.#endless.has(schema)) return false;
    if (above.has(schema)) return true;
    if (above.size > MAX_SCHEMA_DEPTH) return true;
    above.add(schema);
    const { $ref } = schema;
    const next: unknown[] = SAME_VALUE.map(keyword => schema[keyword]).flat();
    if (typeof $ref === 'string' && $ref.startsWith('#')) next.push(this.#resolve($ref, resource));
    const endless = next.some(item => this.#isEndless(item, resource, above));
    above.delete(schema);
    if (!endless) this.#endless.add(schema);
    return endless;
  }
}

const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

function keywordDefect(schema: JsonObject, path: string): SchemaDefect | undefined {
  for (const keyword of Object.keys(schema)) {
    const reason = CHECKS[keyword]?.(schema[keyword]);
    if (reason !== undefined) return { path: `${path}/${keyword}`, reason };
  }
  return undefined;
}

type Check = (value: unknown) => string | undefined;

const isMap: Check = value => (isJsonObject(value) ? undefined : `is ${describe(value)}, not an object`);
const isSchemaList: Check = value =>
  Array.isArray(value) && value.length > 0 ? undefined : `is ${describe(value)}, not a list of schemas`;
const isRegex: Check = value =>
  typeof value === 'string' && isPattern(value)
    ? undefined
    : `is ${describe(value)}, not a regular expression`;

const CHECKS: Readonly<Record<string, Check | undefined>> = Object.assign(Object.create(null), {
  $defs: isMap,
  allOf: isSchemaList,
  anyOf: isSchemaList,
  definitions: isMap,
  enum: value => (Array.isArray(value) ? undefined : `is ${describe(value)}, not a list`),
  oneOf: isSchemaList,
  pattern: isRegex,
  patternProperties: value =>
    isMap(value) ??
    Object.keys(value as JsonObject)
      .map(isRegex)
      .find(reason => reason !== undefined),
  properties: isMap,
  required: value =>
    Array.isArray(value) && value.every(name => typeof name === 'string')
      ? undefined
      : `is ${describe(value)}, not a list of property names`,
  type: value => {
    const types: readonly unknown[] = Array.isArray(value) ? value : [value];
    const unknown = types.find(type => !TYPES.includes(type));
    if (types.length === 0) return 'is an empty list';
    return types.every(type => TYPES.includes(type)) ? undefined : `is ${describe(unknown)}, not a JSON type`;
  },
} satisfies Record<string, Check>) as Record<string, Check | undefined>;

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function collectAnchors(root: JsonObject): ReadonlySet<string> {
  const anchors = new Set<string>();
  const visit = (schema: unknown): void => {
    if (!isJsonObject(schema)) return;
    const { $anchor, $dynamicAnchor, $id } = schema;
    if (typeof $anchor === 'string') anchors.add($anchor);
    if (typeof $dynamicAnchor === 'string') anchors.add($dynamicAnchor);
    // draft-06 and draft-07 write an anchor as an identifier
    if (typeof $id === 'string' && $id.startsWith('#')) anchors.add($id.slice(1));
    forEachSubschema(schema, visit);
  };
  visit(root);
  return anchors;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value === null) return 'null';
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'object' ? 'an object' : 'missing';
}
