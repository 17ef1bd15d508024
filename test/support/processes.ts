/** What tests ask the operating system about processes, and waiting for it. Linux only, like the promises tested. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

interface ProcessFacts {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
}

function factsOf(pid: number | string): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), state, parent: Number(parent), group: Number(group) };
  } catch {
    return undefined;
  }
}

/** Whether a process runs; one that only waits to be reaped does not. */
export function isRunning(pid: number): boolean {
  const facts = factsOf(pid);
  return facts !== undefined && facts.state !== 'Z' && facts.state !== 'X';
}

/** Processes that run and are children of this one. */
export function runningChildren(parent: number = process.pid): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(factsOf)
    .filter(facts => facts?.parent === parent && isRunning(facts.pid))
    .map(facts => facts?.pid ?? 0);
}

/** Waits until a condition holds; fails with its name after `limitMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Still waiting after ${limitMs} ms until ${what}`);
    await delay(10);
  }
}
