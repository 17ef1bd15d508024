/** Who may talk to a server over HTTP, and how much one client may cost. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
// #region options
import { InMemoryEventStore, MCPServer } from '../../src/index.ts';

const server = new MCPServer({
  id: 'public',
  name: 'Public',
  version: '1.0.0',
  allowedHosts: ['mcp.example.com', '127.0.0.1'], // behind a proxy: the names it forwards
  cors: { origins: ['https://app.example.com'] }, // pages that may call it from a browser
  limits: { maxBodyBytes: 64 * 1024, maxSessions: 500, maxSessionsPerUser: 5, sessionIdleMs: 10 * 60_000 },
});
// #endregion options

const { url } = await server.listen({ port: 0 });
const message = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

function send(
  method: string,
  headers: Record<string, string>,
  body: object = message,
): Promise<{ status: number | undefined; allowed: string | undefined }> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const sent = request(
      url,
      { method, headers: { accept, 'content-type': 'application/json', ...headers } },
      response => {
        response.resume();
        resolve({ status: response.statusCode, allowed: response.headers['access-control-allow-origin'] });
      },
    );
    sent.on('error', reject);
    sent.end(method === 'POST' ? JSON.stringify(body) : undefined);
  });
}

const app = 'https://app.example.com';
assert.deepEqual(await send('POST', {}), { status: 200, allowed: undefined });
assert.equal((await send('POST', { host: 'mcp.example.com' })).status, 200);
assert.equal((await send('POST', { host: 'evil.example' })).status, 403, 'DNS rebinding');
assert.equal(
  (await send('POST', { origin: 'https://evil.example' })).status,
  403,
  'a page of another origin',
);
assert.deepEqual(await send('POST', { origin: app }), { status: 200, allowed: app });
assert.deepEqual(await send('OPTIONS', { origin: app, 'access-control-request-method': 'POST' }), {
  status: 204,
  allowed: app,
});
assert.equal((await send('POST', {}, { ...message, padding: 'x'.repeat(64 * 1024) })).status, 413);
assert.equal((await send('POST', { 'content-type': 'text/plain' })).status, 415);
assert.equal((await send('PUT', {})).status, 405);
await server.close();

// #region resumable
// With an event store a client that lost its connection comes back for what it missed.
const options = { eventStore: new InMemoryEventStore(), retryInterval: 1000 };
// #endregion resumable
const resumable = new MCPServer({ id: 'resumable', name: 'Resumable', version: '1.0.0' });
const answer = await resumable.fetch(
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify(message),
  }),
  { options },
);
assert.match(await answer.text(), /^id: /, 'events carry ids to come back with');
await resumable.close();
