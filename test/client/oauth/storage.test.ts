import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FileOAuthStorage, InMemoryOAuthStorage, type OAuthStorage } from '../../../src/client/index.ts';
import { StoredCredentials } from '../../../src/client/oauth/credentials.ts';
import { temporaryFile } from '../../support/files.ts';
import { rejection } from '../../support/client.ts';
import { verifies } from '../../requirements/requirements.ts';

const holder = fileURLToPath(new URL('storage-holder-main.ts', import.meta.url));
const inProcess = (...args: readonly string[]) =>
  spawn(process.execPath, ['--import', 'tsx', holder, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

const storages: Record<string, () => InMemoryOAuthStorage | FileOAuthStorage> = {
  InMemoryOAuthStorage: () => new InMemoryOAuthStorage(),
  FileOAuthStorage: () => new FileOAuthStorage({ path: temporaryFile() }),
};

describe.each(Object.entries(storages))('%s', (_, make) => {
  verifies('S104', 'keeps strings by key until they are deleted', async () => {
    const storage = make();
    expect(await storage.get('a')).toBeUndefined();
    await storage.set('a', '1');
    await storage.set('__proto__', '2');
    expect([await storage.get('a'), await storage.get('__proto__')]).toEqual(['1', '2']);
    await storage.delete('a');
    await storage.delete('never there');
    expect([await storage.get('a'), await storage.get('__proto__')]).toEqual([undefined, '2']);
  });

  test('runs work under one key one after the other, and goes on after work that fails', async () => {
    const storage = make();
    const order: string[] = [];
    const work = (name: string) => async (): Promise<string> => {
      order.push(`${name} begins`);
      await storage.set('x', name);
      order.push(`${name} ends`);
      if (name === 'two') throw new Error(name);
      return name;
    };
    const names = ['one', 'two', 'three'];
    const outcomes = await Promise.allSettled(names.map(name => storage.lock('key', work(name))));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    for (let index = 0; index < order.length; index += 2) {
      expect(order[index]?.split(' ')[0]).toBe(order[index + 1]?.split(' ')[0]);
    }
    expect(order).toHaveLength(6);
  });
});

describe('FileOAuthStorage', () => {
  const saved = async (): Promise<{ readonly file: string; readonly storage: FileOAuthStorage }> => {
    const file = temporaryFile();
    const storage = new FileOAuthStorage({ path: file });
    await storage.set('tokens', 'secret');
    return { file, storage };
  };

  verifies(['O7', 'D19'], 'makes a file that only its owner can read, in a folder of the owner', async () => {
    const file = path.join(path.dirname(temporaryFile()), 'new/deeper/tokens.json');
    await new FileOAuthStorage({ path: file }).set('tokens', 'secret');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ tokens: 'secret' });
    expect(await readdir(path.dirname(file))).toEqual(['tokens.json']);
  });

  verifies('O7', 'replaces the file in one step: a reader never sees half of it', async () => {
    const { file, storage } = await saved();
    const writing = Promise.all(
      Array.from({ length: 20 }, (_, index) => storage.set(`key ${index}`, 'x'.repeat(10_000))),
    );
    const isPending = (): Promise<boolean> =>
      Promise.race([writing.then(() => false), nextTurn().then(() => true)]);
    while (await isPending()) expect(JSON.parse(await readFile(file, 'utf8'))).toHaveProperty('tokens');
    expect(await storage.get('tokens')).toBe('secret');
  });

  verifies('O7', 'refuses a file that others can read or write, and leaves it as it is', async () => {
    const { file, storage } = await saved();
    for (const mode of [0o640, 0o604, 0o620, 0o666]) {
      await chmod(file, mode);
      const refused = { code: 'MCP_CLIENT_CONFIGURATION_INVALID', option: 'path' };
      expect(await rejection(storage.get('tokens'))).toMatchObject(refused);
      expect(await rejection(storage.set('tokens', 'other'))).toMatchObject(refused);
    }
    await chmod(file, 0o600);
    expect(await storage.get('tokens')).toBe('secret');
  });

  verifies('O7', 'follows no symbolic link, neither to read nor to write', async () => {
    const { file } = await saved();
    const link = temporaryFile();
    await symlink(file, link);
    const storage = new FileOAuthStorage({ path: link });
    expect(await rejection(storage.get('tokens'))).toMatchObject({ option: 'path' });
    expect(await rejection(storage.set('tokens', 'other'))).toMatchObject({ option: 'path' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ tokens: 'secret' });
  });

  test('refuses what is no JSON object without quoting it, and what is no file', async () => {
    const { file, storage } = await saved();
    for (const content of ['access-token-1234', '["access-token-1234"]', 'null']) {
      await writeFile(file, content);
      const error = await rejection(storage.get('tokens'));
      expect(error).toMatchObject({ option: 'path' });
      expect(`${error.message}${String(error.cause)}`).not.toContain('access-token');
    }
    const folder = temporaryFile();
    await mkdir(folder);
    expect(await rejection(new FileOAuthStorage({ path: folder }).get('a'))).toMatchObject({
      option: 'path',
    });
    expect(() => new FileOAuthStorage({ path: '' })).toThrow(expect.objectContaining({ option: 'path' }));
  });

  verifies(['O7', 'D19'], 'loses no change of two processes that write at once', async () => {
    const file = temporaryFile();
    const writers = ['a', 'b'].map(key => inProcess('write', file, key));
    const own = new FileOAuthStorage({ path: file });
    for (let count = 0; count < 20; count += 1) await own.set(`c-${count}`, String(count));
    await Promise.all(writers.map(writer => once(writer, 'exit')));
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')) as object)).toHaveLength(60);
  });

  test('takes over the lock of a process that was killed while it held it', async () => {
    const file = temporaryFile();
    const holding = inProcess('hold', file);
    await once(holding.stdout, 'data');
    const storage = new FileOAuthStorage({ path: file });
    let entered = false;
    const waiting = storage.lock('key', async () => (entered = true));
    await storage.set('while', 'held');
    expect(entered).toBe(false);
    holding.kill('SIGKILL');
    await once(holding, 'exit');
    expect(await waiting).toBe(true);
    expect((await readdir(path.dirname(file))).filter(name => name.includes('lock'))).toEqual([]);
  });

  test('takes over a lock that nobody can still hold', async () => {
    const file = temporaryFile();
    const storage = new FileOAuthStorage({ path: file });
    await storage.set('a', '1');
    const long = new Date(Date.now() - 3_600_000);
    for (const content of ['', JSON.stringify({ pid: process.pid, host: 'another.host', id: 'x' })]) {
      await writeFile(`${file}.lock`, content);
      await utimes(`${file}.lock`, long, long);
      await storage.set('a', '2');
    }
    expect(await storage.get('a')).toBe('2');
  });
});

describe('the credentials of a server', () => {
  const [one, other] = [new URL('https://one.example/mcp'), new URL('https://other.example/mcp')];
  const tokens = (name: string) => ({ access_token: name, token_type: 'Bearer' });

  verifies(['O6', 'D19'], 'are kept apart from those of another server in the same storage', async () => {
    const storage = new InMemoryOAuthStorage();
    const [first, second] = [one, other].map(server => new StoredCredentials(storage, server));
    await first?.saveTokens(tokens('first'));
    await first?.saveClient({ client_id: 'first' });
    expect(await second?.tokens()).toBeUndefined();
    expect(await second?.client()).toBeUndefined();
    await second?.saveTokens(tokens('second'));
    await second?.forget('all');
    expect(await first?.tokens()).toMatchObject({ access_token: 'first' });
    expect(await first?.client()).toMatchObject({ client_id: 'first' });
  });

  verifies(
    ['O6', 'S104', 'D19'],
    'of 1.x are taken over by the first server of a storage, and by no other',
    async () => {
      const storage = new InMemoryOAuthStorage();
      storage.set('tokens', JSON.stringify(tokens('old')));
      storage.set('client_info', JSON.stringify({ client_id: 'old' }));
      storage.set('code_verifier', 'old');
      const first = new StoredCredentials(storage, one);
      const second = new StoredCredentials(storage, other);
      expect(await first.tokens()).toMatchObject({ access_token: 'old' });
      expect(await first.client()).toEqual({ client_id: 'old' });
      expect(await first.verifier()).toBe('old');
      expect(await second.tokens()).toBeUndefined();
      expect(await second.client()).toBeUndefined();
      await first.saveTokens(tokens('new'));
      expect(storage.get('tokens')).toBeUndefined();
      await first.forget('all');
      expect([storage.get('client_info'), storage.get('code_verifier')]).toEqual([undefined, undefined]);
      expect(await first.tokens()).toBeUndefined();
    },
  );

  test('that are not what was saved count as none', async () => {
    const storage = new InMemoryOAuthStorage();
    const credentials = new StoredCredentials(storage, one);
    for (const value of ['', 'null', '[]', '{"access_token":1}', 'no json']) {
      storage.set(`tokens ${one.href}`, value);
      expect(await credentials.tokens()).toBeUndefined();
    }
    const empty = {
      get: () => null,
      set: () => undefined,
      delete: () => undefined,
    } as unknown as OAuthStorage;
    expect(await new StoredCredentials(empty, one).tokens()).toBeUndefined();
  });
});
