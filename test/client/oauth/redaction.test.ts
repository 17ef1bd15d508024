import { describe, expect, test } from 'vitest';
import { redact, shown } from '../../../src/client/oauth/redaction.ts';
import { verifies } from '../../requirements/requirements.ts';

describe('a text', () => {
  const cases: readonly (readonly [text: string, left: string])[] = [
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['authorization: dG9rZW4=', 'authorization: [redacted]'],
    ['Basic dXNlcjpwYXNz failed', 'Basic [redacted] failed'],
    ['Cookie: sid=1234', 'Cookie: [redacted]'],
    ['mcp-session-id: 0123-4567', 'mcp-session-id: [redacted]'],
    ['?code=abc&state=def&scope=a', '?code=[redacted]&state=[redacted]&scope=a'],
    ['code_verifier=abc client_secret=def', 'code_verifier=[redacted] client_secret=[redacted]'],
    ['{"access_token":"abc","expires_in":1}', '{"access_token":"[redacted]","expires_in":1}'],
    ['{"refresh_token" : "abc"}', '{"refresh_token" : "[redacted]"}'],
    ['"registration_access_token":"abc"', '"registration_access_token":"[redacted]"'],
    ['error code: 404, the state is fine', 'error code: 404, the state is fine'],
    ['only jwt-bearer grants are supported', 'only jwt-bearer grants are supported'],
  ];
  for (const [text, left] of cases) {
    verifies('O8', `${text} keeps ${left}`, () => {
      expect(redact(text)).toBe(left);
    });
  }

  verifies(['O8', 'C7'], 'loses the values that were sent, as they are and percent-encoded', () => {
    expect(redact('got s3cret/+value and s3cret%2F%2Bvalue', ['s3cret/+value'])).toBe(
      'got [redacted] and [redacted]',
    );
    expect(redact('a short one stays', ['short'])).toBe('a short one stays');
  });

  verifies('C7', 'of the other side is quoted on one line and cut at 500 characters', () => {
    expect(shown('a\n"b"\u0007')).toBe(String.raw`"a\n\"b\"\u0007"`);
    expect(shown('x'.repeat(5_000_000))).toHaveLength(503);
  });

  test('without a secret stays as it is', () => {
    expect(redact('')).toBe('');
    expect(redact('The server is busy; try again.')).toBe('The server is busy; try again.');
  });
});
