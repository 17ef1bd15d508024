/**
 * Everything a server can do for a client, as one table of methods and as what it declares at `initialize`.
 *
 * Owns the merging, and that authors' callbacks know the user behind a call. What a method does is in the file of its
 * capability.
 */
import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { APP_EXTENSION, APP_MIME_TYPE } from '../../shared/meta.ts';
import type { CallHandler } from '../calls/call-context.ts';
import type { ServedApp } from './app-resources.ts';
import { completionHandlers } from './completions.ts';
import type { MCPServerCompletions } from './completions.ts';
import { promptHandlers } from './prompts.ts';
import type { MCPServerPrompts } from './prompts.ts';
import { ServerResources } from './resources.ts';
import type { MCPServerResources } from './resources.ts';
import { toolHandlers } from './tools.ts';
import type { ToolsDeps } from './tools.ts';

/** What a server was given. */
export interface ServedCapabilitiesDeps {
  readonly tools: ToolsDeps;
  readonly resources: MCPServerResources | undefined;
  readonly apps: ReadonlyMap<string, ServedApp>;
  readonly prompts: MCPServerPrompts | undefined;
  readonly completions: MCPServerCompletions | undefined;
  readonly warn: (message: string) => void;
}

/** What a server can do. */
export interface ServedCapabilities {
  readonly handlers: ReadonlyMap<string, CallHandler>;
  readonly resources: ServerResources;
  /** What is declared to a client that can be told of changes, and to one that cannot. */
  readonly declared: Readonly<Record<'changing' | 'fixed', ServerCapabilities>>;
}

type Methods = readonly (readonly [string, CallHandler])[];

/** Different warnings about what callbacks returned, after which there are no further ones. */
const MAX_WARNINGS = 100;

/** Puts together what a server was given. What it was not given it does not declare and does not answer. */
export function createServedCapabilities(deps: ServedCapabilitiesDeps): ServedCapabilities {
  const { prompts, completions, apps } = deps;
  const warn = once(deps.warn);
  const resources = new ServerResources({ resources: deps.resources, apps, warn });
  const hasResources = deps.resources !== undefined || apps.size > 0;
  const declare = (changing: boolean): ServerCapabilities => {
    const list = changing ? { listChanged: true } : {};
    return {
      tools: list,
      ...(hasResources ? { resources: changing ? { ...list, subscribe: true } : {} } : {}),
      ...(prompts === undefined ? {} : { prompts: list }),
      ...(completions === undefined ? {} : { completions: {} }),
      ...(apps.size === 0 ? {} : { extensions: { [APP_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } }),
    };
  };
  const callbackMethods = [
    ...(hasResources ? resources.handlers : []),
    ...(prompts === undefined ? [] : promptHandlers({ prompts, warn })),
    ...(completions === undefined ? [] : completionHandlers(completions)),
  ];
  return {
    handlers: new Map([...toolHandlers(deps.tools), ...withUser(callbackMethods, deps.tools)]),
    resources,
    declared: { changing: declare(true), fixed: declare(false) },
  };
}

/** Tools learn who calls on their way through the pipeline; callbacks learn it here. */
function withUser(methods: Methods, { authorization }: Pick<ToolsDeps, 'authorization'>): Methods {
  return methods.map(([method, handler]) => [
    method,
    async (params, call) => {
      await authorization.identify(call);
      return handler(params, call);
    },
  ]);
}

/** Lists are asked for again and again, and say the same each time. */
function once(warn: (message: string) => void): (message: string) => void {
  const said = new Set<string>();
  return message => {
    if (said.has(message) || said.size >= MAX_WARNINGS) return;
    said.add(message);
    warn(message);
  };
}
