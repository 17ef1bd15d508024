import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient, rejection } from '../support/client.ts';
import { FgaProvider } from '../support/fga-provider.ts';
import { serveHttp } from '../support/serve-http.ts';

/** An authenticated caller, as an OAuth middleware knows one: there is a subject, and no user. */
const authInfo = { token: 't', clientId: 'app', scopes: [], extra: { subject: 'ada' } };

const tool = (id: string) =>
  createTool({ id, description: id, inputSchema: z.object({}), execute: async () => `${id} done` });

/** A server with two tools, one of which ada may use, and what it warns about. */
async function open(mapAuthInfoToUser: MCPServerConfig['mapAuthInfoToUser']) {
  const server = new MCPServer({
    id: 'files',
    name: 'Files',
    version: '1.0.0',
    tools: { read: tool('read'), erase: tool('erase') },
    ...(mapAuthInfoToUser === undefined ? {} : { mapAuthInfoToUser }),
  });
  const provider = new FgaProvider(
    ({ user, id }) => (user as { id: string }).id === 'ada' && id === '["files","read"]',
  );
  const mastra = new Mastra({
    mcpServers: { server },
    server: { fga: provider },
    storage: new InMemoryStore(),
    logger: false,
  });
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  mastra.setLogger({ logger: { debug() {}, info() {}, warn, error() {}, trackException() {} } as never });
  const host = await serveHttp(server, undefined, req => (req.auth = authInfo));
  const client = openClient({ files: { url: host.url } });
  return {
    provider,
    warnings,
    names: async () => Object.keys(await client.listTools()),
    call: async (name: string) => {
      const definition = { name, inputSchema: { type: 'object' as const } };
      return client.toolFromDefinition({ serverName: 'files', definition }).execute?.({}, {} as never);
    },
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await server.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

verifies(['B91', 'S139'], 'with a mapping a caller gets the tools of their user', async () => {
  await using files = await open(({ authInfo: found }) => ({
    id: (found as typeof authInfo).extra.subject,
  }));
  expect(await files.names()).toEqual(['files_read']);
  expect(await files.call('read')).toMatchObject({ content: [{ text: 'read done' }] });
  expect(await rejection(files.call('erase'))).toMatchObject({ rpcCode: -32602 });
  expect(files.warnings).toEqual([]);
});

verifies(
  'B91',
  'without one everything stays closed, and one warning says what to configure, however many ask',
  async () => {
    await using files = await open(undefined);
    for (let n = 0; n < 3; n += 1) expect(await files.names()).toEqual([]);
    expect(await rejection(files.call('read'))).toMatchObject({ rpcCode: -32602 });
    expect(files.provider.questions).toEqual([]);
    expect(files.warnings).toEqual([
      expect.stringMatching(/has no user.*Set mapAuthInfoToUser.*authInfo\.extra\.user/),
    ]);
  },
);

verifies(['B91', 'S139'], 'a mapping that throws denies, and each time the log says why', async () => {
  for (const fail of [
    () => {
      throw new Error('The directory is down');
    },
    () => Promise.reject(new Error('The directory is down')),
  ]) {
    await using files = await open(fail);
    expect(await files.names()).toEqual([]);
    expect(await rejection(files.call('read'))).toMatchObject({ rpcCode: -32602 });
    expect(files.provider.questions).toEqual([]);
    expect(files.warnings.filter(text => text.startsWith('mapAuthInfoToUser failed'))).toHaveLength(2);
  }
});
