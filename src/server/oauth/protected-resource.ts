/**
 * Protected-resource metadata: what a server says about itself and its authorization servers, and where.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728
 */

/** What the metadata are made of. */
export interface ProtectedResourceOptions {
  /** Canonical URL of the MCP server, as clients connect to it. */
  readonly resource: string;
  /** Issuers whose tokens it accepts. */
  readonly authorizationServers: readonly string[];
  /** Scopes clients may ask for. @defaultValue ['mcp:read', 'mcp:write'] */
  readonly scopesSupported?: readonly string[] | undefined;
  /** Name for people. */
  readonly resourceName?: string | undefined;
  /** URL of a page for developers. */
  readonly resourceDocumentation?: string | undefined;
}

/** The document of RFC 9728. */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  readonly resource_name?: string;
  readonly resource_documentation?: string;
}

export const DEFAULT_SCOPES: readonly string[] = ['mcp:read', 'mcp:write'];

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The protected-resource metadata of a server. */
export function generateProtectedResourceMetadata(
  options: ProtectedResourceOptions,
): ProtectedResourceMetadata {
  const { resource, authorizationServers, resourceName, resourceDocumentation } = options;
  return {
    resource,
    authorization_servers: [...authorizationServers],
    scopes_supported: [...(options.scopesSupported ?? DEFAULT_SCOPES)],
    bearer_methods_supported: ['header'],
    ...(resourceName === undefined ? {} : { resource_name: resourceName }),
    ...(resourceDocumentation === undefined ? {} : { resource_documentation: resourceDocumentation }),
  };
}

/** Where clients look first: the well-known path goes between host and path of the resource. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}${search}`;
}

/** The paths on which the metadata of a resource that is served at `mcpPath` are found. */
export function metadataPaths(resource: string, mcpPath: string): ReadonlySet<string> {
  const inserted = [new URL(resource).pathname, mcpPath].map(path => path.replace(/\/+$/, ''));
  return new Set(['', ...inserted, ...inserted.map(path => `${path}/`)].map(path => WELL_KNOWN + path));
}
