/**
 * Resources of servers: listing, reading, subscribing.
 *
 * Owns the methods users call; which subscriptions are open is the connection's. Content is untrusted input.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 */
import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { CallerOptions } from '../connection/connection.ts';
import type { ListErrors, ListWithErrorsOptions, Servers } from '../discovery.ts';
import { listEvery, listOne, listWhatThereIs, type ListingKind } from './listings.ts';
import { expectList } from './pages.ts';

const RESOURCES: ListingKind = {
  method: 'resources/list',
  key: 'resources',
  capability: 'resources',
  id: 'uri',
};
const TEMPLATES: ListingKind = {
  method: 'resources/templates/list',
  key: 'resourceTemplates',
  capability: 'resources',
  id: 'uriTemplate',
};

/** Resources of all servers of a client. */
export class ClientResources {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The resources by server name, all pages. A server without resources has an empty list; one that fails is logged and left out. */
  list(): Promise<Record<string, Resource[]>> {
    return listWhatThereIs(this.#servers, RESOURCES);
  }

  /** The resources of one server, all pages. @throws AnyMCPError */
  async listOne(serverName: string): Promise<Resource[]> {
    return listOne(this.#servers.get(serverName), RESOURCES, this.#servers.warn);
  }

  /** As `list`, with what went wrong. Does not reject for the failure of a server. */
  async listWithErrors(
    options?: ListWithErrorsOptions,
  ): Promise<{ readonly resources: Record<string, Resource[]> } & ListErrors> {
    const { entries, errors } = await listEvery<Resource>(this.#servers, RESOURCES, options);
    return { resources: entries, ...errors };
  }

  /** The resource templates by server name, all pages. */
  templates(): Promise<Record<string, ResourceTemplate[]>> {
    return listWhatThereIs(this.#servers, TEMPLATES);
  }

  /** As `templates`, with what went wrong. Does not reject for the failure of a server. */
  async templatesWithErrors(
    options?: ListWithErrorsOptions,
  ): Promise<{ readonly templates: Record<string, ResourceTemplate[]> } & ListErrors> {
    const { entries, errors } = await listEvery<ResourceTemplate>(this.#servers, TEMPLATES, options);
    return { templates: entries, ...errors };
  }

  /**
   * What a URI stands for.
   *
   * @throws MCPRequestError `MCP_CLIENT_READ_RESOURCE_FAILED` for an unknown server; every error of a request: a server
   * that has no such resource answers `rpcCode` -32002.
   */
  async read(serverName: string, uri: string, options: CallerOptions = {}): Promise<ReadResourceResult> {
    const connection = this.#servers.get(serverName, {
      code: 'MCP_CLIENT_READ_RESOURCE_FAILED',
      method: 'resources/read',
    });
    const result = await connection.request('resources/read', { uri }, { mayRepeat: true, ...options });
    expectList(connection, 'resources/read', result['contents']);
    return result as ReadResourceResult;
  }

  /** Asks to be told when a resource changes; holds until `unsubscribe`, over reconnects too. @throws AnyMCPError */
  async subscribe(serverName: string, uri: string): Promise<object> {
    return this.#servers.get(serverName).wish({ method: 'resources/subscribe', params: { uri } });
  }

  /** @throws AnyMCPError */
  async unsubscribe(serverName: string, uri: string): Promise<object> {
    const connection = this.#servers.get(serverName);
    connection.wishes.unsubscribe(uri);
    return connection.request('resources/unsubscribe', { uri }, { mayRepeat: true });
  }

  /**
   * Adds a handler for changes of subscribed resources; the promise gives a function that removes it. The URI may be one
   * below that of the subscription.
   */
  async onUpdated(
    serverName: string,
    handler: (params: { uri: string }) => void | Promise<void>,
  ): Promise<() => void> {
    return this.#servers
      .get(serverName)
      .on(event => (event.kind === 'resource_updated' ? handler({ uri: event.uri }) : undefined));
  }

  /** Adds a handler for changes of the list; the promise gives a function that removes it. */
  async onListChanged(serverName: string, handler: () => void | Promise<void>): Promise<() => void> {
    return this.#servers.get(serverName).onKind('resources_list_changed', handler);
  }
}
