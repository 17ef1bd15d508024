/**
 * Resources as a capability: listing, templates and reading, of the author's callbacks and of MCP Apps together.
 *
 * Owns what counts as not found. Subscriptions belong to each session; nothing here knows who listens.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
import {
  BlobResourceContentsSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  TextResourceContentsSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from '@modelcontextprotocol/sdk/types.js';
import { MCPServerError } from '../../shared/errors.ts';
import type { CallContext, CallHandler } from '../calls/call-context.ts';
import { readResourceUri } from '../sessions/resource-uri.ts';
import { toAppContents } from './app-resources.ts';
import type { ServedApp } from './app-resources.ts';
import { toUriMatcher } from './uri-template.ts';
import {
  callbackFailed,
  findProblem,
  isCallbackFailure,
  keepUsable,
  refuseCursor,
  runCallback,
  runListing,
  toRequestFacts,
} from './user-callback.ts';
import type { RequestFacts } from './user-callback.ts';

interface ResourceContentFacts {
  /** @defaultValue the URI that was asked for */
  readonly uri?: string | undefined;
  /** Given, it spares asking for the lists. @defaultValue that of the listed resource, else of the template that fits */
  readonly mimeType?: string | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

/** What a resource holds: `text` in UTF-8, or `blob` in Base64. */
export type MCPServerResourceContent =
  | (ResourceContentFacts & { readonly text?: string | undefined })
  | (ResourceContentFacts & { readonly blob?: string | undefined });

type ResourceContents = MCPServerResourceContent | readonly MCPServerResourceContent[] | undefined;

/** Resources of a server. */
export interface MCPServerResources {
  /** The resources that clients can see without knowing their URI. */
  readonly listResources: (request: RequestFacts) => readonly Resource[] | Promise<readonly Resource[]>;
  /**
   * What a URI stands for. Asked for every URI, listed or not. `undefined`, or a throw for a URI that is neither listed nor
   * fits a template, means that there is no such resource.
   */
  readonly getResourceContent: (
    request: RequestFacts & { readonly uri: string },
  ) => ResourceContents | Promise<ResourceContents>;
  /** Families of resources, as URI templates (RFC 6570). Two expressions side by side are not listed. */
  readonly resourceTemplates?:
    | ((request: RequestFacts) => readonly ResourceTemplate[] | Promise<readonly ResourceTemplate[]>)
    | undefined;
}

/** What the resources of a server are made of. */
export interface ResourcesDeps {
  readonly resources: MCPServerResources | undefined;
  readonly apps: ReadonlyMap<string, ServedApp>;
  readonly warn: (message: string) => void;
}

/** The resources of one server. */
export class ServerResources {
  readonly #deps: ResourcesDeps;

  constructor(deps: ResourcesDeps) {
    this.#deps = deps;
  }

  /** The methods of this capability. */
  get handlers(): readonly (readonly [string, CallHandler])[] {
    return [
      ['resources/list', (params, call) => this.#answerList(params, () => this.list(call))],
      ['resources/templates/list', (params, call) => this.#answerList(params, () => this.templates(call))],
      ['resources/read', (params, call) => this.read(params, call)],
    ];
  }

  /** Every listed resource; the author's wins where an app has the same URI. */
  async list(call: CallContext): Promise<ListResourcesResult> {
    const { apps, warn } = this.#deps;
    const own = keepUsable('listResources', await this.#ownResources(call), {
      findProblem: entry => findProblem(entry, ResourceSchema),
      warn,
    });
    const taken = new Set(own.map(({ uri }) => uri));
    const pages = Array.from(apps.values(), ({ resource }) => resource);
    return { resources: [...own, ...pages.filter(({ uri }) => !taken.has(uri))] };
  }

  async templates(call: CallContext): Promise<ListResourceTemplatesResult> {
    const { warn } = this.#deps;
    const resourceTemplates = keepUsable('resourceTemplates', await this.#ownTemplates(call), {
      findProblem: findTemplateProblem,
      warn,
    });
    return { resourceTemplates };
  }

  /**
   * What a URI stands for.
   *
   * @throws MCPServerError `MCP_SERVER_RESOURCE_NOT_FOUND`, `MCP_SERVER_CALLBACK_FAILED` when the author's code fails, or
   * `MCP_SERVER_PARAMS_INVALID` for a URI that cannot be one.
   */
  async read(params: unknown, call: CallContext): Promise<ReadResourceResult> {
    const uri = readResourceUri(params);
    const known = new KnownResources(
      () => this.#ownResources(call),
      () => this.#ownTemplates(call),
    );
    const app = this.#deps.apps.get(uri);
    // Callbacks that answer any URI with something must not hide an app; one that lists its URI means to.
    if (app !== undefined && !(await known.lists(uri))) return { contents: [toAppContents(app)] };
    const contents = await this.#readOwn(uri, call, known);
    if (contents === undefined) throw notFound(uri);
    return { contents };
  }

  async #answerList<T>(params: unknown, list: () => Promise<T>): Promise<T> {
    refuseCursor(params);
    return list();
  }

  async #ownResources(call: CallContext): Promise<readonly Resource[]> {
    const { resources } = this.#deps;
    if (resources === undefined) return [];
    return runListing('listResources', () => resources.listResources(toRequestFacts(call)));
  }

  async #ownTemplates(call: CallContext): Promise<readonly ResourceTemplate[]> {
    const { resources } = this.#deps;
    const list = resources?.resourceTemplates;
    if (list === undefined) return [];
    return runListing('resourceTemplates', () => list.call(resources, toRequestFacts(call)));
  }

  async #readOwn(
    uri: string,
    call: CallContext,
    known: KnownResources,
  ): Promise<ReadResourceResult['contents'] | undefined> {
    const { resources } = this.#deps;
    if (resources === undefined) return undefined;
    let given: ResourceContents | null;
    try {
      given = await runCallback('getResourceContent', () =>
        resources.getResourceContent({ uri, ...toRequestFacts(call) }),
      );
    } catch (error) {
      // Authors say by throwing that there is no such resource; for one that there is, a throw is a failure.
      if (isCallbackFailure(error) && (await known.lacks(uri))) return undefined;
      throw error;
    }
    if (given === undefined || given === null) return undefined;
    const parts = (Array.isArray(given) ? given : [given]) as readonly MCPServerResourceContent[];
    return Promise.all(parts.map(part => toWireContents(part, uri, known)));
  }
}

/** What the author's lists say about URIs, while one request is answered. Each list is asked for at most once. */
class KnownResources {
  readonly #listResources: () => Promise<readonly Resource[]>;
  readonly #listTemplates: () => Promise<readonly ResourceTemplate[]>;
  #resources: Promise<ReadonlyMap<unknown, Resource>> | undefined;
  #templates: Promise<readonly ResourceTemplate[]> | undefined;

  constructor(
    listResources: () => Promise<readonly Resource[]>,
    listTemplates: () => Promise<readonly ResourceTemplate[]>,
  ) {
    this.#listResources = listResources;
    this.#listTemplates = listTemplates;
  }

  /** Whether a URI is surely listed. A list that fails hides nothing. */
  async lists(uri: string): Promise<boolean> {
    return (await this.#listed().catch(() => undefined))?.has(uri) === true;
  }

  /** Whether a URI is surely neither listed nor fits a template. */
  async lacks(uri: string): Promise<boolean> {
    try {
      return (await this.#find(uri)) === undefined;
    } catch {
      return false;
    }
  }

  /** The media type behind a URI. What was read is worth more than its type, so a list that fails costs no more than that. */
  async mimeTypeOf(uri: string): Promise<string | undefined> {
    const found = await this.#find(uri).catch(() => undefined);
    return typeof found?.mimeType === 'string' ? found.mimeType : undefined;
  }

  async #find(uri: string): Promise<Resource | ResourceTemplate | undefined> {
    const listed = (await this.#listed()).get(uri);
    if (listed !== undefined) return listed;
    this.#templates ??= this.#listTemplates();
    return (await this.#templates).find(template => {
      const { uriTemplate } = Object(template) as Partial<ResourceTemplate>;
      return typeof uriTemplate === 'string' && toUriMatcher(uriTemplate)?.(uri) === true;
    });
  }

  #listed(): Promise<ReadonlyMap<unknown, Resource>> {
    this.#resources ??= this.#listResources().then(
      // Of several with one URI the first counts.
      resources =>
        new Map(resources.toReversed().map(resource => [Reflect.get(Object(resource), 'uri'), resource])),
    );
    return this.#resources;
  }
}

function findTemplateProblem(template: ResourceTemplate): string | undefined {
  const problem = findProblem(template, ResourceTemplateSchema);
  if (problem !== undefined) return problem;
  return toUriMatcher(template.uriTemplate) === undefined
    ? `no client could tell the values of ${JSON.stringify(template.uriTemplate)} apart`
    : undefined;
}

/** Contents as the wire takes them, with whatever else the author put there. */
async function toWireContents(
  part: MCPServerResourceContent,
  askedUri: string,
  known: KnownResources,
): Promise<ReadResourceResult['contents'][number]> {
  const { uri = askedUri, mimeType, ...rest } = Object(part) as ContentsLike;
  const type = mimeType ?? (await known.mimeTypeOf(uri));
  const contents = { uri, ...(type === undefined ? {} : { mimeType: type }), ...rest };
  const { text, blob } = rest;
  if ((text === undefined) === (blob === undefined)) {
    throw callbackFailed('getResourceContent', 'must return contents with either a "text" or a "blob"');
  }
  const schema = blob === undefined ? TextResourceContentsSchema : BlobResourceContentsSchema;
  const problem = findProblem(contents, schema);
  if (problem !== undefined) {
    throw callbackFailed('getResourceContent', `returned contents that clients refuse: ${problem}`);
  }
  return contents as ReadResourceResult['contents'][number];
}

type ContentsLike = ResourceContentFacts & { readonly text?: string; readonly blob?: string };

/** Core's REST layer finds the words `not found` in it. */
function notFound(uri: string): MCPServerError {
  return new MCPServerError('MCP_SERVER_RESOURCE_NOT_FOUND', {
    message: `Resource not found: ${uri}`,
    category: 'USER',
    status: 404,
    data: { uri },
  });
}

/** What changes about resources while a server runs. */
export interface ResourceActions {
  /**
   * Tells the clients that subscribed to a URI that its content changed.
   *
   * @throws MCPServerError `MCP_SERVER_PARAMS_INVALID` for what cannot be a URI.
   */
  notifyUpdated(params: { readonly uri: string }): Promise<void>;
  /** Tells every client that the list of resources changed. */
  notifyListChanged(): Promise<void>;
}

/** Tells changes to whoever publishes events. */
export function createResourceActions(
  publish: (
    event: { kind: 'resource_updated'; uri: string } | { kind: 'resources_list_changed' },
  ) => Promise<void>,
): ResourceActions {
  return {
    notifyUpdated: async params => publish({ kind: 'resource_updated', uri: readResourceUri(params) }),
    notifyListChanged: () => publish({ kind: 'resources_list_changed' }),
  };
}
