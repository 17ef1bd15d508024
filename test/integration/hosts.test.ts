import { createTool } from '@mastra/core/tools';
import express from 'express';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function whoServer(): MCPServer {
  const who = createTool({
    id: 'who',
    description: 'Says who calls',
    inputSchema: z.object({}),
    execute: async (_input, { mcp }) => JSON.stringify(mcp?.extra.authInfo ?? null),
  });
  const server = new MCPServer({ name: 'Who', version: '1.0.0', tools: { who } });
  closing.push(() => server.close());
  return server;
}

async function listen(app: express.Express): Promise<string> {
  const host = app.listen(0, '127.0.0.1');
  await once(host, 'listening');
  closing.push(
    () => host.closeAllConnections(),
    () => host.close(),
  );
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
}

describe('an express application with JWTs', () => {
  async function start(mount: (app: express.Express, server: MCPServer) => void) {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const app = express();
    app.use(express.json());
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- express 5 takes promises
    app.use('/mcp', async (req, res, next) => {
      try {
        const token = req.headers.authorization?.replace(/^Bearer /i, '') ?? '';
        const { payload } = await jwtVerify(token, publicKey, {
          issuer: 'https://issuer.example',
          audience: 'mcp',
        });
        const scopes = typeof payload['scope'] === 'string' ? payload['scope'].split(' ') : [];
        Object.assign(req, { auth: { token, clientId: 'cli', scopes, extra: { sub: payload.sub } } });
        next();
      } catch {
        res.status(401).set('WWW-Authenticate', 'Bearer error="invalid_token"').end();
      }
    });
    mount(app, whoServer());
    const sign = (subject: string): Promise<string> =>
      new SignJWT({ scope: 'mcp:read' })
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer('https://issuer.example')
        .setAudience('mcp')
        .setSubject(subject)
        .setExpirationTime('1m')
        .sign(privateKey);
    return { url: `${await listen(app)}/mcp`, sign };
  }

  const whole = (app: express.Express, server: MCPServer): void => {
    app.all('/mcp', (req, res) => {
      const url = new URL(req.url, `http://${req.headers.host}`);
      return server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
  };
  const mounted = (app: express.Express, server: MCPServer): void => {
    app.use('/mcp', (req, res) => {
      const url = new URL(req.url, `http://${req.headers.host}`);
      return server.startHTTP({ url, httpPath: '/mcp', req, res });
    });
  };

  for (const [name, mount] of Object.entries({ 'app.all': whole, 'app.use': mounted })) {
    verifies(
      ['S175', 'S174', 'X34', 'S149'],
      `tools know the caller, with the body parsed before, through ${name}`,
      async () => {
        const { url, sign } = await start(mount);
        const authorization = `Bearer ${await sign('ada')}`;
        await using client = openClient({ s: { url, requestInit: { headers: { authorization } } } });
        const answer = textOf(await (await executeOf(client, 's_who'))({}));
        expect(JSON.parse(answer)).toMatchObject({
          clientId: 'cli',
          scopes: ['mcp:read'],
          extra: { sub: 'ada' },
        });
      },
    );
  }

  verifies(['S175', 'X01'], 'a client without a token is told that it needs one', async () => {
    const { url } = await start(whole);
    await using client = openClient({ s: { url } });
    expect(await rejection(client.listTools())).toMatchObject({
      code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED',
      serverName: 's',
      httpStatus: 401,
    });
    expect(client.getServerStatus()['s']?.state).toBe('needs-auth');
  });
});

verifies(['S168', 'D13'], 'a runtime that has nothing but Request and Response serves tools', async () => {
  const server = whoServer();
  const handler = (request: Request): Promise<Response> =>
    server.fetch(request, { authInfo: { clientId: 'edge' }, options: { serverless: true } });
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'who', arguments: {} } };
  const response = await handler(
    new Request('https://edge.example/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
    }),
  );
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    id: 7,
    result: { content: [{ type: 'text', text: '{"clientId":"edge"}' }] },
  });
});
