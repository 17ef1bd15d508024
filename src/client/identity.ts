/**
 * Which clients are the same: the leak guard of S005 and the reuse by id of S002.
 *
 * Owns the identity of a configuration. Functions and class instances count by their source text, so a configuration
 * that is written out anew for every request is recognised as the same. OAuth providers count by object.
 */
import { MCPConfigurationError } from '../shared/errors.ts';
import { claimInstance, findInstance, releaseInstance } from './connection/process-registry.ts';
import type { MCPClientOptions } from './options.ts';

/** What an instance is known by in the process. */
export interface ClientIdentity {
  /** Keys to claim and to release. */
  readonly keys: readonly string[];
  /** An instance with the same id and the same configuration, to be used instead of a new one. */
  readonly existing: object | undefined;
  /** An instance with the same id and another configuration, to be disconnected before the new one connects. */
  readonly replaced: object | undefined;
}

/**
 * Looks a configuration up among the living clients.
 *
 * @throws MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID` when it exists already and has no id.
 */
export function identify(options: MCPClientOptions): ClientIdentity {
  const configuration = describe(options.servers, new Set());
  if (options.id === undefined) {
    const key = `configuration ${configuration}`;
    if (findInstance(key) !== undefined) {
      throw new MCPConfigurationError(
        'client',
        'id',
        'is missing and a client with the same configuration exists, which leaks connections. ' +
          'Either give each client an id of its own, or await disconnect() of the first, ' +
          'or create the client once in an outer scope and share it',
      );
    }
    return { keys: [key], existing: undefined, replaced: undefined };
  }
  const byId = `id ${options.id}`;
  const exact = `${byId} ${configuration}`;
  const existing = findInstance(exact);
  const replaced = existing === undefined ? findInstance(byId) : undefined;
  return { keys: [byId, exact], existing, replaced };
}

/** Makes an instance the holder of its identity. */
export function claim({ keys }: ClientIdentity, instance: object): void {
  for (const key of keys) claimInstance(key, instance);
}

/** Frees an identity, while it is still that of the instance. */
export function release({ keys }: ClientIdentity, instance: object): void {
  for (const key of keys) releaseInstance(key, instance);
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Which object it is: whose credentials a provider holds cannot be seen, so no two of them are the same. */
function numberOf(value: object): number {
  const number = numbers.get(value) ?? (lastNumber += 1);
  numbers.set(value, number);
  return number;
}

/** One text for equal values, whatever the order of keys. Never leaves this process. */
function describe(value: unknown, ancestors: Set<object>): string {
  if (typeof value === 'function') return `function ${Function.prototype.toString.call(value)}`;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (value instanceof URL || value instanceof RegExp || value instanceof Date) return String(value);
  if (ancestors.has(value)) return 'circular';
  ancestors.add(value);
  const entries: [string, unknown][] = value instanceof Headers ? [...value] : Object.entries(value);
  const parts = entries
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => {
      const isProvider = key === 'authProvider' && typeof item === 'object' && item !== null;
      return `${JSON.stringify(key)}:${isProvider ? numberOf(item) : describe(item, ancestors)}`;
    })
    .toSorted();
  ancestors.delete(value);
  return `${Array.isArray(value) ? 'array' : 'object'}{${parts.join()}}`;
}
