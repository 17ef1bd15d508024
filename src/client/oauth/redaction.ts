/**
 * The one place that takes secrets out of text before it becomes part of an error or a log line.
 *
 * Owns which words name a secret. Does not know where a text comes from; callers add the values they sent.
 */

const MASK = '[redacted]';
/** Shorter values are words: taking them out would spoil the text and hide nothing. */
const MIN_SECRET_LENGTH = 8;
const MAX_SHOWN = 500;

/** Members of OAuth messages that must not be seen. */
const SECRET_NAMES =
  'access_token|refresh_token|id_token|code|code_verifier|client_secret|client_assertion|assertion|' +
  'registration_access_token|state|token';
const IN_FORM = new RegExp(String.raw`\b(${SECRET_NAMES})=[^\s&"'<>]+`, 'gi');
const IN_JSON = new RegExp(String.raw`("(?:${SECRET_NAMES})"\s*:\s*)"[^"]*"`, 'gi');
const IN_HEADER =
  /\b((?:proxy-)?authorization|cookie|set-cookie|mcp-session-id)(\s*[:=]\s*)(?!bearer\b|basic\b)\S+/gi;
const CREDENTIALS = /(?<![\w-])(Bearer|Basic|DPoP)\s+[\w.~+/=-]+/gi;

/** Names of variables that hold a secret, and values that hold a password in a URL. */
const SECRET_VARIABLE = /pass(?:word|wd|phrase)?$|secret|token|key$|auth|credential|cookie|session|private/i;
const URL_WITH_PASSWORD = /:\/\/[^/\s]*:[^/\s]*@/;

/** The secrets among the variables of a program; what it writes may hold them. */
export function secretsIn(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env)
    .filter(([name, value]) => SECRET_VARIABLE.test(name) || URL_WITH_PASSWORD.test(value))
    .map(([, value]) => value);
}

/** Takes out what looks like a secret, and the given ones wherever they appear, percent-encoded too. */
export function redact(
  text: string,
  secrets: readonly string[] = [],
  minLength: number = MIN_SECRET_LENGTH,
): string {
  let left = text
    .replace(CREDENTIALS, `$1 ${MASK}`)
    .replace(IN_HEADER, `$1$2${MASK}`)
    .replace(IN_FORM, `$1=${MASK}`)
    .replace(IN_JSON, `$1"${MASK}"`);
  for (const secret of secrets) {
    if (secret.length < minLength) continue;
    left = left.replaceAll(secret, MASK);
    const encoded = encodeURIComponent(secret);
    if (encoded !== secret) left = left.replaceAll(encoded, MASK);
  }
  return left;
}

/** Text of the other side as one quoted piece: without secrets, control characters escaped, cut. */
export function shown(text: string, secrets: readonly string[] = []): string {
  const clean = redact(text, secrets);
  return JSON.stringify(clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean);
}
