/**
 * Makes validators out of JSON Schemas, by interpretation: no code is generated.
 *
 * Owns the copy of a schema that the interpreter reads and may write to, the choice of the dialect, and what is left
 * out because it could block the process. Fetches nothing and does not change the schema it is given.
 */
import { dereference, format as formats, ignoredKeyword, validate as interpret } from '@cfworker/json-schema';
import type { OutputUnit, Schema, SchemaDraft } from '@cfworker/json-schema';
import { dialectOf } from './schema-dialect.ts';
import { forEachSubschema, isJsonObject, mapSubschemas, type JsonObject } from './schema-keywords.ts';
import { toRunnablePattern } from './schema-patterns.ts';

/** One place where a value breaks a schema. */
export interface SchemaIssue {
  /** JSON Pointer into the value; '' is the value itself. */
  readonly path: string;
  readonly message: string;
}

/** How a validator treats what the schema leaves to the other side. */
export interface ValidatorMode {
  /** 'allow': a required property that has a default may be missing, because the receiver fills it. */
  readonly missingDefaults: 'allow' | 'refuse';
}

export interface Validator {
  /** Patterns that are not evaluated: too costly, or not expressible. */
  readonly skippedPatterns: readonly string[];
  check(value: unknown): readonly SchemaIssue[];
}

/** A schema that cannot be used to validate; the value it was used on is neither valid nor invalid. */
export class SchemaUnusableError extends Error {
  override readonly name = 'SchemaUnusableError';

  constructor(problem: string, cause?: unknown) {
    super(`The JSON Schema cannot be used: ${problem}`, { cause });
  }
}

/** References that one validation may follow. */
const MAX_STEPS = 200_000;
/** Longest list whose items are compared with each other. */
const MAX_UNIQUE_ITEMS = 1_000;
/** Issues that one validation reports. */
const MAX_ISSUES = 20;

/**
 * Makes the validator of a schema.
 *
 * @throws SchemaUnusableError when a local `$ref` leads nowhere or the schema is too deep.
 */
export function createValidator(schema: JsonObject, mode: ValidatorMode): Validator {
  const draft = dialectOf(schema);
  const copy = copySchema(schema, draft, mode);
  const lookup = copy.refs.length === 0 ? {} : indexSchemas(copy.root);
  const missing = copy.refs.find(({ __absolute_ref__: uri = '' }) => !(uri in lookup));
  if (missing !== undefined) {
    throw new SchemaUnusableError(`$ref ${JSON.stringify(missing['$ref'])} leads nowhere`);
  }

  const run = (value: unknown, shortCircuit: boolean): OutputUnit[] => {
    copy.budget.steps = MAX_STEPS;
    return interpret(value, copy.root, draft, lookup, shortCircuit).errors;
  };
  return {
    skippedPatterns: copy.skippedPatterns,
    check: value => check(run, value),
  };
}

type Run = (value: unknown, shortCircuit: boolean) => OutputUnit[];

function check(run: Run, value: unknown): readonly SchemaIssue[] {
  const errors = runOnJson(run, value, true);
  if (!Array.isArray(errors)) return [errors];
  if (errors.length === 0) return [];
  // core repairs all values that are named at once, so every issue is worth a second run
  const all = errors.length > MAX_ISSUES ? errors : runOnJson(run, value, false);
  return toIssues(Array.isArray(all) ? all : errors);
}

/** The interpreter knows JSON only: what it refuses is tried again in the form it has on the wire. */
function runOnJson(run: Run, value: unknown, shortCircuit: boolean): OutputUnit[] | SchemaIssue {
  try {
    return run(value, shortCircuit);
  } catch (error) {
    if (error instanceof RangeError) return TOO_LARGE;
  }
  const wire = toWire(value);
  if (wire === undefined) return { path: '', message: 'Is not a JSON value.' };
  try {
    return run(wire.value, shortCircuit);
  } catch (error) {
    if (error instanceof RangeError) return TOO_LARGE;
    throw new SchemaUnusableError('the interpreter refused it', error);
  }
}

const TOO_LARGE: SchemaIssue = { path: '', message: 'Is too large or too deeply nested to be checked.' };

function toWire(value: unknown): { readonly value: unknown } | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Keywords whose own error says nothing: the errors of their subschemas follow it. */
const FRAMES = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function toIssues(errors: readonly OutputUnit[]): readonly SchemaIssue[] {
  const telling = errors.filter(error => !FRAMES.has(error.keyword));
  return (telling.length > 0 ? telling : errors).slice(0, MAX_ISSUES).map(error => ({
    path: error.instanceLocation.slice(1).split('/').map(decodeURIComponent).join('/'),
    message: error.keyword === 'false' ? 'Is not allowed.' : error.error,
  }));
}

function indexSchemas(root: Schema): ReturnType<typeof dereference> {
  try {
    return dereference(root);
  } catch (error) {
    throw new SchemaUnusableError('it is too deep, or its identifiers contradict each other', error);
  }
}

interface SchemaCopy {
  readonly root: Schema;
  readonly refs: readonly Schema[];
  readonly skippedPatterns: readonly string[];
  readonly budget: { steps: number };
}

/**
 * Copies a schema for the interpreter, which writes to what it reads.
 *
 * What cannot be checked here is left out. Leaving something out may only ever allow more, so in that case everything
 * that negates or counts is left out as well.
 */
function copySchema(schema: JsonObject, draft: SchemaDraft, mode: ValidatorMode): SchemaCopy {
  const copier = new SchemaCopier(schema, draft, mode, false);
  const root = copier.copyRoot();
  if (!copier.leftOut) return copier.result(root);
  const weak = new SchemaCopier(schema, draft, mode, true);
  return weak.result(weak.copyRoot());
}

class SchemaCopier {
  leftOut = false;
  readonly #root: JsonObject;
  readonly #draft: SchemaDraft;
  readonly #mode: ValidatorMode;
  readonly #weak: boolean;
  readonly #refs: Schema[] = [];
  readonly #skippedPatterns = new Set<string>();
  readonly #budget = { steps: 0 };
  #ids: ReadonlySet<string> | undefined;

  constructor(root: JsonObject, draft: SchemaDraft, mode: ValidatorMode, weak: boolean) {
    this.#root = root;
    this.#draft = draft;
    this.#mode = mode;
    this.#weak = weak;
  }

  copyRoot(): Schema {
    try {
      return this.#copyObject(this.#root);
    } catch (error) {
      throw new SchemaUnusableError('it is too deep', error);
    }
  }

  result(root: Schema): SchemaCopy {
    return { root, refs: this.#refs, skippedPatterns: [...this.#skippedPatterns], budget: this.#budget };
  }

  readonly #copy = (schema: unknown): unknown => (isJsonObject(schema) ? this.#copyObject(schema) : schema);

  #copyObject(source: JsonObject): Schema {
    const copy: Record<string, unknown> = mapSubschemas(source, this.#copy);
    for (const [keyword, value] of Object.entries(copy)) {
      // the interpreter walks into unknown keywords too, in search of `$ref` targets
      if (value === source[keyword] && isJsonObject(value) && !(keyword in ignoredKeyword)) {
        copy[keyword] = this.#copyObject(value);
      }
    }
    this.#adjustIdentity(copy);
    this.#adjustPatterns(copy);
    adjustBounds(copy, this.#draft);
    adjustNullable(copy);
    adjustCost(copy);
    if (this.#mode.missingDefaults === 'allow') adjustRequired(copy);
    if (this.#weak) weaken(copy);
    if (copy['$ref'] !== undefined) this.#countSteps(copy);
    return copy;
  }

  #adjustIdentity(copy: Record<string, unknown>): void {
    adjustRecursion(copy, this.#draft);
    const { $id, $ref } = copy;
    if (this.#draft !== '4' || typeof copy['id'] !== 'string') delete copy['id'];
    if ($id !== undefined && !(typeof $id === 'string' && URL.canParse($id, NO_BASE))) delete copy['$id'];
    if ($ref === undefined) return;
    if (typeof $ref === 'string' && this.#isLocal($ref)) {
      this.#refs.push(copy);
    } else {
      delete copy['$ref'];
      this.leftOut = true;
    }
  }

  #adjustPatterns(copy: Record<string, unknown>): void {
    const { pattern, patternProperties } = copy;
    if (typeof pattern === 'string') {
      const runnable = this.#runnable(pattern);
      if (runnable === undefined) delete copy['pattern'];
      else copy['pattern'] = runnable;
    }
    if (!isJsonObject(patternProperties)) return;
    const kept = Object.entries(patternProperties).flatMap(([name, schema]) => {
      const runnable = this.#runnable(name);
      return runnable === undefined ? [] : [[runnable, schema] as const];
    });
    copy['patternProperties'] = Object.fromEntries(kept);
  }

  #runnable(pattern: string): string | undefined {
    const runnable = toRunnablePattern(pattern);
    if (runnable === undefined) {
      this.#skippedPatterns.add(pattern);
      this.leftOut = true;
    }
    return runnable;
  }

  /**
   * Counts how often a reference is followed: only references can make a small schema take exponential time. The
   * interpreter reads the `type` of every schema it visits once.
   */
  #countSteps(copy: Record<string, unknown>): void {
    const { type } = copy;
    const budget = this.#budget;
    Object.defineProperty(copy, 'type', {
      get: () => {
        budget.steps -= 1;
        if (budget.steps < 0) throw new RangeError('The schema takes too many steps');
        return type;
      },
    });
  }

  #isLocal(ref: string): boolean {
    if (ref.startsWith('#')) return true;
    this.#ids ??= collectIds(this.#root);
    const id = absoluteId(ref, this.#root);
    return id !== undefined && this.#ids.has(id);
  }
}

const NO_BASE = 'https://schema.invalid/';

function absoluteId(reference: string, root: JsonObject): string | undefined {
  const base = typeof root['$id'] === 'string' && URL.canParse(root['$id'], NO_BASE) ? root['$id'] : '';
  const home = new URL(base, NO_BASE).href;
  if (!URL.canParse(reference, home)) return undefined;
  const url = new URL(reference, home);
  url.hash = '';
  return url.href;
}

function collectIds(root: JsonObject): ReadonlySet<string> {
  const ids = new Set<string>();
  const visit = (schema: unknown): void => {
    if (!isJsonObject(schema)) return;
    const id = typeof schema['$id'] === 'string' ? absoluteId(schema['$id'], root) : undefined;
    if (id !== undefined) ids.add(id);
    forEachSubschema(schema, visit);
  };
  visit(root);
  return ids;
}

/** The interpreter loses its way in 2019-09 recursion, which means the same as `$ref` within one document. */
function adjustRecursion(copy: Record<string, unknown>, draft: SchemaDraft): void {
  if (draft === '2019-09' && copy['$recursiveRef'] === '#') copy['$ref'] ??= '#';
  delete copy['$recursiveRef'];
  delete copy['$recursiveAnchor'];
}

/** OpenAPI and draft-04 write exclusive bounds as a boolean beside the bound. */
function adjustBounds(copy: Record<string, unknown>, draft: SchemaDraft): void {
  if (draft === '4') return;
  for (const [exclusive, bound] of BOUNDS) {
    const flag = copy[exclusive];
    if (typeof flag !== 'boolean') continue;
    delete copy[exclusive];
    if (flag && copy[bound] !== undefined) {
      copy[exclusive] = copy[bound];
      delete copy[bound];
    }
  }
}

const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** OpenAPI's `nullable`, which is common in the schemas of servers that wrap a REST interface. */
function adjustNullable(copy: Record<string, unknown>): void {
  if (copy['nullable'] !== true) return;
  const { type } = copy;
  if (typeof type === 'string') copy['type'] = [type, 'null'];
  else if (Array.isArray(type)) copy['type'] = [...(type as unknown[]), 'null'];
  if (Array.isArray(copy['enum'])) copy['enum'] = [...(copy['enum'] as unknown[]), null];
}

/** The interpreter compares every item with every other, and one of its formats runs an exponential pattern. */
function adjustCost(copy: Record<string, unknown>): void {
  const { format, uniqueItems, allOf } = copy;
  if (format === 'url' || typeof format !== 'string' || !Object.hasOwn(formats, format))
    delete copy['format'];
  if (uniqueItems !== true) return;
  delete copy['uniqueItems'];
  const unlessLong = { if: { minItems: MAX_UNIQUE_ITEMS + 1 }, else: { uniqueItems } };
  copy['allOf'] = [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), unlessLong];
}

function adjustRequired(copy: Record<string, unknown>): void {
  const { required, properties } = copy;
  if (!Array.isArray(required) || !isJsonObject(properties)) return;
  copy['required'] = required.filter((name: unknown) => {
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) return true;
    const property = properties[name];
    return !isJsonObject(property) || property['default'] === undefined;
  });
}

const NEGATING = ['not', 'if', 'then', 'else', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'];

function weaken(copy: Record<string, unknown>): void {
  for (const keyword of NEGATING) delete copy[keyword];
  if (copy['patternProperties'] !== undefined) delete copy['additionalProperties'];
  const { oneOf, allOf } = copy;
  if (!Array.isArray(oneOf)) return;
  delete copy['oneOf'];
  copy['allOf'] = [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), { anyOf: oneOf as unknown[] }];
}
