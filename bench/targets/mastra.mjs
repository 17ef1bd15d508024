// Targets "ours" and "published": any module with the `@mastra/mcp` API. It is loaded from the folder it is installed
// in, with the @mastra/core and zod found from there.
import { cpu, echo, toolDescription, toolName, zodInput } from '../tools.mjs';

export async function load({ module, home }) {
  const from = specifier =>
    import(specifier.startsWith('file:') ? specifier : import.meta.resolve(specifier, home));
  const { MCPClient, MCPServer } = await from(module);
  const { createTool } = await from('@mastra/core/tools');
  const { z } = await from('zod');

  const tool = (id, description, inputSchema, run) =>
    createTool({ id, description, inputSchema, execute: async input => run(input) });
  const baseTools = () => ({
    echo: tool('echo', 'Echo the text', z.object({ text: z.string() }), echo),
    cpu: tool('cpu', 'CPU time of this process', z.object({}), cpu),
  });
  const prepareTools = count =>
    Array.from({ length: count }, (_, i) =>
      tool(toolName(i), toolDescription(i), zodInput(z), () => ({ ok: true })),
    );

  function construct(more) {
    const tools = { ...baseTools(), ...Object.fromEntries(more.map(t => [t.id, t])) };
    const server = new MCPServer({ name: 'bench', version: '1.0.0', tools });
    return { server, connectMemory: transport => server.getServer().connect(transport) };
  }

  function serve({ tools: count = 0 } = {}) {
    const { server, connectMemory } = construct(prepareTools(count));
    return {
      connectMemory,
      startStdio: () => server.startStdio(),
      handle(req, res, url) {
        const options = url.pathname === '/serverless' ? { serverless: true } : {};
        return server.startHTTP({ url, httpPath: url.pathname, req, res, options });
      },
    };
  }

  let clients = 0;
  async function connect({ url, command, args }) {
    const definition = url ? { url: new URL(url) } : { command, args };
    const client = new MCPClient({ id: `bench-${++clients}`, servers: { s: definition }, timeout: 60_000 });
    const tools = await client.listTools();
    return {
      call: (name, input) => tools[`s_${name}`].execute(input, {}),
      list: () => client.listTools(),
      close: () => client.disconnect(),
    };
  }

  return { prepareTools, construct, serve, connect };
}
