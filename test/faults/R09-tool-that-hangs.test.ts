import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection, textOf } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';

verifies(
  'R9',
  'a hanging call ends at its limit, is cancelled at the server, and the client stays usable',
  async () => {
    const tools = [rawTool('hang', { silent: true }), rawTool('echo')];
    await using client = openClient({ s: rawServer({ tools }, { timeout: 500 }) });
    const listed = await client.listTools();
    const started = performance.now();
    const error = await rejection(listed['s_hang']?.execute({}) ?? Promise.resolve());
    expect(error).toMatchObject({ code: 'MCP_CLIENT_REQUEST_TIMEOUT', mayHaveExecuted: true });
    expect(performance.now() - started).toBeGreaterThan(450);
    expect(performance.now() - started).toBeLessThan(1500);
    const abort = new AbortController();
    const aborted = rejection(
      listed['s_hang']?.execute({}, { abortSignal: abort.signal }) ?? Promise.resolve(),
    );
    const calls = async () => await callsOf(listed['s___calls'] ?? {});
    await until('the call arrived', async () => (await calls()).calls.length === 2);
    abort.abort();
    expect(await aborted).toMatchObject({ code: 'MCP_CLIENT_REQUEST_ABORTED' });
    expect(textOf(await listed['s_echo']?.execute({ n: 1 }))).toBe('{"n":1}');
    expect((await calls()).cancelled).toHaveLength(2);
  },
);
