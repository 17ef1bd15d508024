/**
 * MCP Apps: pages that a host shows beside the result of a tool, served as `ui://` resources.
 *
 * Owns the public type, its checks, the reading of files and what is sent of a page. Does not answer: resources.ts does.
 *
 * @see https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx
 */
import { readFileSync } from 'node:fs';
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import { MCPConfigurationError } from '../../shared/errors.ts';
import { APP_MIME_TYPE } from '../../shared/meta.ts';
import { toJsonValue } from '../../shared/json-value.ts';
import { isJsonObject } from '../../shared/schema-keywords.ts';

/** What a page may load and use, and how it wants to be shown. Hosts block what is not listed. */
export interface McpUiResourceMeta {
  readonly csp?:
    | {
        /** Origins for fetch, XHR and WebSocket. */
        readonly connectDomains?: readonly string[] | undefined;
        /** Origins for scripts, styles, images, fonts and media. */
        readonly resourceDomains?: readonly string[] | undefined;
        /** Origins of nested frames. */
        readonly frameDomains?: readonly string[] | undefined;
        /** Origins of the document's base. */
        readonly baseUriDomains?: readonly string[] | undefined;
      }
    | undefined;
  readonly permissions?:
    | {
        readonly camera?: Readonly<Record<string, never>> | undefined;
        readonly microphone?: Readonly<Record<string, never>> | undefined;
        readonly geolocation?: Readonly<Record<string, never>> | undefined;
        readonly clipboardWrite?: Readonly<Record<string, never>> | undefined;
      }
    | undefined;
  /** An origin of its own for the page, where the host offers that. */
  readonly domain?: string | undefined;
  readonly prefersBorder?: boolean | undefined;
}

/** One page. Give either `html` or `htmlPath`. */
export interface AppResource {
  readonly name: string;
  readonly description?: string | undefined;
  readonly html?: string | undefined;
  /** A file, relative to the working directory; it is read once, when the server is constructed. */
  readonly htmlPath?: string | undefined;
  readonly meta?: McpUiResourceMeta | undefined;
}

/** Pages by their `ui://` URI. */
export type AppResources = Readonly<Record<string, AppResource>>;

/** A page as it is served. */
export interface ServedApp {
  readonly resource: Resource;
  readonly html: string;
}

const CSP_LISTS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const;

/**
 * Checks the pages and reads their files.
 *
 * @throws MCPConfigurationError `MCP_SERVER_CONFIGURATION_INVALID` naming the page: a URI that is not `ui://`, neither or
 * both of `html` and `htmlPath`, a file that cannot be read, metadata of a wrong shape.
 */
export function resolveAppResources(apps: AppResources): ReadonlyMap<string, ServedApp> {
  return new Map(Object.entries(apps).map(([uri, app]) => [uri, resolveApp(uri, app)]));
}

/** What is read of a page. */
export function toAppContents({ resource, html }: ServedApp): ReadResourceResult['contents'][number] {
  const { uri, _meta } = resource;
  return { uri, mimeType: APP_MIME_TYPE, text: html, ...(_meta === undefined ? {} : { _meta }) };
}

function resolveApp(uri: string, app: AppResource): ServedApp {
  const option = `appResources.${uri}`;
  if (!/^ui:\/\/\S+$/.test(uri)) throw invalid(option, 'must have a key that is a ui:// URI');
  if (!isJsonObject(app)) throw invalid(option, 'must be an object');
  const { name, description, meta } = app;
  if (typeof name !== 'string' || name.trim() === '')
    throw invalid(`${option}.name`, 'must be a non-empty string');
  if (description !== undefined && typeof description !== 'string')
    throw invalid(`${option}.description`, 'must be a string');
  assertMeta(`${option}.meta`, meta);
  return {
    resource: {
      uri,
      name,
      ...(description === undefined ? {} : { description }),
      mimeType: APP_MIME_TYPE,
      ...(meta === undefined ? {} : { _meta: { ui: toJsonValue(meta) } }),
    },
    html: readHtml(option, app),
  };
}

/** Hosts build a content policy of it, and what they cannot read they may not notice. Unknown members pass. */
function assertMeta(option: string, meta: unknown): void {
  if (meta === undefined) return;
  if (!isJsonObject(meta)) throw invalid(option, 'must be an object');
  const { csp = {}, permissions = {}, domain, prefersBorder } = meta;
  if (!isJsonObject(csp)) throw invalid(`${option}.csp`, 'must be an object');
  for (const list of CSP_LISTS) {
    const domains = csp[list] ?? [];
    if (!Array.isArray(domains) || !domains.every(entry => typeof entry === 'string'))
      throw invalid(`${option}.csp.${list}`, 'must be an array of strings');
  }
  if (!isJsonObject(permissions)) throw invalid(`${option}.permissions`, 'must be an object');
  for (const [permission, value] of Object.entries(permissions)) {
    if (value !== undefined && !isJsonObject(value))
      throw invalid(`${option}.permissions.${permission}`, 'must be an empty object');
  }
  if (domain !== undefined && typeof domain !== 'string')
    throw invalid(`${option}.domain`, 'must be a string');
  if (prefersBorder !== undefined && typeof prefersBorder !== 'boolean')
    throw invalid(`${option}.prefersBorder`, 'must be true or false');
}

function readHtml(option: string, { html, htmlPath }: AppResource): string {
  if ((html === undefined) === (htmlPath === undefined))
    throw invalid(option, 'must have either html or htmlPath');
  if (html !== undefined) {
    if (typeof html !== 'string') throw invalid(`${option}.html`, 'must be a string');
    return html;
  }
  if (typeof htmlPath !== 'string') throw invalid(`${option}.htmlPath`, 'must be a string');
  try {
    return readFileSync(htmlPath, 'utf8');
  } catch (cause) {
    throw invalid(
      `${option}.htmlPath`,
      `names a file that cannot be read: ${JSON.stringify(htmlPath)}`,
      cause,
    );
  }
}

function invalid(option: string, problem: string, cause?: unknown): MCPConfigurationError {
  return new MCPConfigurationError('server', option, problem, cause);
}
