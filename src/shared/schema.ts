/**
 * JSON Schema to Standard Schema and back, and validation.
 *
 * Owns the conversions and the caches of both. What a schema means lies in schema-validator.ts, what makes it unusable
 * in schema-inspection.ts, what changed between dialects in schema-dialect.ts.
 */
import type { PublicSchema, StandardSchemaWithJSON } from '@mastra/core/schema';
import type {
  jsonSchemaValidator as SdkValidatorProvider,
  JsonSchemaValidator,
} from '@modelcontextprotocol/sdk/validation';
import { convertToJson } from './schema-conversion.ts';
import { toNewestDialect } from './schema-dialect.ts';
import { findDefect, type SchemaDefect as Defect } from './schema-inspection.ts';
import { isJsonObject, unescapePointer } from './schema-keywords.ts';
import {
  createValidator,
  SchemaUnusableError,
  type SchemaIssue as Issue,
  type Validator,
  type ValidatorMode,
} from './schema-validator.ts';

/** A JSON Schema in object form. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** One place where a value breaks a schema: a JSON Pointer ('' is the value itself) and a sentence. */
export type SchemaIssue = Issue;

/** Why a schema cannot be used: a JSON Pointer into it and a reason. */
export type SchemaDefect = Defect;

/** How {@link toStandardSchema} treats what it cannot know or check. */
export interface StandardSchemaOptions {
  /**
   * 'allow': a required property that has a default may be missing, because the receiver fills it in.
   * @defaultValue 'allow'
   */
  readonly missingDefaults?: ValidatorMode['missingDefaults'] | undefined;
  /** Called once, when the schema turns out to be unusable; what it cannot judge passes. */
  readonly onUnusable?: ((error: unknown) => void) | undefined;
  /** Called once, when the validator is made, with the patterns that are too costly to evaluate here. */
  readonly onSkippedPatterns?: ((patterns: readonly string[]) => void) | undefined;
}

const validators = {
  allow: new WeakMap<JsonSchema, Validator | SchemaUnusableError>(),
  refuse: new WeakMap<JsonSchema, Validator | SchemaUnusableError>(),
};

function validatorOf(schema: JsonSchema, missingDefaults: ValidatorMode['missingDefaults']): Validator {
  const cache = validators[missingDefaults];
  let validator = cache.get(schema);
  if (validator === undefined) {
    try {
      validator = createValidator(schema, { missingDefaults });
    } catch (error) {
      validator = error instanceof SchemaUnusableError ? error : new SchemaUnusableError('unknown', error);
    }
    cache.set(schema, validator);
  }
  if (validator instanceof SchemaUnusableError) throw validator;
  return validator;
}

/**
 * Lists where a JSON value breaks a schema; empty when it is valid.
 *
 * Follows the dialect named by `$schema`. Checks the known formats, ignores unknown ones. Does not evaluate costly
 * patterns, does not fetch what lies elsewhere, does not fill defaults and does not change the value.
 *
 * @throws SchemaUnusableError when the schema itself breaks.
 */
export function validateJson(schema: JsonSchema, value: unknown): readonly SchemaIssue[] {
  return validatorOf(schema, 'refuse').check(value);
}

/**
 * Finds the first reason why a schema of arguments or results cannot be used, without making a validator.
 *
 * Does not report a `$ref` to somewhere else: it is not followed.
 */
export function inspectSchema(schema: unknown): SchemaDefect | undefined {
  return findDefect(schema);
}

/**
 * The validators of every SDK client and server of this process: made at first use, kept per schema object.
 *
 * A schema that cannot be used lets every value pass.
 */
export const jsonSchemaValidator: SdkValidatorProvider = {
  getValidator<T>(schema: object): JsonSchemaValidator<T> {
    return input => {
      const issues = issuesOrNone(schema as JsonSchema, input);
      if (issues.length === 0) return { valid: true, data: input as T, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: formatIssues(issues) };
    };
  },
};

function issuesOrNone(schema: JsonSchema, value: unknown): readonly SchemaIssue[] {
  try {
    return validateJson(schema, value);
  } catch {
    return [];
  }
}

/** Writes issues as one readable line that names every path. */
export function formatIssues(issues: readonly SchemaIssue[]): string {
  return issues
    .map(({ path, message }) => (path === '' ? message : `${path.slice(1).replaceAll('/', '.')}: ${message}`))
    .join('; ');
}

/** On a Standard Schema made here: the JSON Schema it was made of. */
const ORIGINAL: unique symbol = Symbol.for('@mastra/mcp.jsonSchema');

/**
 * Makes a JSON Schema usable wherever core takes a schema.
 *
 * Validates by interpretation, at the first call. Hands values on as they are: nothing is filled in, cut or copied. The
 * JSON Schema it shows is the original one, with an empty `properties` where an object has none.
 */
export function toStandardSchema(
  schema: JsonSchema,
  options: StandardSchemaOptions = {},
): StandardSchemaWithJSON {
  const { missingDefaults = 'allow' } = options;
  const shown = toShownSchema(schema);
  let validator: Validator | undefined;
  let reported = false;
  const validate = (value: unknown): ReturnType<StandardSchemaWithJSON['~standard']['validate']> => {
    try {
      if (validator === undefined) {
        validator = validatorOf(schema, missingDefaults);
        if (validator.skippedPatterns.length > 0) options.onSkippedPatterns?.(validator.skippedPatterns);
      }
      const issues = validator.check(value);
      return issues.length === 0 ? { value } : { issues: issues.map(toStandardIssue) };
    } catch (error) {
      if (!reported) options.onUnusable?.(error);
      reported = true;
      return { value };
    }
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'mastra-mcp',
      validate,
      jsonSchema: { input: () => shown, output: () => shown },
    },
    [ORIGINAL]: schema,
  } as StandardSchemaWithJSON;
}

/** Some providers refuse an object without `properties`. */
function toShownSchema(schema: JsonSchema): Record<string, unknown> {
  return schema['type'] === 'object' && schema['properties'] === undefined
    ? { ...schema, properties: {} }
    : schema;
}

function toStandardIssue({ path, message }: SchemaIssue): { message: string; path: (string | number)[] } {
  const segments = path === '' ? [] : path.slice(1).split('/').map(unescapePointer);
  return {
    message,
    path: segments.map(segment => (/^(?:0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : segment)),
  };
}

/**
 * The plain JSON Schema that a schema was written as; `undefined` for schemas of a library.
 *
 * Sees through the wrappers of this module, of core and of the AI SDK that keep one.
 */
export function plainJsonSchemaOf(schema: unknown): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (ORIGINAL in schema) return (schema as { readonly [ORIGINAL]: JsonSchema })[ORIGINAL];
  if ('_zod' in schema || '_def' in schema) return undefined;
  const standard = schema['~standard'];
  if (standard === undefined) return '_type' in schema && 'jsonSchema' in schema ? undefined : schema;
  const { getSchema } = schema;
  if (!isJsonObject(standard) || standard['vendor'] !== 'json-schema' || typeof getSchema !== 'function') {
    return undefined;
  }
  const original: unknown = getSchema.call(schema);
  return isJsonObject(original) ? original : undefined;
}

/**
 * The same schema in dialect 2020-12. One that says it is in that dialect comes back as it is, and so does one that
 * would lose what its references point to.
 */
export function inNewestDialect(schema: JsonSchema): JsonSchema {
  if (typeof schema['$schema'] === 'string' && schema['$schema'].includes('2020-12')) return schema;
  const newest = toNewestDialect(schema);
  return findDefect(newest) === undefined ? newest : schema;
}

const converted = { input: new WeakMap<object, JsonSchema>(), output: new WeakMap<object, JsonSchema>() };

/**
 * The JSON Schema of any schema that core accepts, in dialect 2020-12 and without `$schema`.
 *
 * A plain JSON Schema comes back as the same object. An object of zod that ignores unknown keys stays open: only a
 * strict one gets `additionalProperties: false`. Kept per schema object.
 *
 * @throws SchemaUnusableError when the schema has no JSON form.
 */
export function toJsonSchema(
  schema: PublicSchema | undefined,
  io: 'input' | 'output',
): JsonSchema | undefined {
  if (schema === undefined || schema === null) return undefined;
  const plain = plainJsonSchemaOf(schema);
  if (plain !== undefined) return plain;
  const cache = converted[io];
  let json = cache.get(schema);
  if (json === undefined) {
    json = convertToJson(schema, io);
    cache.set(schema, json);
  }
  return json;
}
