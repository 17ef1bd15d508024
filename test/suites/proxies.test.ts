/** Proxies of foreign servers behind the adapters of @mastra/server: what Studio and other REST clients see. */
import { describe, expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { ensureForeign } from '../support/foreign.ts';
import { Adapters } from '../support/mastra-adapters.ts';
import type { AdapterHost, AdapterName, CoreCopy } from '../support/mastra-adapters.ts';
import { RpcError, startScripted } from '../support/scripted-server.ts';
import type { ScriptedServer } from '../support/scripted-server.ts';

const foreign = await ensureForeign();
const adapters = new Adapters(foreign ?? '');

const uri = 'ui://map/main';
const page = {
  uri,
  mimeType: 'text/html;profile=mcp-app',
  text: '<p>',
  _meta: { ui: { prefersBorder: true } },
};
const resource = { uri, name: 'Map', mimeType: page.mimeType, _meta: page._meta };
const draw = {
  name: 'draw',
  title: 'Draw',
  description: 'Draws',
  inputSchema: { type: 'object', properties: { place: { type: 'string' } }, 'x-kept': true },
  annotations: { readOnlyHint: true },
  icons: [{ src: 'data:image/png;base64,AA==' }],
  _meta: { ui: { resourceUri: uri } },
};
const drawn = {
  content: [{ type: 'text', text: 'Ulm' }],
  structuredContent: { place: 'Ulm' },
  _meta: { 'example.com/x': 1 },
};
const failed = { content: [{ type: 'text', text: 'No such place' }], isError: true };

const answers = {
  'tools/list': () => ({ tools: [draw] }),
  'tools/call': ({ arguments: args }: Readonly<Record<string, unknown>>) => {
    const { place } = args as { place: string };
    if (place === 'nowhere') return failed;
    if (place === 'abyss') throw new RpcError(-32603, 'lost');
    return drawn;
  },
  'resources/list': () => ({ resources: [resource] }),
  'resources/read': (params: Readonly<Record<string, unknown>>) => {
    if (params['uri'] !== uri) throw new RpcError(-32002, 'no');
    return { contents: [page] };
  },
};

interface Served extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly rest: AdapterHost['rest'];
}

async function serve(name: AdapterName, copy: CoreCopy): Promise<Served> {
  const server = await startScripted({ answers });
  const client = openClient({ map: { url: server.url }, gone: { command: '/does/not/exist' } });
  const mcpServers = client.toMCPServerProxies();
  const host = await adapters.serve(name, adapters.createMastra(copy, { mcpServers }));
  return {
    server,
    rest: (...request) => host.rest(...request),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await client.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

for (const name of ['hono', 'express'] as const) {
  for (const copy of ['ours', 'theirs'] as const) {
    describe.skipIf(foreign === undefined)(`the REST routes of ${name}, with ${copy} copy of core`, () => {
      verifies(
        ['S106', 'S107'],
        'list proxies without connecting, and one that cannot be reached harms no other',
        async () => {
          await using served = await serve(name, copy);
          const { rest } = served;
          const info = (id: string, version: string): object =>
            expect.objectContaining({ id, name: id, version_detail: expect.objectContaining({ version }) });
          const servers = async (): Promise<unknown> =>
            ((await rest('GET', '/mcp/v0/servers')).body as { servers: unknown }).servers;
          expect(await servers()).toEqual([info('map', '1.0.0'), info('gone', '1.0.0')]);
          expect(await rest('GET', '/mcp/v0/servers/map')).toEqual({
            status: 200,
            body: info('map', '1.0.0'),
          });
          expect(served.server.received('initialize')).toEqual([]);
          // One that cannot be reached harms nobody else.
          expect(await rest('GET', '/mcp/gone/tools')).toMatchObject({
            status: 500,
            body: { error: expect.any(String) },
          });
          expect((await rest('GET', '/mcp/map/tools')).status).toBe(200);
        },
      );

      verifies(['S106', 'S108'], 'show tools and pages of an App whole', async () => {
        await using served = await serve(name, copy);
        const { rest } = served;
        const listed = { ...draw, id: 'draw', name: 'map_draw' };
        expect(await rest('GET', '/mcp/map/tools')).toEqual({ status: 200, body: { tools: [listed] } });
        for (const toolId of ['draw', 'map_draw'])
          expect(await rest('GET', `/mcp/map/tools/${toolId}`)).toEqual({ status: 200, body: listed });
        expect((await rest('GET', '/mcp/map/tools/none')).status).toBe(404);
        expect(await rest('GET', '/mcp/map/resources')).toEqual({
          status: 200,
          body: { resources: [resource] },
        });
        const read = (wanted: string) => rest('POST', '/mcp/map/resources/read', { uri: wanted });
        expect(await read(uri)).toEqual({ status: 200, body: { contents: [page] } });
        expect((await read('ui://map/none')).status).toBe(404);
      });

      verifies(['S106', 'S108'], 'run a tool once, and answer so that no client runs it again', async () => {
        await using served = await serve(name, copy);
        const run = (toolId: string, place: string) =>
          served.rest('POST', `/mcp/map/tools/${toolId}/execute`, { data: { place } });
        expect(await run('draw', 'Ulm')).toEqual({ status: 200, body: { result: drawn } });
        expect(await run('map_draw', 'nowhere')).toEqual({ status: 200, body: { result: failed } });
        // Studio repeats what is answered by 500 and above.
        expect(await run('draw', 'abyss')).toMatchObject({
          status: 424,
          body: { error: expect.stringContaining('lost') },
        });
        expect(served.server.received('tools/call')).toHaveLength(3);
        expect(await run('none', 'Ulm')).toMatchObject({
          status: 404,
          body: { error: 'Unknown tool: none' },
        });
        expect(served.server.received('tools/call')).toHaveLength(3);
      });

      verifies('S106', 'serve no MCP for a proxy', async () => {
        await using served = await serve(name, copy);
        const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
        for (const path of ['/mcp/map/mcp', '/mcp/map/sse'])
          expect((await served.rest('POST', path, ping)).status, path).toBe(500);
        expect(served.server.received('initialize')).toEqual([]);
      });
    });
  }
}
