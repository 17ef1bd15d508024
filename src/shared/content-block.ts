/**
 * Content blocks: what the protocol accepts as one, and what a model can see of it.
 *
 * Owns the rules per kind of block. Knows nothing about whole results.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 */
import { ContentBlockSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { toJsonValue } from './json-value.ts';
import { isJsonObject, type JsonObject } from './schema-keywords.ts';

/** One part of a tool result as the AI SDK gives it to a model. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly data: string; readonly mediaType: string };

/** Tells whether the wire takes a block as it is. */
export function isContentBlock(block: unknown): block is ContentBlock {
  return isBareText(block) || ContentBlockSchema.safeParse(block).success;
}

/** By far the most common block, told apart without a schema. */
function isBareText(block: unknown): boolean {
  return (
    isJsonObject(block) &&
    block['type'] === 'text' &&
    typeof block['text'] === 'string' &&
    block['annotations'] === undefined &&
    block['_meta'] === undefined
  );
}

/** Makes a block of anything: itself, media freed of its `data:` URL, else its JSON as text. */
export function toContentBlock(block: unknown): ContentBlock {
  if (isContentBlock(block)) return block;
  const media = fromDataUrl(block);
  return media !== undefined && isContentBlock(media) ? media : { type: 'text', text: toJsonText(block) };
}

/** Other interfaces take media as a `data:` URL; the protocol takes the bare base64. */
function fromDataUrl(block: unknown): unknown {
  if (!isJsonObject(block) || typeof block['data'] !== 'string') return undefined;
  const match = /^data:(?<mimeType>[^;,]*)[^,]*;base64,/.exec(block['data']);
  if (match === null) return undefined;
  return { mimeType: match.groups?.['mimeType'], ...block, data: block['data'].slice(match[0].length) };
}

/** Translates a block for a model. Never throws: what is unknown or malformed is kept as JSON text. */
export function toModelPart(block: unknown): ModelPart {
  const part = isJsonObject(block) ? knownPart(block) : undefined;
  return part ?? { type: 'text', text: toJsonText(block) };
}

function knownPart(block: JsonObject): ModelPart | undefined {
  const { type, text, data, mimeType, resource } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type: 'text', text } : undefined;
    case 'image':
    case 'audio':
      if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
      return { type: 'media', data, mediaType: mimeType };
    case 'resource_link':
      return linkPart(block);
    case 'resource':
      return isJsonObject(resource) ? resourcePart(resource) : undefined;
    default:
      return undefined;
  }
}

function linkPart({ uri, title, name, mimeType, description }: JsonObject): ModelPart | undefined {
  if (typeof uri !== 'string') return undefined;
  const [label] = [title, name].filter(isText);
  const facts = [mimeType, description].filter(isText);
  const text = `Resource ${label === undefined ? '' : `${label}: `}${uri}`;
  return { type: 'text', text: facts.length === 0 ? text : `${text} (${facts.join('; ')})` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function resourcePart({ uri, text, blob, mimeType }: JsonObject): ModelPart | undefined {
  if (typeof uri !== 'string') return undefined;
  if (typeof text === 'string') return { type: 'text', text: `Resource ${uri}:\n${text}` };
  if (typeof blob !== 'string') return undefined;
  if (typeof mimeType === 'string' && MEDIA.test(mimeType)) {
    return { type: 'media', data: blob, mediaType: mimeType };
  }
  // providers refuse files of other types, and base64 tells a model nothing
  const kind = typeof mimeType === 'string' ? mimeType : 'unknown type';
  return { type: 'text', text: `Resource ${uri} (${kind}, ${Math.floor((blob.length * 3) / 4)} bytes)` };
}

const MEDIA = /^(?:image|audio)\/|^application\/pdf$/;

/** The JSON of any value; never throws. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(toJsonValue(value)) ?? '';
  } catch {
    return Object.prototype.toString.call(value);
  }
}
