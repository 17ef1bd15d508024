import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { createFixtureServer } from '../support/fixture-server.ts';
import { callsOf, rawServer, rawTool } from '../support/raw-server.ts';
import { serveHttp } from '../support/serve-http.ts';
import { until } from '../support/processes.ts';

const tools = [rawTool('echo')];

verifies(
  ['S048', 'X08'],
  'declares the capabilities of the definition, and form elicitation and MCP Apps always',
  async () => {
    await using client = openClient({
      plain: rawServer({ tools }),
      rich: rawServer(
        { tools },
        { capabilities: { experimental: { 'example.com/x': {} }, elicitation: { url: {} } } },
      ),
    });
    const listed = await client.listTools();
    const declared = async (name: string) =>
      (await callsOf(listed[`${name}___calls`] ?? {})).initialize.capabilities;
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    expect(await declared('plain')).toEqual({ extensions, elicitation: { form: {} } });
    expect(await declared('rich')).toEqual({
      extensions,
      experimental: { 'example.com/x': {} },
      elicitation: { form: {}, url: {} },
    });
  },
);

verifies('S246', 'declares roots and answers roots/list with them', async () => {
  const roots = [{ uri: 'file:///srv/data', name: 'data' }];
  await using client = openClient({ s: rawServer({ tools }, { roots }) });
  const listed = await client.listTools();
  const calls = async () => await callsOf(listed['s___calls'] ?? {});
  await until('the roots arrived', async () => (await calls()).roots.length > 0);
  expect((await calls()).initialize.capabilities).toHaveProperty('roots');
  expect((await calls()).roots).toEqual([{ roots }]);
});

verifies('S246', 'starts the child in the working directory of the definition', async () => {
  await using client = openClient({ s: rawServer({ tools }, { cwd: tmpdir() }) });
  const listed = await client.listTools();
  expect((await callsOf(listed['s___calls'] ?? {})).cwd).toBe(realpathSync(tmpdir()));
});

verifies(
  ['S246', 'S080'],
  'joins a session without initialize, and opens a new one when it is gone',
  async () => {
    await using server = createFixtureServer();
    await using host = await serveHttp(server);
    await using first = openClient({ s: { url: host.url } });
    await first.listTools();
    const sessionId = first.sessionIds['s'] ?? '';
    await using second = openClient({ s: { url: host.url, sessionId } });
    expect(textOf(await (await executeOf(second, 's_echo'))({ text: 'joined' }))).toBe('joined');
    expect(second.sessionIds).toEqual({ s: sessionId });
    expect(second.getServerStatus()['s']).toMatchObject({ state: 'ready' });
    expect(second.getServerStatus()['s']?.serverInfo).toBeUndefined();
    await first.disconnect();
    expect(textOf(await (await executeOf(second, 's_echo'))({ text: 'anew' }))).toBe('anew');
    expect(second.sessionIds['s']).not.toBe(sessionId);
    expect(second.getServerStatus()['s']?.serverInfo).toMatchObject({ name: 'Fixture' });
  },
);

verifies(
  ['S082', 'S009'],
  'keeps several servers apart: one that is disconnected leaves the others alone',
  async () => {
    await using client = openClient({ a: rawServer({ tools }), b: rawServer({ tools }) });
    await client.listTools();
    await client.disconnect('a');
    expect(client.getServerStatus()).toMatchObject({ a: { state: 'closed' }, b: { state: 'ready' } });
    expect(textOf(await (await executeOf(client, 'b_echo'))({ n: 1 }))).toBe('{"n":1}');
  },
);
