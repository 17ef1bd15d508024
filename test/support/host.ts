/** A client in a process of its own, to be ended in ways that no test could survive. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { MastraMCPServerDefinition } from '../../src/client/index.ts';

export interface Host {
  /** Settles when all servers are connected. */
  readonly ready: Promise<void>;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What it wrote on standard error: warnings, unhandled rejections. */
  readonly errors: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** `exit <code>` or `disconnect`, after which it has to end by itself. */
  readonly tell: (command: string) => void;
}

export function runHost(options: {
  readonly servers: Readonly<Record<string, MastraMCPServerDefinition>>;
  /** Gives the host a handler of its own, which takes 1.5 s and then exits with this code. */
  readonly exitCodeOnSigterm?: number;
}): Host {
  const script = fileURLToPath(new URL('host-main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(options)]);
  let errors = '';
  child.stderr.on('data', chunk => (errors += String(chunk)));
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const ready = Promise.race([
    once(child.stdout, 'data').then(() => undefined),
    exit.then(end => Promise.reject(new Error(`The host ended with ${JSON.stringify(end)}: ${errors}`))),
  ]);
  exit.catch(() => undefined);
  return {
    ready,
    exit,
    errors: () => errors,
    kill: signal => void child.kill(signal),
    tell: command => void child.stdin.write(`${command}\n`),
  };
}
