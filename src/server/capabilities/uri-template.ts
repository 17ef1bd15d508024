/**
 * Whether a URI fits a template, in time that grows with the length of the URI and no faster.
 *
 * Does not expand templates and does not tell the values of variables.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */

/** Whether a URI fits. */
export type UriMatcher = (uri: string) => boolean;

/** What an expression becomes. */
interface Expansion {
  /** What the value begins with; a part that has one may also be absent. */
  readonly prefix: string;
  /** Characters that cannot be part of the value. */
  readonly ends: string;
}

/** A part of a template: text as it stands, or an expression. */
type Part = string | Expansion;

const SIMPLE: Expansion = { prefix: '', ends: '/?#' };

/** Expansions by operator. */
const OPERATORS: ReadonlyMap<string, Expansion> = new Map([
  ['+', { prefix: '', ends: '' }],
  ['#', { prefix: '#', ends: '' }],
  ['.', { prefix: '.', ends: '/?#' }],
  ['/', { prefix: '/', ends: '?#' }],
  [';', { prefix: ';', ends: '/?#' }],
  ['?', { prefix: '?', ends: '#' }],
  ['&', { prefix: '&', ends: '#' }],
]);

const BRACES = /[{}]/g;
const EXPRESSION = /^[+#./;?&]?[\w.%]+(?::\d+|\*)?(?:,[\w.%]+(?::\d+|\*)?)*$/;

/**
 * Reads a template; `undefined` when it is not one, or when nobody could tell where one value ends and the next begins
 * (two expressions side by side, the second without a prefix of its own).
 */
export function toUriMatcher(template: string): UriMatcher | undefined {
  const parts = toParts(template);
  return parts === undefined ? undefined : uri => fits(parts, uri);
}

function toParts(template: string): readonly Part[] | undefined {
  const braces = template.match(BRACES) ?? [];
  const isBalanced = braces.length % 2 === 0 && braces.every((brace, at) => brace === '{}'[at % 2]);
  if (!isBalanced) return undefined;
  const parts: Part[] = [];
  for (const [at, piece] of template.split(BRACES).entries()) {
    // What lies between braces is at every other place.
    const part = at % 2 === 0 ? piece : toExpansion(piece, parts.at(-1));
    if (part === undefined) return undefined;
    if (part !== '') parts.push(part);
  }
  return parts;
}

function toExpansion(expression: string, before: Part | undefined): Expansion | undefined {
  if (!EXPRESSION.test(expression)) return undefined;
  const expansion = OPERATORS.get(expression.charAt(0)) ?? SIMPLE;
  const isApart = before === undefined || typeof before === 'string' || expansion.prefix !== '';
  return isApart ? expansion : undefined;
}

/** Places of a URI: 1 where the parts so far may end. */
type Places = Uint8Array;

/** Goes through the parts once, with all places at a time, so that nothing is ever tried again. */
function fits(parts: readonly Part[], uri: string): boolean {
  let places: Places = new Uint8Array(uri.length + 1);
  places[0] = 1;
  for (const part of parts) {
    places = typeof part === 'string' ? afterText(part, uri, places) : afterValue(part, uri, places);
    if (!places.includes(1)) return false;
  }
  return places[uri.length] === 1;
}

function afterText(text: string, uri: string, places: Places): Places {
  const after = new Uint8Array(places.length);
  for (let at = places.indexOf(1); at !== -1; at = places.indexOf(1, at + 1)) {
    if (uri.startsWith(text, at)) after[at + text.length] = 1;
  }
  return after;
}

/** A value has at least one character beside its prefix. */
function afterValue({ prefix, ends }: Expansion, uri: string, places: Places): Places {
  const starts = prefix === '' ? places : afterText(prefix, uri, places);
  const after = prefix === '' ? new Uint8Array(places.length) : places.slice();
  let isInside = false;
  for (let at = 0; at < uri.length; at += 1) {
    isInside = (isInside || starts[at] === 1) && !ends.includes(uri.charAt(at));
    if (isInside) after[at + 1] = 1;
  }
  return after;
}
