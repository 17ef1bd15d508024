import { expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerResourceContent } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { ask } from '../server/capability-harness.ts';
import { callByUrl } from '../server/call-harness.ts';
import { openClient } from '../support/client.ts';
import { serveHttp } from '../support/serve-http.ts';

const mimeType = 'text/html;profile=mcp-app';
const ui = {
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://cdn.example.com'] },
  prefersBorder: false,
  // Of a later revision of the extension.
  later: { kept: true },
};

const own: Readonly<Record<string, MCPServerResourceContent>> = {
  'ui://own/text': Object.assign({ later: 1 }, { text: '<p>', mimeType, _meta: { ui, 'example.com/x': 1 } }),
  'ui://own/blob': { blob: 'PHA+', mimeType, _meta: { ui } },
};
const app = { uri: 'ui://app/main', mimeType, text: '<p>', _meta: { ui } };

const createServer = (): MCPServer =>
  new MCPServer({
    name: 'S',
    version: '1.0.0',
    appResources: { [app.uri]: { name: 'App', html: app.text, meta: ui } },
    resources: {
      listResources: () => Object.keys(own).map(uri => ({ uri, name: uri, mimeType, _meta: { ui } })),
      getResourceContent: ({ uri }) => own[uri],
    },
  });

verifies(
  'B93',
  'the content policy and the media type of a page survive list and read, as text, as blob and with unknown members',
  async () => {
    await using server = createServer();
    await using host = await serveHttp(server);
    await using caller = await callByUrl(host.url);
    const { resources } = (await ask(caller, 'resources/list')) as { resources: object[] };
    expect(resources).toHaveLength(3);
    for (const resource of resources) expect(resource).toMatchObject({ mimeType, _meta: { ui } });
    const read = async (uri: string): Promise<unknown> =>
      (await ask(caller, 'resources/read', { uri }))['contents'];
    expect(await read(app.uri)).toEqual([app]);
    for (const [uri, contents] of Object.entries(own))
      expect(await read(uri)).toEqual([{ uri, ...contents }]);
  },
);

verifies('B93', 'and they survive a proxy of the server', async () => {
  await using server = createServer();
  await using host = await serveHttp(server);
  await using client = openClient({ s: { url: host.url } });
  const proxy = client.toMCPServerProxies()['s'];
  const { resources = [] } = (await proxy?.listResources()) ?? {};
  expect(resources).toHaveLength(3);
  for (const resource of resources) expect(resource).toMatchObject({ mimeType, _meta: { ui } });
  expect(await proxy?.readResource(app.uri)).toEqual({ contents: [app] });
  for (const [uri, contents] of Object.entries(own))
    expect(await proxy?.readResource(uri)).toEqual({ contents: [{ uri, ...contents }] });
});
