/**
 * Server instructions on their way into system prompts: what core needs on a tool to forward them, and only on opt-in.
 *
 * Owns the metadata. Core groups by server, cuts and places the text. The text is that of the server, unchanged.
 */
import type { McpMetadata } from '@mastra/core/tools';
import type { ResolvedServerDefinition } from '../options.ts';

/** What a server said of itself. */
export interface ServerIdentity {
  readonly version?: string | undefined;
  readonly instructions?: string | undefined;
}

/** Metadata of a remote tool; `toolName` is its name at the server. */
export type RemoteToolMetadata = McpMetadata & { readonly toolName: string };

export function toMcpMetadata(
  definition: ResolvedServerDefinition,
  toolName: string,
  server: ServerIdentity | undefined,
): RemoteToolMetadata {
  const { serverName, forwardInstructions, instructionsMaxLength } = definition;
  return {
    serverName,
    toolName,
    ...(server?.version === undefined ? {} : { serverVersion: server.version }),
    ...(server?.instructions === undefined ? {} : { serverInstructions: server.instructions }),
    forwardInstructions,
    instructionsMaxLength,
  };
}
