/** One server works, one is dead, one never answers: the first is used, the others are reported by name. */
import assert from 'node:assert/strict';
import { MCPClient } from '../../src/index.ts';
import { closedPort, silentPort } from '../support/ports.ts';

const never = await silentPort();
const closed = await closedPort();

// #region watch
const mcp = new MCPClient({
  servers: {
    files: { command: 'node_modules/.bin/mcp-server-filesystem', args: ['docs'], connectTimeout: 30_000 },
    dead: { url: `http://127.0.0.1:${closed}/mcp` },
    silent: { url: `http://127.0.0.1:${never.port}/mcp`, connectTimeout: 1000 },
  },
});

const stop = mcp.onStatusChange(({ serverName, previous, status }) => {
  console.log(`${serverName}: ${previous} -> ${status.state}`);
});
// #endregion watch

// #region list
const { tools, errors, errorDetails, durations } = await mcp.listToolsWithErrors();

for (const [serverName, message] of Object.entries(errors)) {
  const code = errorDetails[serverName]?.error?.code;
  console.log(`${serverName} failed after ${Math.round(durations[serverName] ?? 0)} ms: ${code}: ${message}`);
}
// #endregion list

assert.equal(Object.keys(tools).length, 14);
assert.deepEqual(Object.keys(errors), ['dead', 'silent']);
assert.equal(errorDetails['dead']?.error?.code, 'MCP_CLIENT_CONNECT_FAILED');
assert.equal(errorDetails['silent']?.error?.code, 'MCP_CLIENT_CONNECT_TIMEOUT');

// #region status
const { files, dead } = mcp.getServerStatus();
console.log(
  files?.state,
  files?.transport,
  files?.protocolVersion,
  files?.serverInfo?.name,
  files?.toolCount,
);
console.log(dead?.state, dead?.lastError?.code);
// #endregion status

assert.equal(files?.state, 'ready');
assert.equal(files?.transport, 'stdio');
assert.equal(files?.protocolVersion, '2025-11-25');
assert.equal(files?.toolCount, 14);
assert.equal(dead?.state, 'failed');

// A lost server is connected again at its next use, or when you say so.
// #region reconnect
await mcp.ping('files');
await mcp.reconnectServer('files');
// #endregion reconnect

stop();
await mcp.disconnect();
assert.equal(mcp.getServerStatus()['files']?.state, 'closed');
never.close();
