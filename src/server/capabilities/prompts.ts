/**
 * Prompts as a capability: listing, versions, and the messages of one.
 *
 * Owns how a name on the wire finds a prompt and its version. Does not cache: the author's callbacks are asked each time.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 */
import { PromptMessageSchema, PromptSchema } from '@modelcontextprotocol/sdk/types.js';
import type {
  GetPromptResult,
  ListPromptsResult,
  Prompt as WirePrompt,
  PromptMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { readPromptVersion, withPromptVersion } from '../../shared/meta.ts';
import { isJsonObject } from '../../shared/schema-keywords.ts';
import type { CallContext, CallHandler } from '../calls/call-context.ts';
import {
  callbackFailed,
  findProblem,
  invalidParams,
  keepUsable,
  readStrings,
  refuseCursor,
  runCallback,
  runListing,
  toRequestFacts,
} from './user-callback.ts';
import type { RequestFacts } from './user-callback.ts';

/** A prompt, in one of its versions. The protocol has no versions: on the wire it is `_meta.version`. */
export interface Prompt extends WirePrompt {
  version?: string | undefined;
}

/** Which prompt, and what to fill in. */
export interface PromptRequest extends RequestFacts {
  readonly name: string;
  /** The version of the entry that was found; absent where it has none. */
  readonly version?: string;
  /** What the client filled in. Arguments that the entry calls required are there. */
  readonly args: Readonly<Record<string, string>>;
}

/** Prompts of a server. */
export interface MCPServerPrompts {
  /** Every prompt in every version; of one name the first is what a client gets that asks for no version. */
  readonly listPrompts: (request: RequestFacts) => readonly Prompt[] | Promise<readonly Prompt[]>;
  /** The messages of a listed prompt. Without it nothing but the list can be had. */
  readonly getPromptMessages?:
    ((request: PromptRequest) => PromptMessages | Promise<PromptMessages>) | undefined;
}

/** Messages, or messages beside the prompt that describes them. */
type PromptMessages =
  | readonly PromptMessage[]
  | { readonly prompt?: Prompt | undefined; readonly messages: readonly PromptMessage[] };

/** What the prompts of a server are made of. */
export interface PromptsDeps {
  readonly prompts: MCPServerPrompts;
  readonly warn: (message: string) => void;
}

/** The methods of this capability. */
export function promptHandlers(deps: PromptsDeps): readonly (readonly [string, CallHandler])[] {
  return [
    ['prompts/list', (params, call) => listPrompts(params, call, deps)],
    ['prompts/get', (params, call) => getPrompt(params, call, deps)],
  ];
}

async function listPrompts(
  params: unknown,
  call: CallContext,
  deps: PromptsDeps,
): Promise<ListPromptsResult> {
  refuseCursor(params);
  const { entries } = await readPrompts(call, deps);
  return { prompts: entries.map(([name, prompt]) => toWirePrompt(name, prompt)) };
}

async function getPrompt(params: unknown, call: CallContext, deps: PromptsDeps): Promise<GetPromptResult> {
  const { name, arguments: given } = Object(params) as {
    readonly name?: unknown;
    readonly arguments?: unknown;
  };
  if (typeof name !== 'string') throw invalidParams('prompts/get needs a "name" that is a string');
  const wanted = readPromptVersion(call.meta);
  const prompt = findPrompt(await readPrompts(call, deps), name, wanted);
  if (prompt === undefined) {
    throw invalidParams(`Unknown prompt: ${wanted === undefined ? name : withVersion(name, wanted)}`);
  }
  const args = readStrings(given, '"arguments" of prompts/get');
  assertComplete(args, prompt);
  const { getPromptMessages } = deps.prompts;
  if (getPromptMessages === undefined) throw callbackFailed('getPromptMessages', 'is not given');
  const { version } = prompt;
  const request = { name: prompt.name, ...(version === undefined ? {} : { version }), args };
  const messages = await runCallback('getPromptMessages', () =>
    getPromptMessages.call(deps.prompts, { ...request, ...toRequestFacts(call) }),
  );
  return toResult(messages, prompt);
}

/** The prompts of a server under every name by which a client can ask for them. */
interface PromptIndex {
  /** Each prompt once, under the name it is listed by. */
  readonly entries: readonly (readonly [string, Prompt])[];
  /** By that name, and by its name and version. */
  readonly byName: ReadonlyMap<string, Prompt>;
}

async function readPrompts(call: CallContext, { prompts, warn }: PromptsDeps): Promise<PromptIndex> {
  const listed = await runListing('listPrompts', () => prompts.listPrompts(toRequestFacts(call)));
  const usable = keepUsable('listPrompts', listed, { findProblem: findPromptProblem, warn });
  const entries: [string, Prompt][] = [];
  const byName = new Map<string, Prompt>();
  for (const prompt of usable) {
    const { name, version } = prompt;
    const full = version === undefined ? name : withVersion(name, version);
    const shown = byName.has(name) ? full : name;
    if (byName.has(full)) {
      warn(`listPrompts returned ${JSON.stringify(full)} more than once; the first one counts`);
      continue;
    }
    entries.push([shown, prompt]);
    byName.set(shown, prompt).set(full, prompt);
  }
  return { entries, byName };
}

function findPromptProblem(prompt: Prompt): string | undefined {
  const problem = findProblem(prompt, PromptSchema);
  if (problem !== undefined) return problem;
  const { version } = prompt;
  return version === undefined || typeof version === 'string' ? undefined : 'version: must be a string';
}

/** By name, by name with the version behind `@`, or by either beside `_meta.version`. */
function findPrompt({ byName }: PromptIndex, name: string, version: string | undefined): Prompt | undefined {
  if (version === undefined) return byName.get(name);
  const found = byName.get(withVersion(name, version)) ?? byName.get(name);
  return found?.version === version ? found : undefined;
}

function withVersion(name: string, version: string): string {
  return `${name}@${version}`;
}

function toWirePrompt(name: string, { version, ...prompt }: Prompt): WirePrompt {
  return {
    ...prompt,
    name,
    ...(version === undefined ? {} : { _meta: withPromptVersion(prompt._meta, version) }),
  };
}

function assertComplete(args: Readonly<Record<string, string>>, prompt: Prompt): void {
  for (const { name, required } of prompt.arguments ?? []) {
    if (required !== true || Object.hasOwn(args, name)) continue;
    throw invalidParams(
      `The prompt ${JSON.stringify(prompt.name)} needs the argument ${JSON.stringify(name)}`,
    );
  }
}

function toResult(given: unknown, listed: Prompt): GetPromptResult {
  const { prompt, messages } = Array.isArray(given)
    ? { prompt: undefined, messages: given as readonly unknown[] }
    : (Object(given) as { readonly prompt?: unknown; readonly messages?: unknown });
  if (!Array.isArray(messages)) {
    throw callbackFailed('getPromptMessages', 'must return messages, or an object with "messages"');
  }
  for (const [index, message] of messages.entries()) {
    const problem = findProblem(message, PromptMessageSchema);
    if (problem === undefined) continue;
    throw callbackFailed('getPromptMessages', `returned a message ${index} that clients refuse: ${problem}`);
  }
  const described = isJsonObject(prompt) ? prompt['description'] : undefined;
  const description = typeof described === 'string' ? described : listed.description;
  const { version } = listed;
  return {
    ...(description === undefined ? {} : { description }),
    messages: messages as PromptMessage[],
    ...(version === undefined ? {} : { _meta: withPromptVersion(undefined, version) }),
  };
}

/** What changes about prompts while a server runs. */
export interface PromptActions {
  /** Tells every client that the list of prompts changed. */
  notifyListChanged(): Promise<void>;
}

/** Tells changes to whoever publishes events. */
export function createPromptActions(
  publish: (event: { kind: 'prompts_list_changed' }) => Promise<void>,
): PromptActions {
  return { notifyListChanged: () => publish({ kind: 'prompts_list_changed' }) };
}
