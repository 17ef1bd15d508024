/** Calls that change something wait for a decision; a run that waits is resumed with it. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MCPClient } from '../../src/index.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'mcp-approval-')));
const at = (name: string): string => path.join(folder, name);

// #region policy
const mcp = new MCPClient({
  servers: {
    files: {
      command: 'node_modules/.bin/mcp-server-filesystem',
      args: [folder],
      // Asked before each call. `true`, an error and a rejection all mean: this call needs approval.
      requireToolApproval: ({ toolName, args, requestContext, annotations }) => {
        if (requestContext?.['role'] === 'admin') return false;
        if (toolName === 'write_file' && String(args['path']).endsWith('.env')) return true;
        // What a server says of its own tools is a hint: rely on it only where you trust the server.
        return annotations?.readOnlyHint !== true;
      },
    },
  },
});
// #endregion policy

const { model, results } = scriptedModel([
  { call: 'files_list_directory', args: { path: folder } },
  { call: 'files_write_file', args: { path: at('notes.txt'), content: 'hello' } },
  { call: 'files_write_file', args: { path: at('secrets.env'), content: 'KEY=1' } },
  { text: 'Done what I was allowed to do.' },
]);
const writer = new Agent({
  id: 'writer',
  name: 'Writer',
  instructions: 'Write what you are asked to.',
  model,
  tools: await mcp.listTools(),
});

// #region decide
// A run that waits is kept by Mastra: an agent without it stops, but cannot be resumed.
const mastra = new Mastra({ agents: { writer }, logger: false });
const agent = mastra.getAgent('writer');

let run = await agent.generate('Write my notes and my secrets.');
while (run.finishReason === 'suspended' && run.runId !== undefined) {
  const { toolCallId, args } = run.suspendPayload as { toolCallId: string; args: { path: string } };
  run = args.path.endsWith('.txt')
    ? await agent.approveToolCallGenerate({ runId: run.runId, toolCallId })
    : await agent.declineToolCallGenerate({ runId: run.runId, toolCallId, reason: 'Text files only.' });
}
console.log(run.text);
// #endregion decide

assert.equal(run.text, 'Done what I was allowed to do.');
assert.deepEqual(await readdir(folder), ['notes.txt']);
assert.match(results().at(-1) ?? '', /Text files only/, 'the model was told why');
await mcp.disconnect();
await rm(folder, { recursive: true });
