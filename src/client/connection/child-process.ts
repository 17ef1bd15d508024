/**
 * One child process: its environment, its process group, its pipes and the end of its whole tree.
 *
 * Owns bounded writing, draining and the steps of ending. Does not know what the bytes mean and starts nothing again.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { ResolvedStdioServer } from '../options.ts';
import { StderrCapture } from './child-stderr.ts';
import { signalTree, treeRuns } from './process-group.ts';
import { registerChild, type OwnedChild } from './process-registry.ts';
import { TransportFailure } from './transport-failure.ts';

/** Variables a child gets from us, besides those of its definition. */
const DEFAULT_VARIABLES =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const STEP_MS = 2000;
/** After SIGKILL there is nothing to wait for but the kernel. */
const KILLED_MS = 900;
const POLL_MS = 25;
/** Limit for reading what a child had written before it exited. */
const DRAIN_MS = 500;
/** How long a closed pipe may wait for the exit that explains it. */
const EXPLANATION_MS = 500;

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Why a child is of no use any more: it exited, or it closed a pipe without which nothing works. */
export type ChildLoss = ChildExit | 'closed its standard input' | 'closed its standard output';

/** What a child tells its owner. */
export interface ChildListener {
  onStdout(chunk: Buffer): void;
  /** Called at most once, after everything the child wrote went to `onStdout`, and never after `close()`. */
  onLost(why: ChildLoss): void;
}

/** What to start. */
export type ChildDefinition = Pick<
  ResolvedStdioServer,
  'command' | 'args' | 'env' | 'inheritDefaultEnv' | 'cwd' | 'stderr'
>;

/**
 * The environment of a child: the default variables of this process and those of the definition over them.
 *
 * A default value that is an exported shell function (it starts with `()`) is left out.
 */
export function childEnvironment(
  definition: Pick<ChildDefinition, 'env' | 'inheritDefaultEnv'>,
): Record<string, string> {
  const inherited: [string, string][] = [];
  for (const name of definition.inheritDefaultEnv ? DEFAULT_VARIABLES : []) {
    const value = process.env[name];
    if (value !== undefined && !value.startsWith('()')) inherited.push([name, value]);
  }
  return { ...Object.fromEntries(inherited), ...definition.env };
}

/** A child process in a group of its own. */
export class ChildProcess implements OwnedChild {
  readonly #definition: ChildDefinition;
  readonly #listener: ChildListener;
  readonly #stderr: StderrCapture;
  #child: ChildProcessWithoutNullStreams | undefined;
  #exit: Promise<void> | undefined;
  #exited = false;
  #unregister: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #receivedBytes = 0;

  constructor(definition: ChildDefinition, listener: ChildListener) {
    this.#definition = definition;
    this.#listener = listener;
    this.#stderr = new StderrCapture(definition.stderr);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Standard error, where the definition says `pipe`; reading it is optional. */
  get stderr(): Readable | null {
    return this.#stderr.stream;
  }

  /** The last 8 KB of standard error. */
  get stderrTail(): string {
    return this.#stderr.tail;
  }

  /**
   * Starts the program, without a shell.
   *
   * @throws TransportFailure `unreachable` when that is not possible; it names the command, never arguments or variables
   */
  async start(): Promise<void> {
    const { command, args, cwd } = this.#definition;
    try {
      const child = spawn(command, args, {
        env: childEnvironment(this.#definition),
        ...(cwd === undefined ? {} : { cwd }),
        stdio: 'pipe',
        shell: false,
        windowsHide: true,
        // A group of its own: our signals reach the whole tree, those of the terminal do not.
        detached: process.platform !== 'win32',
      });
      const spawned = once(child, 'spawn');
      // Without a pid nothing was started, and the pipes may be missing.
      if (child.pid !== undefined) this.#adopt(child);
      await spawned;
    } catch (error) {
      this.#stderr.end();
      throw toStartFailure(command, error);
    }
  }

  /**
   * Hands text to the child. A child that does not read leaves a queue of at most 8 MiB; a single larger text is taken
   * when nothing waits before it.
   *
   * @throws TransportFailure `backpressure` when the queue is full, `lost` when nobody can read any more; in both cases
   * nothing was handed over
   */
  write(text: string): void {
    const stdin = this.#child?.stdin;
    if (this.#exited || stdin?.writable !== true) {
      throw new TransportFailure('lost', 'the server process is gone', { mayHaveExecuted: false });
    }
    const queued = stdin.writableLength;
    if (queued === 0) {
      stdin.write(text);
      return;
    }
    // A text has at least as many bytes as characters; to count them exactly would copy it.
    const atLeast = queued + text.length;
    const size = atLeast > MAX_QUEUED_BYTES ? atLeast : queued + Buffer.byteLength(text);
    if (size > MAX_QUEUED_BYTES) {
      throw new TransportFailure(
        'backpressure',
        `the server does not read its standard input: ${queued} bytes wait, the limit is ${MAX_QUEUED_BYTES}`,
        { mayHaveExecuted: false, size, limit: MAX_QUEUED_BYTES },
      );
    }
    // As bytes, so that `writableLength` counts bytes.
    stdin.write(Buffer.from(text));
  }

  /** Ends the tree: end of standard input, then SIGTERM, then SIGKILL; takes at most 5 s. */
  close(stdinGraceMs: number = STEP_MS): Promise<void> {
    this.#closing ??= this.#end(stdinGraceMs);
    return this.#closing;
  }

  kill(): void {
    if (this.pid !== undefined) signalTree(this.pid, 'SIGKILL');
  }

  #adopt(child: ChildProcessWithoutNullStreams): void {
    this.#child = child;
    this.#unregister = registerChild(this);
    this.#exit = new Promise(resolve => {
      child.once('exit', (code, signal) => {
        this.#exited = true;
        resolve();
        void this.#drain().then(() => this.#lose({ code, signal }));
      });
    });
    child.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      this.#receivedBytes += chunk.length;
      this.#listener.onStdout(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#receivedBytes += chunk.length;
      this.#stderr.add(chunk);
    });
    const stdinClosed = (): void => this.#loseSoon('closed its standard input');
    const stdoutClosed = (): void => this.#loseSoon('closed its standard output');
    child.stdin.on('error', stdinClosed);
    child.stdout.on('error', stdoutClosed).on('end', stdoutClosed);
    child.stderr.on('error', () => undefined);
  }

  /**
   * Reads what the child wrote before it exited. Does not wait for the pipes to close: a descendant may hold them open.
   */
  async #drain(): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    let before: number;
    do {
      before = this.#receivedBytes;
      // The first turn ends this round of the event loop, the second one comes after a whole round of reading.
      await nextTurn();
      await nextTurn();
    } while (this.#receivedBytes !== before && performance.now() < deadline);
  }

  /** A pipe mostly closes because the child is exiting; its exit says more. */
  #loseSoon(why: ChildLoss): void {
    if (!this.#exited) setTimeout(() => this.#lose(why), EXPLANATION_MS).unref();
  }

  #lose(why: ChildLoss): void {
    if (this.#closing !== undefined) return;
    void this.close(0);
    this.#listener.onLost(why);
  }

  async #end(stdinGraceMs: number): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    if (!(await this.#isGoneWithin(stdinGraceMs, child.pid))) {
      signalTree(child.pid, 'SIGTERM');
      if (!(await this.#isGoneWithin(STEP_MS, child.pid))) {
        signalTree(child.pid, 'SIGKILL');
        await this.#isGoneWithin(KILLED_MS, child.pid);
      }
    }
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#stderr.end();
    this.#unregister?.();
  }

  async #isGoneWithin(limitMs: number, pid: number): Promise<boolean> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      if (this.#exited && !treeRuns(pid)) return true;
      if (performance.now() >= deadline) return false;
      await (this.#exited ? delay(POLL_MS) : Promise.race([this.#exit, delay(POLL_MS)]));
    }
  }
}

function toStartFailure(command: string, error: unknown): TransportFailure {
  const { code } = error as NodeJS.ErrnoException;
  // Node puts the arguments on its error, and they may be secret.
  Reflect.deleteProperty(error as object, 'spawnargs');
  const reason = code === 'ENOENT' ? 'ENOENT, no such command or working directory' : (code ?? String(error));
  return new TransportFailure('unreachable', `${JSON.stringify(command)} could not be started (${reason})`, {
    mayHaveExecuted: false,
    networkCode: code,
    cause: error,
  });
}
