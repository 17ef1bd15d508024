import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createTool } from '@mastra/core/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resolveAppResources } from '../../src/server/capabilities/app-resources.ts';
import type { AppResources, McpUiResourceMeta, MCPServerResources } from '../../src/server/index.ts';
import { isMCPError } from '../../src/shared/errors.ts';
import { withUiResourceUri } from '../../src/shared/meta.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory, until } from './call-harness.ts';
import { ask, refusalOf, serverWith } from './capability-harness.ts';

const URI = 'ui://calculator/main';
const PAGE = '<!doctype html><title>Calculator</title>';
const MIME_TYPE = 'text/html;profile=mcp-app';

const meta: McpUiResourceMeta = {
  csp: { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com'] },
  permissions: { clipboardWrite: {} },
  domain: 'calculator.example.com',
  prefersBorder: true,
};

const appResources: AppResources = { [URI]: { name: 'Calculator', description: 'Adds', html: PAGE, meta } };

describe('pages', () => {
  verifies(
    ['S237', 'S240'],
    'are listed and read as ui:// resources with their media type and metadata',
    async () => {
      const server = serverWith({ appResources });
      await using caller = await callInMemory(server);
      expect(await ask(caller, 'resources/list')).toEqual({
        resources: [
          { uri: URI, name: 'Calculator', description: 'Adds', mimeType: MIME_TYPE, _meta: { ui: meta } },
        ],
      });
      const page = { contents: [{ uri: URI, mimeType: MIME_TYPE, text: PAGE, _meta: { ui: meta } }] };
      expect(await ask(caller, 'resources/read', { uri: URI })).toEqual(page);
      expect(await server.readResource(URI)).toEqual(page);
      expect(await ask(caller, 'resources/templates/list')).toEqual({ resourceTemplates: [] });
      expect((await refusalOf(ask(caller, 'resources/read', { uri: 'ui://calculator/other' }))).code).toBe(
        -32002,
      );
    },
  );

  verifies(
    'S237',
    'are declared as an extension beside the resources, with and without sessions',
    async () => {
      const server = serverWith({ appResources });
      const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME_TYPE] } };
      await using session = await callByFetch(server);
      expect(session.client.getServerCapabilities()).toMatchObject({
        extensions,
        resources: { subscribe: true, listChanged: true },
      });
      await using stateless = await callByFetch(server, { facts: { options: { serverless: true } } });
      expect(stateless.client.getServerCapabilities()).toMatchObject({ extensions, resources: {} });
      await using bare = await callInMemory(serverWith({ appResources: {} }));
      expect(bare.client.getServerCapabilities()).not.toHaveProperty('extensions');
      expect(bare.client.getServerCapabilities()).not.toHaveProperty('resources');
      await server.close();
    },
  );

  verifies('S239', 'in files are read once, when the server is made', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'mcp-app-'));
    try {
      const htmlPath = path.join(folder, 'page.html');
      await writeFile(htmlPath, '<title>ä</title>');
      const server = serverWith({ appResources: { [URI]: { name: 'Page', htmlPath } } });
      await rm(htmlPath);
      expect(await server.readResource(URI)).toEqual({
        contents: [{ uri: URI, mimeType: MIME_TYPE, text: '<title>ä</title>' }],
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  verifies('S191', 'can be subscribed to like every resource', async () => {
    const server = serverWith({ appResources });
    const heard: unknown[] = [];
    await using caller = await callInMemory(server, {
      onNotification: (_, params) => heard.push(params['uri']),
    });
    await caller.client.subscribeResource({ uri: URI });
    await server.resources.notifyUpdated({ uri: URI });
    await until(() => heard.length === 1);
    expect(heard).toEqual([URI]);
  });
});

describe('beside resources of the author', () => {
  const own: MCPServerResources = {
    listResources: () => [{ uri: 'notes://1', name: 'Note' }],
    getResourceContent: ({ uri }) => ({ text: `own ${uri}` }),
  };

  const textAt = async (resources: MCPServerResources, uri: string): Promise<unknown> => {
    const { contents } = await serverWith({ resources, appResources }).readResource(uri);
    return Reflect.get(Object(contents[0]), 'text');
  };

  verifies(
    'S243',
    'pages are listed after them, and a callback for every URI does not hide them',
    async () => {
      await using caller = await callInMemory(serverWith({ resources: own, appResources }));
      const { resources } = await caller.client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(['notes://1', URI]);
      expect(await textAt(own, 'notes://1')).toBe('own notes://1');
      expect(await textAt(own, URI)).toBe(PAGE);
    },
  );

  verifies('S243', 'a page gives way to a resource that is listed under its URI', async () => {
    const listed = { uri: URI, name: 'Mine', mimeType: MIME_TYPE };
    const resources = { ...own, listResources: () => [listed] };
    await using caller = await callInMemory(serverWith({ resources, appResources }));
    expect(await ask(caller, 'resources/list')).toEqual({ resources: [listed] });
    expect(await ask(caller, 'resources/read', { uri: URI })).toEqual({
      contents: [{ uri: URI, mimeType: MIME_TYPE, text: `own ${URI}` }],
    });
  });

  test('a page can be read when their list fails', async () => {
    const resources = { ...own, listResources: () => Promise.reject(new Error('No list')) };
    expect(await textAt(resources, URI)).toBe(PAGE);
  });
});

describe('tools', () => {
  const link = { ui: { resourceUri: URI, visibility: ['model'] } };

  verifies(
    ['S241', 'S242', 'X22'],
    'name their page in both spellings and return what the page shows',
    async () => {
      const calculator = createTool({
        id: 'calculator',
        description: 'An interactive calculator',
        inputSchema: z.object({ num1: z.number(), num2: z.number() }),
        mcp: { _meta: link },
        execute: async ({ num1, num2 }) => ({
          content: [{ type: 'text', text: 'A calculator is shown.' }],
          structuredContent: { result: num1 + num2 },
        }),
      });
      const server = serverWith({ tools: { calculator }, appResources });
      await using caller = await callInMemory(server);
      const [tool] = (await caller.client.listTools()).tools;
      const normalised = { ...link, 'ui/resourceUri': URI };
      expect(tool?._meta).toEqual(normalised);
      expect(server.getToolInfo('calculator')?._meta).toEqual(normalised);
      expect(await caller.call('calculator', { num1: 1, num2: 2 })).toEqual({
        content: [{ type: 'text', text: 'A calculator is shown.' }],
        structuredContent: { result: 3 },
      });
      // The tool itself stays what its author made.
      expect(calculator.mcp?._meta).toEqual(link);
    },
  );

  verifies('S241', 'may use the older spelling, or name no page at all', () => {
    expect(withUiResourceUri({ 'ui/resourceUri': URI })).toEqual({
      ui: { resourceUri: URI },
      'ui/resourceUri': URI,
    });
    expect(withUiResourceUri({ ui: { resourceUri: URI }, 'ui/resourceUri': 'ui://old' })).toEqual({
      ui: { resourceUri: URI },
      'ui/resourceUri': URI,
    });
    for (const ui of ['text', null, 7]) {
      expect(withUiResourceUri({ ui, 'ui/resourceUri': URI })['ui']).toEqual({ resourceUri: URI });
    }
    const other = { 'example.com/x': 1 };
    expect(withUiResourceUri(other)).toBe(other);
  });
});

/** The option that is named by what a set of pages throws. */
function wrongOption(apps: unknown): string | undefined {
  try {
    resolveAppResources(apps as AppResources);
  } catch (error) {
    if (isMCPError(error) && error.code === 'MCP_SERVER_CONFIGURATION_INVALID') return error.option;
    throw error;
  }
  return undefined;
}

const wrong: readonly (readonly [option: string, page: unknown])[] = [
  ['', undefined],
  ['', 'html'],
  ['', { name: 'x' }],
  ['', { name: 'x', html: PAGE, htmlPath: 'x.html' }],
  ['.name', { html: PAGE }],
  ['.name', { name: ' ', html: PAGE }],
  ['.description', { name: 'x', html: PAGE, description: 7 }],
  ['.html', { name: 'x', html: 7 }],
  ['.htmlPath', { name: 'x', htmlPath: 7 }],
  ['.htmlPath', { name: 'x', htmlPath: '/no/such/page.html' }],
  ['.htmlPath', { name: 'x', htmlPath: os.tmpdir() }],
  ['.meta', { name: 'x', html: PAGE, meta: 'x' }],
  ['.meta.csp', { name: 'x', html: PAGE, meta: { csp: [] } }],
  ['.meta.csp.connectDomains', { name: 'x', html: PAGE, meta: { csp: { connectDomains: 'https://x' } } }],
  ['.meta.csp.frameDomains', { name: 'x', html: PAGE, meta: { csp: { frameDomains: [7] } } }],
  ['.meta.permissions', { name: 'x', html: PAGE, meta: { permissions: ['camera'] } }],
  ['.meta.permissions.camera', { name: 'x', html: PAGE, meta: { permissions: { camera: true } } }],
  ['.meta.domain', { name: 'x', html: PAGE, meta: { domain: 7 } }],
  ['.meta.prefersBorder', { name: 'x', html: PAGE, meta: { prefersBorder: 'yes' } }],
];

describe('wrong pages', () => {
  for (const [option, page] of wrong) {
    verifies(['S238', 'S239'], `are named at construction: ${option} of ${JSON.stringify(page)}`, () => {
      expect(wrongOption({ [URI]: page })).toBe(`appResources.${URI}${option}`);
    });
  }

  verifies('S238', 'are those whose key is no ui:// URI', () => {
    for (const key of ['main', 'https://example.com/', 'ui://', 'ui:/x', 'ui://a b', 'UI://x', '__proto__']) {
      const apps = Object.fromEntries([[key, { name: 'x', html: PAGE }]]);
      expect(wrongOption(apps)).toBe(`appResources.${key}`);
    }
  });

  test('are not those with members that are new or undefined', () => {
    const page = {
      name: 'x',
      html: '',
      htmlPath: undefined,
      description: undefined,
      meta: {
        csp: { connectDomains: undefined, newDomains: [7] },
        permissions: { camera: undefined },
        newer: {},
      },
    };
    expect(wrongOption({ [URI]: page })).toBeUndefined();
  });
});
