/** A headless Chromium of the machine, driven over the two pipes of its debugging protocol; no package needed. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const COMMAND_LIMIT_MS = 30_000;

/** Path of the browser, or `undefined` where the machine has none. `CHROMIUM` names another. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PLACES].find(place => place !== '' && existsSync(place));
}

export interface Chromium extends AsyncDisposable {
  open(url: string): Promise<void>;
  /** Value of an expression in the page; a promise is waited for. */
  evaluate(expression: string): Promise<unknown>;
}

interface Message {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export async function startChromium(executable: string): Promise<Chromium> {
  const profile = await mkdtemp(path.join(tmpdir(), 'chromium-'));
  const args = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--remote-debugging-pipe',
  ];
  const child = spawn(executable, [...args, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>(resolve => child.once('close', () => resolve()));
  const [, , , toBrowser, fromBrowser] = child.stdio as unknown as [null, null, null, Writable, Readable];
  toBrowser.on('error', () => undefined);
  const waiting = new Map<number, (message: Message) => void>();
  let rest = '';
  fromBrowser.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = `${rest}${chunk}`.split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const message = JSON.parse(text) as Message;
      if (message.id !== undefined) waiting.get(message.id)?.(message);
    }
  });
  let lastId = 0;
  let sessionId: unknown;
  const command = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
    lastId += 1;
    const id = lastId;
    const answered = new Promise<Message>((resolve, reject) => {
      waiting.set(id, resolve);
      const problem = `Chromium did not answer ${method}`;
      setTimeout(() => reject(new Error(problem)), COMMAND_LIMIT_MS).unref();
    });
    toBrowser.write(
      `${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`,
    );
    const { result, error } = await answered;
    waiting.delete(id);
    if (result === undefined) throw new Error(`${method}: ${error?.message}`);
    return result;
  };
  const { targetInfos } = await command('Target.getTargets');
  const page = (targetInfos as { type: string; targetId: string }[]).find(({ type }) => type === 'page');
  ({ sessionId } = await command('Target.attachToTarget', { targetId: page?.targetId, flatten: true }));
  return {
    async open(url) {
      await command('Page.navigate', { url });
    },
    async evaluate(expression) {
      const { result } = await command('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      return (result as { value?: unknown }).value;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
