import { describe, expect, test } from 'vitest';
import { isPattern, MAX_PATTERN_LENGTH, toRunnablePattern } from '../../src/shared/schema-patterns.ts';
import { verifies } from '../requirements/requirements.ts';

describe('toRunnablePattern', () => {
  verifies('T8', 'refuses repeated groups that repeat or branch inside, and long patterns', () => {
    for (const pattern of [
      '(a+)+$',
      '^(?:[a-z]*)*$',
      '((a+)){3}',
      '(x(y+)z)*',
      '(a|a)*b',
      '(a?){30}a{30}',
      '^([a-z]+){2,}',
      '(?<name>a+)+',
      `^${'a'.repeat(MAX_PATTERN_LENGTH)}$`,
    ]) {
      expect(toRunnablePattern(pattern), pattern).toBeUndefined();
    }
  });

  test('keeps ordinary patterns as they are', () => {
    for (const pattern of [
      '^[0-9]{4,6}$',
      '^(\\d{1,3}\\.){3}\\d{1,3}$',
      '^(?:foo|bar)$',
      '(a*)(b*)',
      '^(https?://)?[^/]+$',
      '[(a+)+]',
      '\\(a+\\)+',
      '^(?=.*[a-z])(?=.*\\d).{8,}$',
    ]) {
      expect(toRunnablePattern(pattern), pattern).toBe(pattern);
    }
  });

  test('translates escapes that are errors with the u flag', () => {
    const pattern = toRunnablePattern('^\\d{3}\\-\\d{4}\\_\\@[\\w\\"]$') ?? '';
    const regex = new RegExp(pattern, 'u');
    expect(regex.test('123-4567_@"')).toBe(true);
    expect(regex.test('123x4567_@"')).toBe(false);
  });

  test('leaves out what cannot be expressed with the u flag', () => {
    expect(isPattern('[\\w-.]+')).toBe(true);
    expect(toRunnablePattern('[\\w-.]+')).toBeUndefined();
    expect(isPattern('(')).toBe(false);
    expect(toRunnablePattern('(')).toBeUndefined();
    expect(toRunnablePattern(')+')).toBeUndefined();
  });
});
