/**
 * Every `_meta` key this module reads or writes, with typed readers and writers, and the names of MCP Apps.
 *
 * Owns the spelling of the keys. Does not decide when they are sent; trace context lies in trace-context.ts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#meta
 */

/** Names the revision that a message claims to speak; set by clients of revision 2026-07-28 and later. */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
/** Asks for progress notifications that carry this token. */
export const PROGRESS_TOKEN_META_KEY = 'progressToken';
/** W3C trace context of the caller. @see https://www.w3.org/TR/trace-context/ */
export const TRACEPARENT_META_KEY = 'traceparent';
/** Vendor data beside {@link TRACEPARENT_META_KEY}. */
export const TRACESTATE_META_KEY = 'tracestate';
/** Which version of a prompt is meant; the protocol itself knows none. */
const PROMPT_VERSION_META_KEY = 'version';
/** Name of the MCP Apps extension in the capabilities of both sides. */
export const APP_EXTENSION = 'io.modelcontextprotocol/ui';
/** Media type of an MCP App's page. */
export const APP_MIME_TYPE = 'text/html;profile=mcp-app';
/** What an MCP App shows and needs, on tools and resources. */
const UI_META_KEY = 'ui';
/** The older, flat spelling of `ui.resourceUri`, which hosts still read. */
const UI_RESOURCE_URI_META_KEY = 'ui/resourceUri';
/** Id of a run that waits for an answer. */
const RUN_ID_META_KEY = 'mastra/runId';
/** What a run that waits has told about itself. */
const SUSPEND_PAYLOAD_META_KEY = 'mastra/suspendPayload';

/** A run that waits for an answer. */
export interface Suspension {
  readonly runId: string;
  /** Left out where the run told nothing. */
  readonly payload?: unknown;
}

/** Reads the progress token of a request; `undefined` when there is none of a type the protocol knows. */
export function readProgressToken(meta: unknown): string | number | undefined {
  const token = readKey(meta, PROGRESS_TOKEN_META_KEY);
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** Reads the revision a message claims to speak; `undefined` when it claims none. */
export function readClaimedRevision(meta: unknown): string | undefined {
  return readString(meta, PROTOCOL_VERSION_META_KEY);
}

/** Reads the `ui://` resource that shows a tool, in either spelling. */
export function readUiResourceUri(meta: unknown): string | undefined {
  return readString(readKey(meta, UI_META_KEY), 'resourceUri') ?? readString(meta, UI_RESOURCE_URI_META_KEY);
}

/** The `_meta` of a tool with its `ui://` resource in both spellings, when it has one in either. */
export function withUiResourceUri<T extends Readonly<Record<string, unknown>>>(meta: T): T {
  const resourceUri = readUiResourceUri(meta);
  if (resourceUri === undefined) return meta;
  const ui: unknown = readKey(meta, UI_META_KEY);
  const rest = typeof ui === 'object' ? ui : undefined;
  return { ...meta, [UI_META_KEY]: { ...rest, resourceUri }, [UI_RESOURCE_URI_META_KEY]: resourceUri };
}

/** Reads the version of a prompt that is asked for, or that an entry of a list has. */
export function readPromptVersion(meta: unknown): string | undefined {
  return readString(meta, PROMPT_VERSION_META_KEY);
}

/** Writes the version of a prompt beside what its `_meta` holds already. */
export function withPromptVersion(
  meta: Readonly<Record<string, unknown>> | undefined,
  version: string,
): Record<string, unknown> {
  return { ...meta, [PROMPT_VERSION_META_KEY]: version };
}

/** Writes the `_meta` of a result that waits for an answer. */
export function toSuspensionMeta({ runId, payload }: Suspension): Record<string, unknown> {
  return {
    [RUN_ID_META_KEY]: runId,
    ...(payload === undefined ? {} : { [SUSPEND_PAYLOAD_META_KEY]: payload }),
  };
}

/** Reads what {@link toSuspensionMeta} wrote; `undefined` for every other `_meta`. */
export function fromSuspensionMeta(meta: unknown): Suspension | undefined {
  const runId = readString(meta, RUN_ID_META_KEY);
  if (runId === undefined) return undefined;
  const payload = readKey(meta, SUSPEND_PAYLOAD_META_KEY);
  return { runId, ...(payload === undefined ? {} : { payload }) };
}

/** Reads a string under a key of `_meta`; never one that was inherited. */
export function readString(meta: unknown, key: string): string | undefined {
  const value = readKey(meta, key);
  return typeof value === 'string' ? value : undefined;
}

function readKey(meta: unknown, key: string): unknown {
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, key)
    ? Reflect.get(meta, key)
    : undefined;
}
