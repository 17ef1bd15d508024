/**
 * Credentials in one file that only its owner can read, shared safely by several processes.
 *
 * Owns the file: mode, atomic replacement, locks. Does not encrypt it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { withFileLock } from './file-lock.ts';
import { Queue, type OAuthStorage } from './storage.ts';

/** A change of the file takes milliseconds. */
const WRITE_LIMIT_MS = 10_000;
/** As long as everything that is done under a lock of the caller may take: a few requests of 10 s each. */
const LOCK_LIMIT_MS = 60_000;
const MAX_BYTES = 16 * 1024 * 1024;
const OTHERS_MASK = 0o077;
/** Windows has neither modes nor the flag. */
const HAS_MODES = process.platform !== 'win32';

/** Options of `FileOAuthStorage`. */
export interface FileOAuthStorageOptions {
  /** The file; it and its folder are made when they are missing. */
  readonly path: string;
}

/**
 * Keeps credentials in a JSON file with mode 0600. Every change replaces the file atomically, and a refresh in one
 * process makes others that share the file wait for its result.
 *
 * A file that others can read, that belongs to somebody else, or that is a symbolic link is refused: each call rejects
 * with MCPConfigurationError `MCP_CLIENT_CONFIGURATION_INVALID`. On Windows the file is protected by its folder only.
 */
export class FileOAuthStorage implements OAuthStorage {
  readonly #path: string;
  readonly #changes = new Queue();

  constructor(options: FileOAuthStorageOptions) {
    if (typeof options.path !== 'string' || options.path === '' || options.path.includes('\0')) {
      throw new MCPConfigurationError('client', 'path', 'must be the path of a file');
    }
    this.#path = path.resolve(options.path);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#read()).get(key);
  }

  set(key: string, value: string): Promise<void> {
    return this.#change(values => values.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#change(values => values.delete(key));
  }

  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#makeFolder();
    // A key holds an address, which makes no file name.
    const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
    return await withFileLock(`${this.#path}.${name}.lock`, LOCK_LIMIT_MS, work);
  }

  #change(change: (values: Map<string, string>) => unknown): Promise<void> {
    return this.#changes.run(async () => {
      await this.#makeFolder();
      await withFileLock(`${this.#path}.lock`, WRITE_LIMIT_MS, async () => {
        const values = await this.#read();
        change(values);
        await this.#write(values);
      });
    });
  }

  async #read(): Promise<Map<string, string>> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = await open(this.#path, HAS_MODES ? O_RDONLY | O_NOFOLLOW | O_NONBLOCK : O_RDONLY).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        if (error.code === 'ELOOP') throw this.#refused('is a symbolic link', error);
        throw error;
      },
    );
    if (file === undefined) return new Map();
    try {
      const facts = await file.stat();
      if (!facts.isFile()) throw this.#refused('is not a file');
      if (facts.size > MAX_BYTES) throw this.#refused(`is larger than ${MAX_BYTES} bytes`);
      if (HAS_MODES && (facts.mode & OTHERS_MASK) !== 0) {
        const mode = (facts.mode & 0o777).toString(8);
        throw this.#refused(`can be read or changed by others (mode ${mode}); it must have mode 600`);
      }
      if (HAS_MODES && facts.uid !== process.getuid?.()) throw this.#refused('belongs to somebody else');
      return this.#parse(await file.readFile('utf8'));
    } finally {
      await file.close();
    }
  }

  #parse(text: string): Map<string, string> {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      // The text of the parser quotes the file.
      throw this.#refused('is not JSON');
    }
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw this.#refused('holds no object');
    }
    return new Map(
      Object.entries(parsed).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  }

  /** Written beside it and put in place, so that a reader sees the old or the new content and nothing between. */
  async #write(values: ReadonlyMap<string, string>): Promise<void> {
    const beside = `${this.#path}.${randomUUID()}.tmp`;
    try {
      const file = await open(beside, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(Object.fromEntries(values), undefined, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, this.#path);
    } catch (error) {
      await unlink(beside).catch(() => undefined);
      throw error;
    }
  }

  async #makeFolder(): Promise<void> {
    await mkdir(path.dirname(this.#path), { recursive: true, mode: 0o700 });
  }

  #refused(problem: string, cause?: unknown): MCPConfigurationError {
    return new MCPConfigurationError('client', 'path', `(${JSON.stringify(this.#path)}) ${problem}`, cause);
  }
}
