/** `@modelcontextprotocol/server-everything` as a process of its own, on a free port of the loopback interface. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Entry file of a reference server among the development dependencies. */
export const referenceServer = (name: 'everything' | 'filesystem'): string =>
  at(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

export interface RunningServer extends AsyncDisposable {
  readonly origin: string;
}

/** Starts server-everything for HTTP. Resolves once it listens; disposing it waits for the end of the process. */
export async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<RunningServer> {
  const args = ['--import', at('./loopback.mjs'), referenceServer('everything'), transport];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  for await (const line of createInterface(child.stderr)) {
    const address = /^bound to (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    child.stderr.resume();
    return {
      origin: `http://${address}`,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await exit;
      },
    };
  }
  throw new Error(`server-everything (${transport}) ended before it listened`);
}
