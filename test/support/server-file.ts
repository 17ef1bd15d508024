/** A server that is a TypeScript file of its own and prints `LISTENING <url>`, perhaps several, then an empty line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ServerFile extends AsyncDisposable {
  /** What it listens at, in the order in which it said so. */
  readonly urls: readonly string[];
}

/** Starts `file`, seen from the folder of this one. Disposing it waits for the end of the process. */
export async function startServerFile(file: string, args: readonly string[] = []): Promise<ServerFile> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  let errors = '';
  child.stderr.on('data', chunk => (errors = (errors + String(chunk)).slice(-4000)));
  const urls: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const url = /^LISTENING (\S+)$/.exec(line)?.[1];
    if (url !== undefined) urls.push(url);
    if (line !== '') continue;
    child.stdout.resume();
    return {
      urls,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await exit;
      },
    };
  }
  throw new Error(`${file} ended before it listened:\n${errors}`);
}
