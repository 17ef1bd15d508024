/**
 * Lists of one kind from every server: all pages, every failure kept apart.
 *
 * Owns what counts as an entry. Tools have a catalogue of their own.
 */
import type { Connection } from '../connection/connection.ts';
import { quote } from '../connection/to-error.ts';
import {
  askEvery,
  toListErrors,
  type ListErrors,
  type ListWithErrorsOptions,
  type Servers,
} from '../discovery.ts';
import { readPages, type ListedKind } from './pages.ts';

/** What is listed, and what identifies an entry; one without it is left out and reported. */
export interface ListingKind extends ListedKind {
  readonly id: string;
}

/** Entries by server name. */
export interface Listed<T> {
  readonly entries: Record<string, T[]>;
  readonly errors: ListErrors;
}

/** Asks one server. @throws AnyMCPError */
export async function listOne<T>(
  connection: Connection,
  kind: ListingKind,
  warn: (text: string) => void,
): Promise<T[]> {
  return (await list<T>(connection, kind, warn)).items;
}

/** Asks every server. Does not reject for the failure of a server. */
export async function listEvery<T>(
  { all, warn }: Servers,
  kind: ListingKind,
  options: ListWithErrorsOptions = {},
): Promise<Listed<T>> {
  const outcomes = await askEvery(
    all,
    kind.method,
    (connection, signal) => list<T>(connection, kind, warn, signal),
    options,
  );
  const entries = outcomes.flatMap(({ connection: { serverName }, value }) =>
    value === undefined ? [] : [[serverName, value.items] as const],
  );
  return { entries: Object.fromEntries(entries), errors: toListErrors(outcomes, ({ value }) => value ?? {}) };
}

/** As `listEvery`; servers that fail are logged and left out. */
export async function listWhatThereIs<T>(servers: Servers, kind: ListingKind): Promise<Record<string, T[]>> {
  const { entries, errors } = await listEvery<T>(servers, kind);
  for (const message of Object.values(errors.errors)) servers.warn(message);
  return entries;
}

interface Usable<T> {
  readonly items: T[];
  readonly leftOut: number;
  readonly stopped?: string;
}

async function list<T>(
  connection: Connection,
  kind: ListingKind,
  warn: (text: string) => void,
  signal?: AbortSignal,
): Promise<Usable<T>> {
  const { method, id } = kind;
  const { items, stopped } = await readPages(connection, kind, signal);
  const usable = items.filter((item): item is T => typeof Reflect.get(Object(item), id) === 'string');
  const at = `${method} of server ${quote(connection.serverName)}`;
  const leftOut = items.length - usable.length;
  if (leftOut > 0) warn(`${at}: ${leftOut} entries without a string ${quote(id)} are left out`);
  if (stopped !== undefined) warn(`${at} ended early: ${stopped}`);
  return { items: usable, leftOut, ...(stopped === undefined ? {} : { stopped }) };
}
