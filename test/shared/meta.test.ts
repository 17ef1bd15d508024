import { describe, expect, test } from 'vitest';
import {
  fromSuspensionMeta,
  PROTOCOL_VERSION_META_KEY,
  readClaimedRevision,
  readProgressToken,
  readUiResourceUri,
  toSuspensionMeta,
} from '../../src/shared/meta.ts';
import { verifies } from '../requirements/requirements.ts';

describe('readers', () => {
  verifies('X29', 'take progress tokens that are text or numbers', () => {
    expect(readProgressToken({ progressToken: 'a' })).toBe('a');
    expect(readProgressToken({ progressToken: 0 })).toBe(0);
    for (const meta of [undefined, null, 'x', {}, { progressToken: {} }, { progressToken: null }]) {
      expect(readProgressToken(meta)).toBeUndefined();
    }
  });

  verifies('D21', 'find the revision a message claims', () => {
    expect(readClaimedRevision({ [PROTOCOL_VERSION_META_KEY]: '2026-07-28' })).toBe('2026-07-28');
    expect(readClaimedRevision({ [PROTOCOL_VERSION_META_KEY]: 2026 })).toBeUndefined();
    expect(readClaimedRevision(undefined)).toBeUndefined();
  });

  test('find the resource that shows a tool in both spellings, the nested one first', () => {
    expect(readUiResourceUri({ ui: { resourceUri: 'ui://a' }, 'ui/resourceUri': 'ui://b' })).toBe('ui://a');
    expect(readUiResourceUri({ 'ui/resourceUri': 'ui://b' })).toBe('ui://b');
    expect(readUiResourceUri({ ui: 'x' })).toBeUndefined();
  });

  verifies('T3', 'never read inherited members', () => {
    const inherited = Object.create({ progressToken: 'x', [PROTOCOL_VERSION_META_KEY]: 'x' }) as object;
    expect(readProgressToken(inherited)).toBeUndefined();
    expect(readClaimedRevision(inherited)).toBeUndefined();
  });
});

verifies('D09', 'a run that waits is written to _meta and read back', () => {
  for (const suspension of [{ runId: 'r' }, { runId: 'r', payload: { question: 'why' } }]) {
    expect(fromSuspensionMeta(toSuspensionMeta(suspension))).toEqual(suspension);
  }
  expect(toSuspensionMeta({ runId: 'r', payload: undefined })).toEqual({ 'mastra/runId': 'r' });
  expect(fromSuspensionMeta({ other: 1 })).toBeUndefined();
});
