/** Errors carry codes and say whether the call may have run; nobody has to read their text. */
import assert from 'node:assert/strict';
// #region handle
import { MCPClient, isMCPError } from '../../src/index.ts';
// #endregion handle
import { closedPort } from '../support/ports.ts';

const mcp = new MCPClient({
  servers: {
    everything: { command: 'node_modules/.bin/mcp-server-everything', args: ['stdio'] },
    dead: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
  },
});

// #region handle
async function pingOrExplain(serverName: string): Promise<string> {
  try {
    await mcp.ping(serverName);
    return 'alive';
  } catch (error) {
    if (!isMCPError(error)) throw error;
    switch (error.code) {
      case 'MCP_CLIENT_CONNECT_FAILED':
      case 'MCP_CLIENT_CONNECT_TIMEOUT':
        return `unreachable by ${error.attempts.map(attempt => attempt.transport).join(', ')}`;
      case 'MCP_CLIENT_AUTHORIZATION_REQUIRED':
        return `needs a login with the scopes ${error.scopes.join(' ')}`;
      case 'MCP_CLIENT_REQUEST_TIMEOUT':
        return error.mayHaveExecuted ? 'silent' : 'not asked';
      default:
        return error.code;
    }
  }
}
// #endregion handle

assert.equal(await pingOrExplain('everything'), 'alive');
assert.equal(await pingOrExplain('dead'), 'unreachable by http');

// #region options
assert.throws(() => new MCPClient({ servers: { typo: { url: 'htp://example.com' } } }), {
  code: 'MCP_CLIENT_CONFIGURATION_INVALID',
  option: 'servers.typo.url',
});
// #endregion options
await mcp.disconnect();
