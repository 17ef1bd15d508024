/** What a server that runs as a child process gets of our environment, and what is left of it afterwards. */
import assert from 'node:assert/strict';
import { MCPClient } from '../../src/index.ts';

process.env['OUR_SECRET'] = 'not for servers';

// #region environment
const server = { command: process.execPath, args: ['node_modules/.bin/mcp-server-everything', 'stdio'] };
const mcp = new MCPClient({
  servers: {
    usual: { ...server, env: { API_KEY: 'for this server' } },
    isolated: { ...server, env: { API_KEY: 'for this server' }, inheritDefaultEnv: false },
  },
});
// #endregion environment

const { usual, isolated } = await mcp.listToolsets();
const variablesOf = async (tool: typeof usual): Promise<string[]> => {
  const result = await tool?.['get-env']?.execute?.({});
  const [block] = (result as { content: { text: string }[] }).content;
  return Object.keys(JSON.parse(block?.text ?? '{}') as object).toSorted();
};

const inherited = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'].filter(name => name in process.env);
assert.deepEqual(await variablesOf(usual), ['API_KEY', ...inherited].toSorted());
assert.deepEqual(await variablesOf(isolated), ['API_KEY']);

// #region stderr
await mcp.disconnect('usual');
const noisy = new MCPClient({ servers: { noisy: { ...server, stderr: 'pipe' as const } } });
await noisy.ping('noisy');
noisy.getServerStderr('noisy')?.on('data', (chunk: Buffer) => console.log(`noisy says: ${chunk.toString()}`));
// #endregion stderr

// #region dispose
{
  await using shortLived = new MCPClient({ servers: { server } });
  await shortLived.listTools();
} // Here the process of the server has ended.
// #endregion dispose

await Promise.all([mcp.disconnect(), noisy.disconnect()]);
