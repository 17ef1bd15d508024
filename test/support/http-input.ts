/** The programs in `test/regressions/inputs` that serve HTTP, each in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { regressionInput } from './client.ts';

export interface HttpInput extends AsyncDisposable {
  readonly url: string;
  /** What arrived so far, counted by the program. */
  stats(): Promise<Readonly<Record<string, number>>>;
}

/** Starts a program and waits until it listens. */
export async function startHttpInput(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<HttpInput> {
  const { command, args } = regressionInput(file);
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    const port = /^LISTENING (\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      async stats() {
        const response = await fetch(`http://127.0.0.1:${port}/__stats`);
        return (await response.json()) as Record<string, number>;
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await exit;
      },
    };
  }
  throw new Error(`${file} ended before it listened`);
}
