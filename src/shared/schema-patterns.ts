/**
 * Which regular expressions of a foreign schema may run here.
 *
 * Owns the cost estimate and the translation to the `u` flag that the validator uses. Runs no pattern.
 */

/** Longest pattern that is evaluated locally. */
export const MAX_PATTERN_LENGTH = 200;

/** Above this many repetitions a bounded quantifier counts as unbounded. */
const MANY = 10;

/** Tells whether a pattern is a regular expression, with the `u` flag or without. */
export function isPattern(pattern: string): boolean {
  return compiles(pattern, 'u') || compiles(pattern, '');
}

/**
 * The pattern in a form that is valid with the `u` flag and cheap to run; `undefined` when there is none.
 *
 * Refuses what can take exponential time: a repeated group that repeats or branches inside, and all patterns over
 * {@link MAX_PATTERN_LENGTH}. Does not refuse what is merely polynomial.
 */
export function toRunnablePattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH || mayExplode(pattern)) return undefined;
  if (compiles(pattern, 'u')) return pattern;
  const translated = withoutIdleEscapes(pattern);
  return compiles(translated, 'u') ? translated : undefined;
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** `\_` and `\-` mean the bare character without the `u` flag and are errors with it. */
function withoutIdleEscapes(pattern: string): string {
  return pattern.replaceAll(/\\([^])/g, (escape, character: string) => {
    if (character === '-') return '\\x2d';
    return /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character) ? escape : character;
  });
}

interface Group {
  /** Something inside can match in several lengths: `?`, `{1,3}`. */
  varies: boolean;
  /** Something inside can match in unboundedly many lengths: `*`, `+`, `{2,}`. */
  repeats: boolean;
  branches: boolean;
}

const TOKEN = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|\)|\||[*+?]|\{\d+(?:,\d*)?\}/g;

function mayExplode(pattern: string): boolean {
  const open: Group[] = [newGroup()];
  let closed: Group | undefined;
  let end = 0;
  for (const { 0: token, index } of pattern.matchAll(TOKEN)) {
    const group = open.at(-1);
    if (group === undefined) return false; // unbalanced, will not compile
    // a quantifier belongs to a group only when it follows it at once
    if (index !== end) closed = undefined;
    end = index + token.length;
    const times = maxRepetitions(token);
    if (times !== undefined) {
      if (closed !== undefined && isCostly(closed, times)) return true;
      if (times > MANY) group.repeats = true;
      if (!isFixed(token)) group.varies = true;
      closed = undefined;
    } else if (token === ')') {
      closed = open.pop();
      const parent = open.at(-1);
      if (closed === undefined || parent === undefined) return false;
      parent.varies ||= closed.varies;
      parent.repeats ||= closed.repeats;
      parent.branches ||= closed.branches;
    } else {
      closed = undefined;
      if (token === '|') group.branches = true;
      else if (token.startsWith('(')) open.push(newGroup());
    }
  }
  return false;
}

function isCostly(group: Group, times: number): boolean {
  if (times > MANY) return group.varies || group.repeats || group.branches;
  return times > 1 && group.repeats;
}

function maxRepetitions(token: string): number | undefined {
  if (token === '*' || token === '+') return Infinity;
  if (token === '?') return 1;
  if (!token.startsWith('{')) return undefined;
  const [min, max] = token.slice(1, -1).split(',');
  if (max === undefined) return Number(min);
  return max === '' ? Infinity : Number(max);
}

function isFixed(token: string): boolean {
  const [min, max] = token.slice(1, -1).split(',');
  return token.startsWith('{') && (max === undefined || min === max);
}

function newGroup(): Group {
  return { varies: false, repeats: false, branches: false };
}
