import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  childEnvironment,
  ChildProcess,
  type ChildDefinition,
  type ChildLoss,
} from '../../src/client/connection/child-process.ts';
import { TransportFailure } from '../../src/client/connection/transport-failure.ts';
import { verifies } from '../requirements/requirements.ts';
import { isRunning, until } from '../support/processes.ts';
import { nodeProgram } from '../support/node-program.ts';

const started: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map(child => child.close(0)));
});

/** A child with everything it wrote and how it was lost. */
class Observed {
  readonly child: ChildProcess;
  stdout = '';
  readonly losses: ChildLoss[] = [];

  constructor(definition: Partial<ChildDefinition> & Pick<ChildDefinition, 'command'>) {
    this.child = new ChildProcess(
      { args: [], env: {}, inheritDefaultEnv: true, cwd: undefined, stderr: 'ignore', ...definition },
      {
        onStdout: chunk => (this.stdout += chunk.toString('utf8')),
        onLost: why => this.losses.push(why),
      },
    );
    started.push(this.child);
  }

  get running(): boolean {
    return this.child.pid !== undefined && isRunning(this.child.pid);
  }
}

async function start(source: string, definition: Partial<ChildDefinition> = {}): Promise<Observed> {
  const observed = new Observed({ ...nodeProgram(source), ...definition });
  await observed.child.start();
  return observed;
}

const temporaryFile = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'child-')), 'file');
const stubborn = `process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000);`;
const quiet = `setInterval(() => {}, 1000);`;
const ready = `process.stdout.write('ready');`;
/** Starts a descendant that holds the pipes of its parent, and writes its process id on standard output. */
const withGrandchild = (source: string, grandchild: string): string => `
  const { spawn } = require('node:child_process');
  const inner = spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: ['ignore', 'inherit', 'inherit'] });
  process.stdout.write('grandchild=' + inner.pid + ';');
  ${source}`;

async function grandchildOf(observed: Observed): Promise<number> {
  await until('the grandchild is there', () => /grandchild=\d+;/.test(observed.stdout));
  return Number(/grandchild=(\d+);/.exec(observed.stdout)?.[1]);
}

describe('environment', () => {
  const names = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

  verifies(
    ['S013', 'S014', 'S015', 'S018', 'P1'],
    'gives a child exactly the six default variables and those of its definition',
    async () => {
      const before = { ...process.env };
      Object.assign(process.env, {
        SECRET_TOKEN_X: 'secret',
        LOGNAME: 'someone',
        SHELL: '/bin/sh',
        TERM: 'dumb',
      });
      try {
        const observed = await start('process.stdout.write(JSON.stringify(process.env)); process.exit()', {
          env: { MINE: 'verbatim $HOME', TERM: 'own' },
        });
        await until('it exited', () => observed.losses.length > 0);
        const seen = JSON.parse(observed.stdout) as Record<string, string>;
        const present = names.filter(name => process.env[name] !== undefined);
        expect(Object.keys(seen).sort()).toEqual([...present, 'MINE'].sort());
        expect(seen).toMatchObject({ MINE: 'verbatim $HOME', TERM: 'own', LOGNAME: 'someone' });
      } finally {
        for (const name of ['SECRET_TOKEN_X', ...names]) {
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        }
      }
    },
  );

  verifies(
    'S017',
    'gives a child only the variables of its definition without inheritDefaultEnv',
    async () => {
      const observed = await start('process.stdout.write(JSON.stringify(process.env)); process.exit()', {
        env: { A: '1' },
        inheritDefaultEnv: false,
      });
      await until('it exited', () => observed.losses.length > 0);
      expect(JSON.parse(observed.stdout)).toEqual({ A: '1' });
    },
  );

  verifies('S016', 'gives a child on Windows exactly the eleven variables its programs need', async () => {
    const windowsNames = [
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
    ];
    const { env, platform } = process;
    Object.defineProperty(process, 'platform', { value: 'win32' });
    process.env = Object.fromEntries([...names, ...windowsNames].map(name => [name, 'value']));
    try {
      const url = new URL('../../src/client/connection/child-process.ts?windows', import.meta.url).href;
      const onWindows = (await import(url)) as { childEnvironment: typeof childEnvironment };
      const given = onWindows.childEnvironment({ env: {}, inheritDefaultEnv: true });
      expect(Object.keys(given).toSorted()).toEqual(windowsNames);
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
      process.env = env;
    }
  });

  verifies(
    'P1',
    'drops a default variable that is an exported shell function, but not an explicit one',
    () => {
      const before = process.env['TERM'];
      process.env['TERM'] = '() { :; }; echo vulnerable';
      try {
        expect(childEnvironment({ env: {}, inheritDefaultEnv: true })).not.toHaveProperty('TERM');
        expect(childEnvironment({ env: { TERM: '() x' }, inheritDefaultEnv: true })).toHaveProperty(
          'TERM',
          '() x',
        );
      } finally {
        if (before === undefined) delete process.env['TERM'];
        else process.env['TERM'] = before;
      }
    },
  );
});

describe('starting', () => {
  verifies(['S011', 'S012', 'P2'], 'passes arguments literally, without a shell', async () => {
    const file = temporaryFile();
    const hostile = `; touch ${file} $(touch ${file})`;
    const { command, args } = nodeProgram('process.stdout.write(process.argv[1]); process.exit()');
    const observed = new Observed({ command, args: [...args, hostile] });
    await observed.child.start();
    await until('it exited', () => observed.losses.length > 0);
    expect(observed.stdout).toBe(hostile);
    expect(existsSync(file)).toBe(false);
  });

  test('says which command could not be started, and never with what arguments or variables', async () => {
    const { child } = new Observed({
      command: '/no/such/program',
      args: ['--key=secret-argument'],
      env: { KEY: 'secret-variable' },
    });
    const failure = await child.start().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(TransportFailure);
    expect(failure).toMatchObject({
      kind: 'unreachable',
      facts: { mayHaveExecuted: false, networkCode: 'ENOENT' },
    });
    expect((failure as Error).message).toContain('"/no/such/program"');
    const everything = JSON.stringify(failure, (_, value: unknown) =>
      value instanceof Error
        ? Object.fromEntries(Object.getOwnPropertyNames(value).map(name => [name, Reflect.get(value, name)]))
        : value,
    );
    expect(everything).toContain('ENOENT');
    expect(everything).not.toContain('secret');
  });

  test.each([
    ['a file that may not be executed', { command: '/etc/passwd' }, 'EACCES'],
    [
      'a working directory that is not there',
      { command: process.execPath, cwd: '/no/such/folder' },
      'ENOENT',
    ],
  ])('says that %s is the reason', async (_, definition, networkCode) => {
    const { child } = new Observed(definition);
    await expect(child.start()).rejects.toMatchObject({ kind: 'unreachable', facts: { networkCode } });
    await child.close();
  });

  test('starts the program in its working directory', async () => {
    const observed = await start('process.stdout.write(process.cwd()); process.exit()', { cwd: '/' });
    await until('it exited', () => observed.losses.length > 0);
    expect(observed.stdout).toBe('/');
  });
});

describe('the end of a child', () => {
  test('is told once, with code or signal, after everything it wrote', async () => {
    const size = 3_000_000;
    const observed = await start(
      `require('node:fs').writeSync(1, ''); process.stdout.write('x'.repeat(${size}), () => process.exit(7));`,
    );
    await until('it exited', () => observed.losses.length > 0);
    expect(observed.stdout).toHaveLength(size);
    expect(observed.losses).toEqual([{ code: 7, signal: null }]);
    const killed = await start(quiet);
    process.kill(killed.child.pid ?? 0, 'SIGKILL');
    await until('it was killed', () => killed.losses.length > 0);
    expect(killed.losses).toEqual([{ code: null, signal: 'SIGKILL' }]);
  });

  verifies(
    ['P3', 'S084'],
    'comes with the end of standard input, at once where the child obeys it',
    async () => {
      const observed = await start(`process.stdin.resume();${ready}`);
      await until('it is up', () => observed.stdout === 'ready');
      const before = performance.now();
      await observed.child.close();
      expect(performance.now() - before).toBeLessThan(1000);
      expect(observed.running).toBe(false);
      expect(observed.losses).toEqual([]);
    },
  );

  verifies(
    ['P3', 'D15'],
    'comes with SIGKILL within 5 s where the child ignores everything else',
    async () => {
      const observed = await start(withGrandchild(stubborn + ready, stubborn));
      const grandchild = await grandchildOf(observed);
      const before = performance.now();
      await Promise.all([observed.child.close(), observed.child.close()]);
      const took = performance.now() - before;
      expect([observed.running, isRunning(grandchild)]).toEqual([false, false]);
      expect(took).toBeGreaterThan(3900);
      expect(took).toBeLessThan(5000);
    },
  );

  verifies(
    ['P3', 'B75'],
    'takes a grandchild along that outlives its parent and holds the pipes',
    async () => {
      const observed = await start(
        withGrandchild(quiet, stubborn.replace("process.on('SIGTERM', () => {});", '')),
      );
      const grandchild = await grandchildOf(observed);
      process.kill(observed.child.pid ?? 0, 'SIGKILL');
      await until('the loss was told', () => observed.losses.length > 0, 1000);
      expect(observed.losses).toEqual([{ code: null, signal: 'SIGKILL' }]);
      await until('the grandchild is gone', () => !isRunning(grandchild), 3000);
      await observed.child.close();
    },
  );

  test('does not wait for a grandchild that never stops writing', async () => {
    const chatter = `setInterval(() => process.stdout.write('noise'.repeat(100)), 1); process.on('SIGTERM', () => {});`;
    const observed = await start(withGrandchild(`setTimeout(() => process.exit(3), 100);`, chatter));
    const grandchild = await grandchildOf(observed);
    await until('the loss was told', () => observed.losses.length > 0, 2000);
    expect(observed.losses).toEqual([{ code: 3, signal: null }]);
    await observed.child.close();
    expect(isRunning(grandchild)).toBe(false);
  });

  test.each([
    ['its standard input', `require('node:fs').closeSync(0);`, 'closed its standard input'],
    ['its standard output', `require('node:fs').closeSync(1);`, 'closed its standard output'],
  ])('is assumed when it closed %s, since nothing can come of it', async (_, source, loss) => {
    const observed = await start(`${source}${quiet}`);
    await until('the loss was told', () => {
      try {
        observed.child.write('{}\n');
      } catch {
        // Told already by the pipe.
      }
      return observed.losses.length > 0;
    });
    expect(observed.losses).toEqual([loss]);
    await until('it was ended', () => !observed.running, 5000);
  });
});

describe('standard error', () => {
  const flood = `process.stderr.write('x'.repeat(10_000_000) + 'the end\\n', () => process.stdout.write('ready'));${quiet}`;

  verifies(['P4', 'B79', 'S245'], 'never blocks the child, whether somebody reads it or not', async () => {
    for (const stderr of ['ignore', 'pipe'] as const) {
      const observed = await start(flood, { stderr });
      await until('the child wrote it all', () => observed.stdout === 'ready');
      await until('the tail came', () => observed.child.stderrTail.endsWith('the end'));
      expect(observed.child.stderrTail.length).toBeLessThanOrEqual(8 * 1024);
    }
  });

  verifies('S245', 'is a stream with `pipe`: nothing is lost to a reader, the oldest to nobody', async () => {
    const lines = `for (let i = 0; i < 20000; i++) process.stderr.write('line ' + i + ' of many\\n');`;
    const read = await start(lines, { stderr: 'pipe' });
    let text = '';
    for await (const chunk of read.child.stderr ?? []) text += String(chunk);
    expect(text.split('\n')).toHaveLength(20_001);

    const unread = await start(lines, { stderr: 'pipe' });
    await until('it exited', () => unread.losses.length > 0);
    await unread.child.close();
    let rest = '';
    for await (const chunk of unread.child.stderr ?? []) rest += String(chunk);
    expect(rest.length).toBeLessThanOrEqual(256 * 1024);
    expect(rest.endsWith('line 19999 of many\n')).toBe(true);
  });

  test('is no stream with `ignore` and `inherit`, and is copied with `inherit`', async () => {
    const { stdout } = await start(`console.log('x')`);
    expect(stdout).toBe('');
    expect((await start(quiet, { stderr: 'inherit' })).child.stderr).toBeNull();
    expect((await start(quiet, { stderr: 'ignore' })).child.stderr).toBeNull();
    const written: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (chunk: string | Uint8Array) => written.push(Buffer.from(chunk).toString()) > 0;
    try {
      const observed = await start(`process.stderr.write('copied\\n')`, { stderr: 'inherit' });
      await until('it exited', () => observed.losses.length > 0);
    } finally {
      process.stderr.write = write;
    }
    expect(written.join('')).toBe('copied\n');
  });

  test('leaves a tail that is whole characters without escape sequences', async () => {
    const observed = await start(
      `process.stderr.write('\\u{1F600}'.repeat(4000) + '\\x1b[31mred\\x1b[0m\\x07\\x00 text\\n'); process.exit()`,
    );
    await until('it exited', () => observed.losses.length > 0);
    expect(observed.child.stderrTail).toMatch(/^(\u{1F600})+red text$/u);
  });
});

describe('standard input', () => {
  const mebibyte = `${'x'.repeat(1024 * 1024 - 1)}\n`;

  verifies('R11', 'is refused beyond 8 MiB that the child does not read', async () => {
    const observed = await start(quiet);
    const failures: unknown[] = [];
    for (let index = 0; index < 50; index += 1) {
      try {
        observed.child.write(mebibyte);
      } catch (error) {
        failures.push(error);
      }
    }
    expect(failures.length).toBeGreaterThanOrEqual(41);
    const facts = { mayHaveExecuted: false, limit: 8 * 1024 * 1024 };
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'backpressure', facts });
  });

  test('is refused at once when the child is gone, so that the text may be given to another', async () => {
    const observed = await start(`setTimeout(() => process.exit(), 50)`);
    await until('it exited', () => observed.losses.length > 0);
    expect(() => observed.child.write('{}\n')).toThrow(
      expect.objectContaining({ kind: 'lost', facts: { mayHaveExecuted: false } }) as Error,
    );
  });

  test('takes a single text above the limit when the child reads', async () => {
    const observed = await start(
      `let n = 0; process.stdin.on('data', d => { n += d.length; if (n === 20_000_000) ${ready} });`,
    );
    observed.child.write('x'.repeat(20_000_000));
    await until('the child got it all', () => observed.stdout === 'ready');
  });

  test('is accepted again once the child has read', async () => {
    const observed = await start(`process.on('SIGUSR2', () => process.stdin.resume()); ${ready}${quiet}`);
    await until('it is up', () => observed.stdout === 'ready');
    const fill = (): void => {
      for (let index = 0; index < 50; index += 1) observed.child.write(mebibyte);
    };
    expect(fill).toThrow(TransportFailure);
    process.kill(observed.child.pid ?? 0, 'SIGUSR2');
    await until('there is room', () => {
      try {
        observed.child.write(mebibyte);
        return true;
      } catch {
        return false;
      }
    });
  });
});
