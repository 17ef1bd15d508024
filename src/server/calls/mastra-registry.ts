/**
 * The tools of a server in the registry of its Mastra instance, in step with tools that come and go.
 *
 * Follows the keys under which core registers a server's tools: a tool's own id, else its key; the first one under an id
 * stays. Owns which entries came with this server, and touches no other, not even one for the same tool.
 */
import type { Mastra } from '@mastra/core/mastra';
import type { ToolAction } from '@mastra/core/tools';

type RegisteredTool = ToolAction<unknown, unknown>;
type Tools = Readonly<Record<string, unknown>>;

/** What one server has in the registry. */
export class MastraRegistry {
  #mastra: Mastra | undefined;
  readonly #own = new Map<string, unknown>();

  /** Joins a Mastra instance. `register` is core's own registration; what was there before it belongs to others. */
  join(mastra: Mastra, tools: Tools, register: () => void): void {
    const before = new Set(Object.keys(entriesOf(mastra)));
    register();
    this.#mastra = mastra;
    this.#own.clear();
    for (const [id, tool] of toEntries(tools)) {
      if (!before.has(id) && entriesOf(mastra)[id] === tool) this.#own.set(id, tool);
    }
  }

  /** Removes what is not among these tools any more, and adds what is new. Does nothing without a Mastra instance. */
  follow(tools: Tools): void {
    const mastra = this.#mastra;
    if (mastra === undefined) return;
    const wanted = toEntries(tools);
    for (const [id, tool] of this.#own) {
      if (wanted.get(id) === tool) continue;
      if (entriesOf(mastra)[id] === tool) mastra.removeTool(id);
      this.#own.delete(id);
    }
    for (const [id, tool] of wanted) {
      if (entriesOf(mastra)[id] !== undefined) continue;
      mastra.addTool(tool as RegisteredTool, id);
      this.#own.set(id, tool);
    }
  }
}

function entriesOf(mastra: Mastra): Tools {
  return mastra.listTools() ?? {};
}

/** By the key of the registry. Tools without an id, such as those of the AI SDK, have none. */
function toEntries(tools: Tools): ReadonlyMap<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const [key, tool] of Object.entries(tools)) {
    if (typeof tool !== 'object' || tool === null || !('id' in tool)) continue;
    const id = typeof tool.id === 'string' ? tool.id : key;
    if (!entries.has(id)) entries.set(id, tool);
  }
  return entries;
}
