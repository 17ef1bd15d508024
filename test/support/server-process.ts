/** An MCPServer over HTTP in a process of its own, so that what it costs is its own as well. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HTTPLimits } from '../../src/server/index.ts';

export interface ServerProcessInit {
  readonly limits?: HTTPLimits;
  /** Keeps events, so that clients can come back for them. */
  readonly eventStore?: boolean;
  /** Gives it a handler for SIGTERM that closes with this drain. */
  readonly drainMs?: number;
  /** `listen` of ours, or a node:http server of the host; `exit` ends the process as soon as ours has closed. */
  readonly host?: 'listen' | 'node' | 'exit';
}

/** What a server says about itself. */
export interface Measured {
  /** Bytes, after a garbage collection. */
  readonly heapUsed: number;
  readonly rss: number;
  /** Bytes at the highest since `mark`. */
  readonly peakRss: number;
  /** Sessions opened and ended so far, and those with a running request or an open stream now. */
  readonly opened: number;
  readonly closed: number;
  readonly active: number;
  /** Rejections and exceptions that nobody handled. */
  readonly unhandled: readonly string[];
}

export interface Broadcast {
  readonly count: number;
  /** Characters of each message. */
  readonly size: number;
}

/** What the process is asked over its channel, and what it answers. */
export interface Questions {
  measure: { readonly asks: undefined; readonly answers: Measured };
  /** Begins a measurement: collects garbage and forgets the peak. */
  mark: { readonly asks: undefined; readonly answers: Measured };
  /** Sends log messages to every session; answers with what held after half of them. */
  broadcast: { readonly asks: Broadcast; readonly answers: Measured };
  /** Ends the calls of `wait` that are running, and says how many there were. */
  finish: { readonly asks: undefined; readonly answers: number };
  /** Blocks the process for so many milliseconds; answers at once, before it does. */
  stall: { readonly asks: number; readonly answers: boolean };
  /** How many calls of `wait` are running. */
  waiting: { readonly asks: undefined; readonly answers: number };
}

export interface ServerProcess extends AsyncDisposable {
  readonly port: number;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What it wrote on standard error. */
  readonly errors: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ask: <Q extends keyof Questions>(
    question: Q,
    ...about: Questions[Q]['asks'] extends undefined ? [] : [Questions[Q]['asks']]
  ) => Promise<Questions[Q]['answers']>;
  /** Lets go of the channel, so that the process can end by itself. */
  readonly release: () => void;
}

/** Starts one; resolves when it listens. */
export async function startServerProcess(init: ServerProcessInit = {}): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('server-process-main.ts', import.meta.url));
  const child = fork(script, [JSON.stringify(init)], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', chunk => (errors += String(chunk)));
  const waiting = new Map<number, (answer: unknown) => void>();
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => waiting.get(id)?.(answer));
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const ended = exit.then(end =>
    Promise.reject(new Error(`It ended with ${JSON.stringify(end)}: ${errors}`)),
  );
  ended.catch(() => undefined);
  let count = 0;
  const ask: ServerProcess['ask'] = (question, ...about) => {
    count += 1;
    const id = count;
    const answered = new Promise<never>(resolve => waiting.set(id, resolve as (answer: unknown) => void));
    child.send({ id, question, about: about[0] });
    return Promise.race([answered, ended]).finally(() => waiting.delete(id));
  };
  const port = await Promise.race([
    new Promise<number>(resolve => waiting.set(0, answer => resolve(Number(answer)))),
    ended,
  ]);
  return {
    port,
    exit,
    errors: () => errors,
    kill: signal => void child.kill(signal),
    ask,
    release: () => child.disconnect(),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
