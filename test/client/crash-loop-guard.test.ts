import { afterEach, beforeEach, expect, vi } from 'vitest';
import { CrashLoopGuard } from '../../src/client/connection/crash-loop-guard.ts';
import { verifies } from '../requirements/requirements.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const crash = (guard: CrashLoopGuard, times: number, everyMs: number): void => {
  for (let index = 0; index < times; index += 1) {
    vi.advanceTimersByTime(everyMs);
    guard.note();
  }
};

verifies(
  ['R2', 'D15'],
  'blocks for 30 s after the fifth crash within 180 s, then lets one attempt through',
  () => {
    const guard = new CrashLoopGuard();
    crash(guard, 4, 40_000);
    expect(guard.blockedUntil()).toBeUndefined();
    crash(guard, 1, 10_000);
    expect(guard.blockedUntil()).toBe(30_000);
    vi.advanceTimersByTime(29_999);
    expect(guard.blockedUntil()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(guard.blockedUntil()).toBeUndefined();
    guard.note();
    expect(guard.blockedUntil()).toBe(30_000);
    guard.reset();
    expect(guard.blockedUntil()).toBeUndefined();
  },
);

verifies('D15', 'forgives crashes that are further apart', () => {
  const guard = new CrashLoopGuard();
  crash(guard, 20, 45_001);
  expect(guard.blockedUntil()).toBeUndefined();
});
