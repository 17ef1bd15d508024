import { expect, test } from 'vitest';
import { openClient, rejection } from '../support/client.ts';
import { answerPlainly, startHttp } from '../support/http-server.ts';

test('a host that is not allowed is never contacted: not at first, not by fallback, not on the next use', async () => {
  await using server = await startHttp(answerPlainly);
  await using client = openClient({ shop: { url: `${server.origin}/mcp`, allowedHosts: ['shop.test'] } });
  for (let use = 0; use < 2; use += 1) {
    expect(await rejection(client.ping('shop'))).toMatchObject({
      code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
      serverName: 'shop',
      host: new URL(server.origin).host,
      mayHaveExecuted: false,
    });
  }
  expect(server.requests).toHaveLength(0);
});

test('a redirect to a host that is not allowed is not followed', async () => {
  await using inner = await startHttp(answerPlainly);
  await using server = await startHttp((_, response) =>
    response.writeHead(307, { location: `${inner.origin}/mcp` }).end(),
  );
  const { host } = new URL(server.origin);
  await using client = openClient({ shop: { url: `${server.origin}/mcp`, allowedHosts: [host] } });
  expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED' });
  expect(server.requests).toHaveLength(1);
  expect(inner.requests).toHaveLength(0);
});

test('a redirect loop ends after six requests with a typed error and nothing else is tried', async () => {
  await using server = await startHttp((_, response) => response.writeHead(307, { location: '/mcp' }).end());
  await using client = openClient({ shop: { url: `${server.origin}/mcp` } });
  expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_REDIRECT_REFUSED' });
  expect(server.requests).toHaveLength(6);
});

test('headers of requestInit do not follow a redirect to another listed host', async () => {
  await using there = await startHttp(answerPlainly);
  await using here = await startHttp((_, response) =>
    response.writeHead(307, { location: `${there.origin}/mcp` }).end(),
  );
  const headers = { authorization: 'Bearer t', 'x-api-key': 'k', cookie: 'c=1' };
  await using client = openClient({
    shop: {
      url: `${here.origin}/mcp`,
      allowedHosts: [here, there].map(({ origin }) => new URL(origin).host),
      requestInit: { headers },
    },
  });
  await client.ping('shop');
  expect(here.requests.every(request => request.headers['x-api-key'] === 'k')).toBe(true);
  for (const name of Object.keys(headers)) {
    expect(there.requests.filter(request => request.headers[name] !== undefined)).toEqual([]);
  }
});
