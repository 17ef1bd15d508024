/**
 * Server instructions on their way into system prompts: what core needs on a tool to forward them, and only on opt-in.
 *
 * Owns the metadata. Core groups by server, cuts and places the text. The text is that of the server, unchanged.
 */
import type { McpMetadata } from '@mastra/core/tools';
import type { Tool as WireTool } from '@modelcontextprotocol/sdk/types.js';
import type { ResolvedServerDefinition } from '../options.ts';
import { digestOf } from './tool-digest.ts';

/** What a server said of itself. */
export interface ServerIdentity {
  readonly version?: string | undefined;
  readonly instructions?: string | undefined;
}

/** Metadata of a remote tool; `toolName` is its name at the server, `digest` the fingerprint of its definition. */
export type RemoteToolMetadata = McpMetadata & { readonly toolName: string; readonly digest: string };

export function toMcpMetadata(
  definition: ResolvedServerDefinition,
  tool: WireTool,
  server: ServerIdentity | undefined,
): RemoteToolMetadata {
  const { serverName, forwardInstructions, instructionsMaxLength } = definition;
  return {
    serverName,
    toolName: tool.name,
    // Made when it is read: most hosts never do.
    get digest() {
      return digestOf(tool);
    },
    ...(server?.version === undefined ? {} : { serverVersion: server.version }),
    ...(server?.instructions === undefined ? {} : { serverInstructions: server.instructions }),
    forwardInstructions,
    instructionsMaxLength,
  };
}
