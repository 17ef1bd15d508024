/** The servers of the demo that are reached over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface RunningServer {
  readonly url: string;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Starts `node` and waits for the line on standard error that says where it listens. */
async function start(
  args: readonly string[],
  toUrl: (line: string) => string | undefined,
): Promise<RunningServer> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  process.once('exit', () => child.kill('SIGKILL'));
  const output: string[] = [];
  for await (const text of createInterface(child.stderr)) {
    output.push(text);
    const url = toUrl(text);
    if (url === undefined) continue;
    child.stderr.resume();
    return {
      url,
      async stop() {
        child.kill();
        await exit;
      },
    };
  }
  throw new Error(`A server ended before it listened: ${args.join(' ')}\n${output.join('\n')}`);
}

/** `@modelcontextprotocol/server-everything` over Streamable HTTP, kept to the loopback interface by a preload. */
export function startEverything(): Promise<RunningServer> {
  const entry = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
  return start(['--import', at('../../test/support/loopback.mjs'), entry, 'streamableHttp'], line => {
    const address = /^bound to (\S+)$/.exec(line)?.[1];
    return address === undefined ? undefined : `http://${address}/mcp`;
  });
}

/** The MCPServer in `own-server.ts`. */
export function startOwnServer(): Promise<RunningServer> {
  return start(['--import', 'tsx', at('./own-server.ts')], line => /^listening at (\S+)$/.exec(line)?.[1]);
}
