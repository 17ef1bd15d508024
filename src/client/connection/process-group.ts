/**
 * Process trees as the operating system knows them: a group on POSIX, the descendants of a process on Windows.
 *
 * Owns signalling a tree and asking whether it still runs. Does not reach a descendant that left the group.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const onWindows = process.platform === 'win32';

/** Signals a whole tree; on Windows both signals end it by force. A tree that is gone is left alone. */
export function signalTree(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (onWindows) {
    spawnSync('taskkill', ['/pid', String(leader), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-leader, signal);
  } catch {
    // Gone, or not ours to signal.
  }
}

/** Whether a process of the tree still runs once its leader has exited. Windows does not tell: there the answer is no. */
export function treeRuns(leader: number): boolean {
  if (onWindows) return false;
  try {
    process.kill(-leader, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || groupHasRunning(leader);
}

/** A group may consist of dead processes only, which a container without a real init never reaps. */
function groupHasRunning(group: number): boolean {
  try {
    const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
    return pids.some(pid => isRunningIn(group, pid));
  } catch {
    return true;
  }
}

/** @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function isRunningIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // pid (name) state parent group …; the name may hold anything, so count from its end.
    const [state, , groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(groupId) === group && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
