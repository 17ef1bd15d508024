// Starts, asks and ends the measured processes. Every wait is bounded: a process that does not answer is killed.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
const NODE_FLAGS = ['--experimental-import-meta-resolve', '--no-warnings'];
const ANSWER_MS = 120_000;
const STOP_MS = 5_000;
const running = new Set();
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')));

/** Resolves once the target is loaded in a process of its own; rejects with the reason when it cannot be. */
export async function startChild(target, profile) {
  const child = fork(WORKER, [JSON.stringify({ target })], {
    execArgv: nodeFlags(profile),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  const waiting = new Map();
  let lastId = 0;
  let stderr = '';
  child.stderr.on('data', chunk => (stderr = (stderr + chunk).slice(-2_000)));
  child.on('message', ({ id, error, result }) =>
    error ? waiting.get(id)?.reject(new Error(error)) : waiting.get(id)?.resolve(result),
  );
  const exited = new Promise(resolve => child.once('exit', resolve)).then(code => {
    running.delete(child);
    const end = code === null ? 'was killed' : `ended with ${code}`;
    for (const { reject, what } of waiting.values()) reject(new Error(`${end} during "${what}"\n${stderr}`));
  });

  const answer = (id, what) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
      const settle = how => value => (clearTimeout(timer), waiting.delete(id), how(value));
      waiting.set(id, { what, resolve: settle(resolve), reject: settle(reject) });
    });

  await answer(lastId, 'load').catch(error => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    ask(command, input = {}) {
      const id = ++lastId;
      child.send({ id, command, input }, error => error && waiting.get(id)?.reject(error));
      return answer(id, command);
    },
    async stop() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The command that runs a target as a stdio server. */
export const stdioEndpoint = (target, profile) => ({
  command: process.execPath,
  args: [...nodeFlags(profile), WORKER, JSON.stringify({ target, stdio: true })],
});

/** @param profile where to write a CPU profile, if at all: `{ folder, file }` */
function nodeFlags(profile) {
  if (!profile) return NODE_FLAGS;
  return [...NODE_FLAGS, '--cpu-prof', '--cpu-prof-dir', profile.folder, '--cpu-prof-name', profile.file];
}
