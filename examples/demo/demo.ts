/**
 * One agent, one run, four servers: two that others wrote, one of this package in a process of its own, and a dead one.
 *
 * Needs no network. With MODEL=provider/name and the key of that provider a real model plays the agent. Everything that
 * is printed was checked; a difference from what is expected ends the demo with an error.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { MCPClient } from '../../src/index.ts';
import { closedPort } from '../support/ports.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { descendants, stillRunning } from './processes.ts';
import { follow } from './run.ts';
import { DECLINED, EXPECTED, toScript, toTask } from './script.ts';
import { startEverything, startOwnServer } from './servers.ts';
import { bar, heading, line, timed, took } from './transcript.ts';

const started = performance.now();
const watchdog = setTimeout(() => {
  console.error('The demo did not end within three minutes.');
  process.exit(1);
}, 180_000);

const folders = {
  docs: fileURLToPath(new URL('../../docs', import.meta.url)),
  notes: await realpath(await mkdtemp(path.join(tmpdir(), 'mcp-demo-'))),
};
const model = process.env['MODEL'] ?? scriptedModel(toScript(folders)).model;
console.log(`Node.js ${process.version}, ${process.env['MODEL'] ?? 'a scripted model, no network'}`);
const ownProcesses = descendants();

heading('Two servers start, each in a process of its own.');
const [everything, newsroom] = await Promise.all([
  timed(({ url }) => `@modelcontextprotocol/server-everything at ${url}`, startEverything),
  timed(({ url }) => `an MCPServer of this package at ${url}`, startOwnServer),
]);

heading('A client for four servers lists their tools.');
const mcp = new MCPClient({
  servers: {
    files: {
      command: process.execPath,
      args: [
        fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')),
      ].concat(folders.docs, folders.notes),
      stderr: 'ignore',
      // The annotations of a server are its own claims: good enough for a reference server on two folders.
      requireToolApproval: ({ annotations }) => annotations?.readOnlyHint !== true,
    },
    everything: { url: everything.url },
    newsroom: { url: newsroom.url },
    dead: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
  },
});
const progressSeen: number[] = [];
await mcp.progress.onUpdate('everything', ({ progress, total }) => {
  progressSeen.push(progress);
  bar(progress, total ?? progress);
});

const { tools, errors, errorDetails, durations } = await mcp.listToolsWithErrors();
const status = mcp.getServerStatus();
for (const [name, { transport, toolCount }] of Object.entries(status)) {
  const error = errorDetails[name]?.error;
  if (error === undefined) line('-', `${name}: ${toolCount} tools over ${transport}`, durations[name]);
  else line('!', `${name}: ${error.message}`, durations[name]);
}
assert.deepEqual(Object.keys(errors), ['dead'], 'only the dead server fails');
assert.equal(errorDetails['dead']?.error?.code, 'MCP_CLIENT_CONNECT_FAILED');
assert.deepEqual(
  Object.values(status).map(({ state }) => state),
  ['ready', 'ready', 'ready', 'failed'],
);

heading('An agent with the tools of all of them does its task in one run.');
const agent = new Agent({
  id: 'clerk',
  name: 'Clerk',
  instructions: 'You do what you are told, step by step, with the tools you have.',
  model,
  tools,
});
// A run that waits for approval is kept by Mastra.
new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
const { calls, approved, declined, text } = await follow(agent, toTask(folders), {
  // The policy of this demo: notes may be written, nothing else.
  approves: (toolName, args) =>
    toolName === 'files_write_file' && path.dirname(String(args['path'])) === folders.notes,
});
line('=', text);

for (const [toolName, part] of Object.entries(EXPECTED)) {
  assert.ok(calls.get(toolName)?.includes(part), `${toolName} returned ${part}: ${calls.get(toolName)}`);
}
assert.deepEqual(progressSeen, [1, 2, 3, 4, 5, 6, 7, 8], 'progress arrived step by step');
assert.deepEqual(approved, ['files_write_file'], 'the call that writes a note was approved');
assert.deepEqual(declined, [DECLINED], 'the call that moves a document was declined');
const published = await readFile(path.join(folders.notes, 'published.txt'), 'utf8');
assert.match(published, /\/pages\//, 'the approved call ran');
assert.match(
  await readFile(path.join(folders.docs, 'index.md'), 'utf8'),
  /@mastra\/mcp/,
  'the declined did not',
);

heading('Everything ends.');
const processes = descendants().filter(pid => !ownProcesses.includes(pid));
assert.ok(processes.length >= 3, 'three servers run');
await timed(
  () => `the client is disconnected, ${processes.length} processes have ended`,
  async () => {
    await mcp.disconnect();
    await Promise.all([everything.stop(), newsroom.stop()]);
    await rm(folders.notes, { recursive: true });
  },
);
assert.deepEqual(stillRunning(processes), [], 'no process is left');
clearTimeout(watchdog);
console.log(
  `\nEverything was as expected: ${calls.size} calls, ${took(performance.now() - started)} in all.`,
);
