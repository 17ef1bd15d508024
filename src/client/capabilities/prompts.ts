/**
 * Prompts of servers: listing and filling in.
 *
 * Owns versions on the client: a server tells them in `_meta.version` of an entry. Messages are untrusted input.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 */
import type {
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  Prompt as WirePrompt,
} from '@modelcontextprotocol/sdk/types.js';
import { readPromptVersion, withPromptVersion } from '../../shared/meta.ts';
import type { CallerOptions } from '../connection/connection.ts';
import type { ListErrors, ListWithErrorsOptions, Servers } from '../discovery.ts';
import { listEvery, listWhatThereIs, type ListingKind } from './listings.ts';
import { expectList } from './pages.ts';

/** A prompt of a server; `version` where the server has versions. */
export interface RemotePrompt extends WirePrompt {
  version?: string;
}

/** A prompt, filled in. */
export type PromptResult = GetPromptResult & { prompt: RemotePrompt };

/** Which prompt, and what to fill in. */
export interface GetPromptOptions extends CallerOptions {
  readonly serverName: string;
  readonly name: string;
  /** Values that are no strings are sent as JSON text. */
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  /** For servers with versions. @defaultValue the server's choice */
  readonly version?: string | undefined;
}

const PROMPTS: ListingKind = { method: 'prompts/list', key: 'prompts', capability: 'prompts', id: 'name' };

/** Prompts of all servers of a client. */
export class ClientPrompts {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The prompts by server name, all pages. A server without prompts has an empty list; one that fails is logged and left out. */
  async list(): Promise<Record<string, RemotePrompt[]>> {
    return withVersions(await listWhatThereIs<WirePrompt>(this.#servers, PROMPTS));
  }

  /** As `list`, with what went wrong. Does not reject for the failure of a server. */
  async listWithErrors(
    options?: ListWithErrorsOptions,
  ): Promise<{ readonly prompts: Record<string, RemotePrompt[]> } & ListErrors> {
    const { entries, errors } = await listEvery<WirePrompt>(this.#servers, PROMPTS, options);
    return { prompts: withVersions(entries), ...errors };
  }

  /**
   * The messages of a prompt. `prompt` names what was asked for.
   *
   * @throws MCPRequestError `MCP_CLIENT_GET_PROMPT_FAILED` for an unknown server; every error of a request.
   */
  async get({ serverName, name, args, version, ...options }: GetPromptOptions): Promise<PromptResult> {
    const connection = this.#servers.get(serverName, {
      code: 'MCP_CLIENT_GET_PROMPT_FAILED',
      method: 'prompts/get',
    });
    const params = {
      name,
      arguments: toWireArguments(args ?? {}),
      ...(version === undefined ? {} : { _meta: withPromptVersion(undefined, version) }),
    };
    const given = await connection.request('prompts/get', params, { mayRepeat: true, ...options });
    expectList(connection, 'prompts/get', given['messages']);
    const { description } = given;
    const served = version ?? readPromptVersion(given['_meta']);
    const prompt = {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      ...(served === undefined ? {} : { version: served }),
    };
    return { ...(given as GetPromptResult), prompt };
  }

  /** Adds a handler for changes of the list; the promise gives a function that removes it. */
  async onListChanged(serverName: string, handler: () => void | Promise<void>): Promise<() => void> {
    return this.#servers.get(serverName).onKind('prompts_list_changed', handler);
  }
}

/** What to complete, and where. */
export interface CompleteOptions extends CallerOptions {
  readonly serverName: string;
  readonly ref: CompleteRequestParams['ref'];
  readonly argument: CompleteRequestParams['argument'];
  readonly context?: CompleteRequestParams['context'];
}

/**
 * Suggestions of a server for an argument of a prompt or a variable of a resource template. The protocol
 * allows 100 of them.
 *
 * @throws AnyMCPError
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
 */
export async function complete(
  servers: Servers,
  { serverName, ref, argument, context, ...options }: CompleteOptions,
): Promise<CompleteResult['completion']> {
  const connection = servers.get(serverName);
  const params = { ref, argument, ...(context === undefined ? {} : { context }) };
  const result = await connection.request('completion/complete', params, { mayRepeat: true, ...options });
  const { completion } = result as CompleteResult;
  const values = expectList(connection, 'completion/complete', Object(completion).values);
  return { ...completion, values: values.filter(value => typeof value === 'string') };
}

function withVersions(entries: Record<string, WirePrompt[]>): Record<string, RemotePrompt[]> {
  const named = Object.entries(entries).map(([serverName, prompts]) => [
    serverName,
    prompts.map(withVersion),
  ]);
  return Object.fromEntries(named) as Record<string, RemotePrompt[]>;
}

function withVersion(prompt: WirePrompt): RemotePrompt {
  const version = readPromptVersion(prompt._meta);
  return version === undefined ? prompt : { ...prompt, version };
}

function toWireArguments(args: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(args).map(([name, value]) => [
    name,
    // Gives nothing for what JSON does not know, such as a function.
    typeof value === 'string' ? value : (JSON.stringify(value) as string | undefined),
  ]);
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined)) as Record<string, string>;
}
