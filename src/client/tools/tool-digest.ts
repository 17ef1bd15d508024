/**
 * A fingerprint of what a server says about a tool, so that a definition that changes can be seen.
 *
 * Owns what counts: everything that a model or a person may have agreed to. Decides nothing.
 */
import { createHash } from 'node:crypto';
import type { Tool as WireTool } from '@modelcontextprotocol/sdk/types.js';

/** A tool whose definition is not what it was. */
export interface ToolDefinitionChange {
  readonly toolName: string;
  readonly previousDigest: string;
  readonly digest: string;
}

const digests = new WeakMap<object, string>();

/**
 * SHA-256 in hex of the canonical JSON (keys sorted) of name, title, description, both schemas and annotations. Equal
 * definitions have equal digests, in every process.
 */
export function digestOf(definition: WireTool): string {
  let digest = digests.get(definition);
  if (digest === undefined) {
    const { name, title, description, inputSchema, outputSchema, annotations } = definition;
    const facts = { name, title, description, inputSchema, outputSchema, annotations };
    digest = createHash('sha256').update(JSON.stringify(facts, sortKeys)).digest('hex');
    digests.set(definition, digest);
  }
  return digest;
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
