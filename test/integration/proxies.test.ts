/** Servers of other people in a Mastra instance: an MCPServer with an App over HTTP and server-everything over stdio. */
import { Mastra } from '@mastra/core/mastra';
import type { MCPServerBase } from '@mastra/core/mcp';
import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z } from 'zod';
import type { MCPClient } from '../../src/client/index.ts';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { referenceServer } from '../support/reference-server.ts';

const uri = 'ui://weather/map';
const mimeType = 'text/html;profile=mcp-app';
const ui = { csp: { resourceDomains: ['https://tiles.example.com'] }, prefersBorder: true };
const html = '<!doctype html><p id="map">';

function createWeather(): MCPServer {
  const forecast = createTool({
    id: 'forecast',
    description: 'Tells the weather of a city.',
    inputSchema: z.object({ city: z.string(), days: z.number().int().min(1).default(1) }),
    mcp: { annotations: { readOnlyHint: true }, _meta: { ui: { resourceUri: uri } } },
    execute: async ({ city, days }) => {
      if (city === 'Atlantis') throw new Error('No such city');
      return {
        content: [{ type: 'text', text: `Rain in ${city}` }],
        structuredContent: { city, days },
        _meta: { 'example.com/source': 'radar' },
      };
    },
  });
  return new MCPServer({
    id: 'weather-service',
    name: 'Weather Service',
    version: '2.3.4',
    description: 'Knows the weather',
    tools: { forecast },
    appResources: { [uri]: { name: 'Map', description: 'Shows it', html, meta: ui } },
  });
}

interface Story extends AsyncDisposable {
  readonly client: MCPClient;
  readonly mastra: Mastra;
  server(name: string): MCPServerBase;
}

async function tell(): Promise<Story> {
  const weather = createWeather();
  const { url } = await weather.listen({ port: 0 });
  const client = openClient({
    weather: { url },
    everything: {
      command: process.execPath,
      args: [referenceServer('everything'), 'stdio'],
      stderr: 'ignore',
    },
  });
  const own = new MCPServer({ id: 'own', name: 'Own', version: '1.0.0' });
  const mastra: Mastra = new Mastra({
    // oxlint-disable-next-line typescript/await-thenable -- as it is documented
    mcpServers: { own, ...(await client.toMCPServerProxies()) },
    logger: false,
  });
  return {
    client,
    mastra,
    server(name) {
      const server = mastra.getMCPServerById(name);
      if (server === undefined) throw new Error(`no server ${name}`);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await weather.close();
    },
  };
}

verifies(
  ['S105', 'S106', 'S107', 'X07'],
  'foreign servers are spread into mcpServers beside own ones and found like them, connected by nobody',
  async () => {
    await using story = await tell();
    const { mastra, client } = story;
    expect(Object.keys(mastra.listMCPServers() ?? {})).toEqual(['own', 'weather', 'everything']);
    for (const name of ['weather', 'everything']) {
      expect(mastra.getMCPServer(name)).toBe(mastra.getMCPServerById(name));
      expect(mastra.getMCPServer(name)?.mcpVersion).toBeUndefined();
    }
    expect(client.getServerStatus()).toMatchObject({
      weather: { state: 'idle' },
      everything: { state: 'idle' },
    });
  },
);

verifies(['S106', 'S108'], 'the tools of both are listed as their servers say, and run', async () => {
  await using story = await tell();
  const weather = story.server('weather');
  const everything = story.server('everything');
  expect(await weather.getToolListInfo()).toEqual({
    tools: [
      {
        id: 'forecast',
        name: 'weather_forecast',
        description: 'Tells the weather of a city.',
        inputSchema: expect.objectContaining({
          properties: expect.objectContaining({ city: { type: 'string' } }),
        }),
        annotations: expect.objectContaining({ readOnlyHint: true }),
        _meta: { ui: { resourceUri: uri }, 'ui/resourceUri': uri },
      },
    ],
  });
  expect(weather.getServerInfo()).toMatchObject({
    id: 'weather',
    description: 'Knows the weather',
    version_detail: { version: '2.3.4' },
  });
  const result = {
    content: [{ type: 'text', text: 'Rain in Ulm' }],
    structuredContent: { city: 'Ulm', days: 1 },
    _meta: { 'example.com/source': 'radar' },
  };
  for (const toolId of ['forecast', 'weather_forecast']) {
    expect(await weather.executeTool(toolId, { city: 'Ulm' })).toEqual(result);
  }
  expect(await weather.executeTool('forecast', { city: 'Atlantis' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('No such city') }],
  });
  // What the server refuses, it refuses in its own words.
  expect(await weather.executeTool('forecast', { city: 7 })).toMatchObject({ isError: true });

  const { tools } = await everything.getToolListInfo();
  expect(tools.length).toBeGreaterThan(10);
  expect(tools).toContainEqual(
    expect.objectContaining({
      id: 'get-structured-content',
      name: 'everything_get-structured-content',
      outputSchema: expect.objectContaining({ required: ['temperature', 'conditions', 'humidity'] }),
    }),
  );
  expect(await everything.executeTool('echo', { message: 'hi' })).toEqual({
    content: [{ type: 'text', text: 'Echo: hi' }],
  });
  expect(await everything.executeTool('get-structured-content', { location: 'New York' })).toMatchObject({
    content: [{ type: 'text' }],
    structuredContent: { temperature: 33, conditions: 'Cloudy', humidity: 82 },
  });
  expect(await everything.executeTool('get-tiny-image', {})).toMatchObject({
    content: [{}, { type: 'image', mimeType: 'image/png' }, {}],
  });
});

verifies(['S106', 'S108'], 'the page of an App is listed and read, and so are other resources', async () => {
  await using story = await tell();
  const weather = story.server('weather');
  const everything = story.server('everything');
  expect(await weather.listResources()).toEqual({
    resources: [{ uri, name: 'Map', description: 'Shows it', mimeType, _meta: { ui } }],
  });
  expect(await weather.readResource(uri)).toEqual({
    contents: [{ uri, mimeType, text: html, _meta: { ui } }],
  });
  await expect(weather.readResource('ui://weather/none')).rejects.toMatchObject({
    code: 'MCP_SERVER_RESOURCE_NOT_FOUND',
    details: { status: 404 },
  });

  const { resources } = await everything.listResources();
  expect(resources.length).toBeGreaterThan(3);
  const [first] = resources;
  const { contents } = await everything.readResource(first?.uri ?? '');
  expect(contents).toEqual([expect.objectContaining({ uri: first?.uri, text: expect.any(String) })]);
});

verifies(
  ['S106', 'S107'],
  'an agent and Studio know a tool under one name, over one connection',
  async () => {
    await using story = await tell();
    const { client } = story;
    const [tools, ...listings] = await Promise.all([
      client.listTools(),
      story.server('weather').getToolListInfo(),
      story.server('everything').getToolListInfo(),
    ]);
    const names = listings.flatMap(listing => listing.tools.map(({ name }) => name));
    expect(names).toEqual(Object.keys(tools));
    const sessions = client.sessionIds;
    await story.server('weather').executeTool('forecast', { city: 'Ulm' });
    expect(client.sessionIds).toEqual(sessions);
    // Ended by the client alone, and used again afterwards.
    await client.disconnect('weather');
    await story.server('weather').executeTool('forecast', { city: 'Ulm' });
    expect(client.sessionIds['weather']).not.toBe(sessions['weather']);
  },
);
