/** `mastra dev` of a project, in a process of its own with everything that it starts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, until } from '../support/processes.ts';

/** From the start of the command to the first answer; a machine with much else to do needs most of it. */
const START_LIMIT_MS = 300_000;
const END_LIMIT_MS = 20_000;

export interface DevInit {
  readonly folder: string;
  /** The Node.js binary that runs it. */
  readonly node: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface MastraDev extends AsyncDisposable {
  /** Where Studio and the REST interface are. */
  readonly origin: string;
  /** What it printed so far. */
  readonly output: () => string;
  /** Ends it as Ctrl+C does; resolves to the processes of the project that are left. */
  stop(): Promise<readonly number[]>;
}

/** Starts it; resolves when the REST interface answers. */
export async function startMastraDev({ folder, node, env }: DevInit): Promise<MastraDev> {
  const port = await freePort();
  const child = spawn(node, [path.join(folder, 'node_modules/mastra/dist/index.js'), 'dev'], {
    cwd: folder,
    // A group of its own, so that whatever is left of it can be ended.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH']}`,
      STUDIO_PORT: String(port),
      MASTRA_TELEMETRY_DISABLED: '1',
      // Set by the runner of the tests, and not meant for this program.
      NODE_ENV: 'development',
      NODE_OPTIONS: '',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)));
  const exit = once(child, 'exit');
  let ended = false;
  void exit.then(() => (ended = true));
  const killGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // Nobody is left.
    }
  };
  const origin = `http://127.0.0.1:${port}`;
  const dev: MastraDev = {
    origin,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      return leftOf(folder);
    },
    async [Symbol.asyncDispose]() {
      killGroup('SIGKILL');
      if (!ended) await exit;
    },
  };
  try {
    await until(
      'mastra dev answers',
      async () => {
        if (ended) throw new Error(`mastra dev ended:\n${output}`);
        return fetch(`${origin}/api/mcp/v0/servers`).then(
          ({ ok }) => ok,
          () => delay(250, false),
        );
      },
      START_LIMIT_MS,
    );
  } catch (error) {
    await dev[Symbol.asyncDispose]();
    throw new Error(`${String(error)}\n${output}`, { cause: error });
  }
  return dev;
}

/** The processes that work in a folder, once there are none any more or time is up. */
async function leftOf(folder: string): Promise<readonly number[]> {
  let left: readonly number[] = [];
  const look = async (): Promise<boolean> => {
    left = await processesIn(folder);
    return left.length === 0;
  };
  await until('the project has ended', look, END_LIMIT_MS).catch(() => undefined);
  return left;
}

async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const inside = await Promise.all(
    pids.map(async pid => {
      const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return (place === folder || place.startsWith(`${folder}/`)) && isRunning(Number(pid));
    }),
  );
  return pids.filter((_, index) => inside[index] === true).map(Number);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  const closed = once(probe, 'close');
  probe.close();
  await closed;
  return port;
}
