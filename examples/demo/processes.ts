/** Which processes run, so that the demo can prove that it leaves none behind. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

type Fact = readonly [pid: number, parent: number, state: string];

/** `/proc` where there is one; `ps`, which not every Linux has, elsewhere. */
function facts(): Fact[] {
  if (!existsSync('/proc/self/stat')) {
    const lines = execFileSync('ps', ['-Ao', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
    return lines
      .map(line => line.trim().split(/\s+/))
      .map(([pid, parent, state]) => toFact(pid, parent, state));
  }
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return [toFact(pid, parent, state)];
      } catch {
        return []; // It ended while we were reading.
      }
    });
}

const toFact = (pid = '', parent = '', state = ''): Fact => [Number(pid), Number(parent), state];

/** The children of this process and theirs, by process id. */
export function descendants(): number[] {
  const all = facts();
  const found = [process.pid];
  for (const ancestor of found) {
    found.push(...all.filter(([, parent]) => parent === ancestor).map(([pid]) => pid));
  }
  return found.slice(1);
}

/** Those of `pids` that still run; one that only waits to be reaped does not. */
export function stillRunning(pids: readonly number[]): number[] {
  return facts()
    .filter(([pid, , state]) => pids.includes(pid) && !/^[ZX]/.test(state))
    .map(([pid]) => pid);
}
