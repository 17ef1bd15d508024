/** Progress is shown and keeps a long call alive; an absolute limit ends it all the same. */
import assert from 'node:assert/strict';
import { MCPClient } from '../../src/index.ts';

// #region limits
const everything = { command: 'node_modules/.bin/mcp-server-everything', args: ['stdio'] };
const mcp = new MCPClient({
  timeout: 3000, // Without an answer or progress for so long, a request fails.
  servers: {
    patient: everything,
    strict: { ...everything, maxTotalTimeout: 3500 }, // And this is the limit with progress.
  },
});
// #endregion limits

const seen: number[] = [];
// #region progress
const stop = await mcp.progress.onUpdate('patient', ({ progressToken, progress, total, message }) => {
  console.log(progressToken, `${progress} of ${total ?? '?'}`, message ?? '');
  seen.push(progress);
});
// #endregion progress

const { patient, strict } = await mcp.listToolsets();
const operation = 'trigger-long-running-operation';
const args = { duration: 5, steps: 5 };
const [done, late] = await Promise.allSettled([
  patient?.[operation]?.execute?.(args, { runId: 'job-1' }),
  strict?.[operation]?.execute?.(args),
]);

assert.equal(done.status, 'fulfilled', 'progress restarts the limit of three seconds');
assert.deepEqual(seen, [1, 2, 3, 4, 5]);
assert.equal(late.status, 'rejected');
const { code, mayHaveExecuted } = late.reason as { code: string; mayHaveExecuted: boolean };
assert.equal(code, 'MCP_CLIENT_REQUEST_TIMEOUT');
assert.equal(mayHaveExecuted, true, 'the server may have done the work');

// #region abort
const abort = new AbortController();
setTimeout(() => abort.abort(), 200);
const call = patient?.[operation]?.execute?.(args, { abortSignal: abort.signal });
// #endregion abort
await assert.rejects(call as Promise<unknown>, { code: 'MCP_CLIENT_REQUEST_ABORTED' });

stop();
await mcp.disconnect();
