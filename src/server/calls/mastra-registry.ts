/**
 * Keeping Mastra's registry of tools in step with tools that come and go.
 *
 * Follows the keys under which core registers a server's tools: a tool's own id, else its key. Touches nothing that another
 * part of the application registered under the same key.
 */
import type { Mastra } from '@mastra/core/mastra';
import type { ToolAction } from '@mastra/core/tools';

type RegisteredTool = ToolAction<unknown, unknown>;

/** Registers a tool that was added. The first one under a key stays, as in core. */
export function registerTool(mastra: Mastra | undefined, key: string, tool: unknown): void {
  const id = registryKey(key, tool);
  if (mastra !== undefined && id !== undefined) mastra.addTool(tool as RegisteredTool, id);
}

/** Removes a tool from the registry, if it is the one that is registered. */
export function unregisterTool(mastra: Mastra | undefined, key: string, tool: unknown): void {
  const id = registryKey(key, tool);
  if (mastra === undefined || id === undefined) return;
  const registered: Readonly<Record<string, unknown>> = mastra.listTools() ?? {};
  if (registered[id] === tool) mastra.removeTool(id);
}

/** Tools without an id, such as those of the AI SDK, are not registered. */
function registryKey(key: string, tool: unknown): string | undefined {
  if (typeof tool !== 'object' || tool === null || !('id' in tool)) return undefined;
  return typeof tool.id === 'string' ? tool.id : key;
}
