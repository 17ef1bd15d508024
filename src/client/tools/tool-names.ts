/**
 * The names under which a model sees remote tools (D05): safe for every provider, unique, stable for the life of a client.
 *
 * Owns the assignment. The server always gets the original name; nothing here calls anything.
 */

/** What providers accept as the name of a function. */
const MAX_LENGTH = 64;
const UNSAFE = /[^A-Za-z0-9_-]/g;

/** A name given to a tool, and the tool that keeps the plain form of it where that was taken. */
export interface AssignedName {
  readonly name: string;
  /** Set when another tool already had the plain name. */
  readonly collidesWith?: { readonly serverName: string; readonly toolName: string };
}

interface Owner {
  readonly serverName: string;
  readonly toolName: string;
}

/** The names of one namespace, e.g. all prefixed names of a client. */
export class ToolNames {
  readonly #assigned = new Map<string, AssignedName>();
  readonly #owners = new Map<string, Owner>();

  /** The name of a tool; the same for the same tool for ever. `wanted` is the readable form, safe or not. */
  assign(owner: Owner, wanted: string): AssignedName {
    const key = `${owner.serverName}\0${owner.toolName}`;
    const known = this.#assigned.get(key);
    if (known !== undefined) return known;
    const plain = wanted.replace(UNSAFE, '_');
    const holder = this.#owners.get(plain);
    const assigned: AssignedName =
      holder === undefined && plain.length <= MAX_LENGTH
        ? { name: plain }
        : { name: this.#hashed(plain, key), ...(holder === undefined ? {} : { collidesWith: holder }) };
    this.#assigned.set(key, assigned);
    this.#owners.set(assigned.name, owner);
    return assigned;
  }

  #hashed(plain: string, key: string): string {
    for (let round = 0; ; round += 1) {
      const suffix = `_${shortHash(round === 0 ? key : `${key}${round}`)}`;
      const name = plain.slice(0, MAX_LENGTH - suffix.length) + suffix;
      if (!this.#owners.has(name)) return name;
    }
  }
}

/** Seven base-36 digits of FNV-1a: stable everywhere, no secret involved. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(36).padStart(7, '0');
}
