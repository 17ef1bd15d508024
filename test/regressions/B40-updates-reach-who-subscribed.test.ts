import { expect } from 'vitest';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { connectRaw } from '../server/http-harness.ts';
import type { RawClient, Received } from '../server/http-harness.ts';
import { until } from '../support/processes.ts';
import { serveHttp } from '../support/serve-http.ts';

interface HttpSession {
  readonly id: string;
  readonly headers: Record<string, string>;
  /** Its standalone stream. */
  readonly stream: Received;
  /** Sends a request and waits for its answer. */
  call(method: string, params: object): Promise<unknown>;
}

async function openSession(client: RawClient): Promise<HttpSession> {
  const headers = await client.open();
  const stream = await client.send({ method: 'GET', headers });
  return {
    id: headers['mcp-session-id'] ?? '',
    headers,
    stream,
    call: async (method, params) => {
      const answer = await client.post({ jsonrpc: '2.0', id: 'x', method, params }, headers);
      return (await answer.json()).result;
    },
  };
}

/** What a session was told up to and with the change of the list. */
async function heard({ stream }: HttpSession): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const { method = '', params } = await stream.message();
    all.push([method.slice('notifications/resources/'.length), params?.['uri']].join(' ').trim());
    if (all.at(-1) === 'list_changed') return all;
  }
}

verifies(
  ['B40', 'S191', 'S192', 'S209'],
  'two sessions have subscriptions of their own, both hear of the list, and an ended one is told nothing',
  async () => {
    await using server = new MCPServer({
      name: 'S',
      version: '1.0.0',
      resources: {
        listResources: () => ['r://1', 'r://2'].map(uri => ({ uri, name: uri })),
        getResourceContent: ({ uri }) => ({ text: uri }),
      },
    });
    await using host = await serveHttp(server);
    using client = connectRaw(Number(host.url.port));
    const a = await openSession(client);
    const b = await openSession(client);

    expect(await a.call('resources/subscribe', { uri: 'r://1' })).toEqual({});
    await server.resources.notifyUpdated({ uri: 'r://1' });
    await server.resources.notifyUpdated({ uri: 'r://2' });
    expect(await b.call('resources/unsubscribe', { uri: 'r://1' })).toEqual({});
    await server.resources.notifyUpdated({ uri: 'r://1' });
    await server.resources.notifyListChanged();
    expect(await heard(a)).toEqual(['updated r://1', 'updated r://1', 'list_changed']);
    expect(await heard(b)).toEqual(['list_changed']);

    expect((await client.send({ method: 'DELETE', headers: a.headers })).status).toBe(200);
    await until('the session is gone', () => server.getStreamableHTTPTransport(a.id) === undefined);
    expect(await a.stream.event()).toBeUndefined();
    await server.resources.notifyUpdated({ uri: 'r://1' });
    await server.resources.notifyListChanged();
    expect(await heard(b)).toEqual(['list_changed']);
  },
);
