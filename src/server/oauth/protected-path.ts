/**
 * Which paths need a token.
 *
 * Owns the comparison, which leans to protecting: whoever routes behind the middleware may fold case, decode or resolve
 * what a path is written with, and must not find a tool that way.
 */

const SEPARATORS = /[/\\]+/;

/**
 * A request target as the most lenient router would read it: decoded once, without dot segments, doubled slashes and a
 * trailing one, in lower case. `undefined` when it cannot be decoded.
 */
export function normalisePath(target: string): string | undefined {
  const isAbsolute = !target.startsWith('/') && URL.canParse(target);
  let decoded: string;
  try {
    decoded = decodeURIComponent(isAbsolute ? new URL(target).pathname : target);
  } catch {
    return undefined;
  }
  const segments: string[] = [];
  for (const segment of decoded.split(SEPARATORS)) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`.toLowerCase();
}

/** Whether a normalised path equals `base` or lies below it. */
export function isAtOrBelow(path: string, base: string): boolean {
  return base === '/' || path === base || path.startsWith(`${base}/`);
}
