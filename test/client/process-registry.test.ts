import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import type * as registry from '../../src/client/connection/process-registry.ts';
import {
  claimInstance,
  findInstance,
  registerChild,
  releaseInstance,
  type OwnedChild,
} from '../../src/client/connection/process-registry.ts';
import { verifies } from '../requirements/requirements.ts';
import { isRunning, until } from '../support/processes.ts';

// Each host loads a compiler first.
vi.setConfig({ testTimeout: 60_000 });

const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'] as const;
const counts = (): number[] => EVENTS.map(event => process.listenerCount(event));
const inert: () => OwnedChild = () => ({ close: () => Promise.resolve(), kill: () => undefined });

describe('instances', () => {
  verifies('S005', 'are found by identity from a second loaded copy of the module', async () => {
    const instance = {};
    claimInstance('registry-test', instance);
    const url = new URL('../../src/client/connection/process-registry.ts?second-copy', import.meta.url).href;
    const copy = (await import(url)) as typeof registry;
    expect(copy.findInstance).not.toBe(findInstance);
    expect(copy.findInstance('registry-test')).toBe(instance);
    copy.releaseInstance('registry-test');
    expect(findInstance('registry-test')).toBeUndefined();

    const before = counts();
    const released = [registerChild(inert()), copy.registerChild(inert())];
    expect(counts()).toEqual(before.map(count => count + 1));
    for (const release of released) release();
    expect(counts()).toEqual(before);
  });

  test('are not released by the one they replaced', () => {
    const [old, current] = [{}, {}];
    claimInstance('registry-test', old);
    claimInstance('registry-test', current);
    releaseInstance('registry-test', old);
    expect(findInstance('registry-test')).toBe(current);
    releaseInstance('registry-test', current);
    expect(findInstance('registry-test')).toBeUndefined();
  });
});

verifies(['R21', 'B77'], 'has one listener per signal while there are children, and none without', () => {
  const before = counts();
  const releases = Array.from({ length: 50 }, () => registerChild(inert()));
  expect(counts()).toEqual(before.map(count => count + 1));
  releases[0]?.();
  releases[0]?.();
  expect(counts()).toEqual(before.map(count => count + 1));
  for (const release of releases) release();
  expect(counts()).toEqual(before);
  registerChild(inert())();
  expect(counts()).toEqual(before);
});

const good = `process.stdin.resume();`;
const stubborn = `process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000);`;
const wrapper = `
  const inner = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: 'ignore' });
  process.stdout.write('child=' + inner.pid + ';');
  setInterval(() => {}, 1000);`;

/** Runs the host until all its children are up. */
async function runHost(mode: string, sources: readonly string[], processes: number) {
  const script = fileURLToPath(new URL('./fixtures/signal-host.ts', import.meta.url));
  const host = spawn(process.execPath, ['--import', 'tsx', script, mode, ...sources], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  host.stdout.on('data', chunk => (output += String(chunk)));
  host.stderr.on('data', chunk => (errors += String(chunk)));
  const exit = once(host, 'exit').then(([code, signal]) => ({ code, signal }));
  const pids = (): number[] => [...output.matchAll(/child=(\d+);/g)].map(match => Number(match[1]));
  await until('the children are up', () => pids().length === processes, 30_000);
  return {
    exit,
    pids: pids(),
    running: () => pids().filter(isRunning),
    signal: host.kill.bind(host),
    errors: () => errors,
  };
}

describe('a host without a handler of its own', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    verifies(['R20', 'D15', 'S083', 'B75'], `ends by ${signal}, and its children before it`, async () => {
      const host = await runHost('plain', [good, good], 2);
      host.signal(signal);
      expect(await host.exit).toEqual({ code: null, signal });
      expect(host.running()).toEqual([]);
      expect(host.errors()).toBe('');
    });
  }

  verifies(['R20', 'D15'], 'ends within 5 s when a child and its grandchild ignore everything', async () => {
    const host = await runHost('plain', [stubborn, wrapper], 3);
    const before = performance.now();
    host.signal('SIGTERM');
    expect(await host.exit).toEqual({ code: null, signal: 'SIGTERM' });
    expect(performance.now() - before).toBeLessThan(5000);
    expect(host.running()).toEqual([]);
  });

  test('ends at once at the second signal, and takes its children along', async () => {
    const host = await runHost('plain', [stubborn, wrapper], 3);
    const before = performance.now();
    host.signal('SIGINT');
    setTimeout(() => host.signal('SIGINT'), 200);
    expect(await host.exit).toEqual({ code: null, signal: 'SIGINT' });
    expect(performance.now() - before).toBeLessThan(1500);
    await until('nothing is left', () => host.running().length === 0, 1000);
  });
});

describe('a host with a handler of its own', () => {
  for (const [mode, code] of [
    ['host-handler', 42],
    ['host-once', 43],
  ] as const) {
    verifies(
      ['R20', 'D15'],
      `keeps its exit code and its time (${mode}); only the children end`,
      async () => {
        const host = await runHost(mode, [good, good], 2);
        host.signal('SIGTERM');
        await until('the children are gone', () => host.running().length === 0, 1400);
        expect(await host.exit).toEqual({ code, signal: null });
      },
    );
  }
});

verifies(['R20', 'S083', 'B75'], 'leaves no process when the host exits or crashes', async () => {
  for (const [mode, code] of [
    ['exit', 5],
    ['throw', 1],
  ] as const) {
    const host = await runHost(mode, [stubborn, wrapper], 3);
    host.signal('SIGUSR2');
    expect(await host.exit).toEqual({ code, signal: null });
    await until('nothing is left', () => host.running().length === 0, 1000);
  }
});

verifies(
  'R20',
  'lets children that end with their standard input go when the host is killed by SIGKILL',
  async () => {
    const host = await runHost('plain', [good, good], 2);
    host.signal('SIGKILL');
    expect(await host.exit).toEqual({ code: null, signal: 'SIGKILL' });
    await until('nothing is left', () => host.running().length === 0, 5000);
  },
);
