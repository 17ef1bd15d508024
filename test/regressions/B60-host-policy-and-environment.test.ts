import { describe, expect } from 'vitest';
import { MCPClient, MCPOAuthClientProvider, type MastraFetchLike } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { messageOf, rpcResult, startHttp } from '../support/http-server.ts';
import { startLegacySse } from '../support/legacy-sse-server.ts';
import { serverProgram } from '../support/node-program.ts';

const allowedHosts = ['mcp.example.com'];

interface World {
  readonly fetch: MastraFetchLike;
  /** Hosts that were contacted, in order. */
  readonly hosts: string[];
}

/** A world without a network: every host answers as an MCP server, except for what is given here by URL. */
function world(answers: Readonly<Record<string, () => Response>> = {}): World {
  const hosts: string[] = [];
  return {
    hosts,
    fetch: async (url, init) => {
      const { host, href } = new URL(url);
      hosts.push(host);
      const answer = answers[href];
      if (answer !== undefined) return answer();
      if (init?.method !== 'POST') return new Response(null, { status: 405 });
      const result = rpcResult(messageOf(init));
      return result === undefined ? new Response(null, { status: 202 }) : Response.json(result);
    },
  };
}

describe('with allowedHosts: ["mcp.example.com"]', () => {
  for (const [url, host] of [
    ['https://evil.example.com/mcp', 'evil.example.com'],
    ['https://example.com/mcp', 'example.com'],
    ['https://mcp.example.com.evil.test/mcp', 'mcp.example.com.evil.test'],
    ['https://mcp.example.com./mcp', 'mcp.example.com.'],
    ['https://mcp.example.com:8443/mcp', 'mcp.example.com:8443'],
    ['https://evil.test/mcp.example.com', 'evil.test'],
    ['https://[::1]/mcp', '[::1]'],
    ['https://[::ffff:127.0.0.1]/mcp', '[::ffff:7f00:1]'],
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254'],
  ] as const) {
    verifies(['B60', 'S034', 'S036'], `${url} is refused by name before anything is sent`, async () => {
      const { fetch, hosts } = world();
      await using client = openClient({ shop: { url, allowedHosts, fetch } });
      const error = await rejection(client.ping('shop'));
      expect(error).toMatchObject({ code: 'MCP_CLIENT_HOST_NOT_ALLOWED', host, mayHaveExecuted: false });
      expect(error.message).toContain(JSON.stringify(host));
      expect(error.message).toContain('"mcp.example.com"');
      expect(hosts).toEqual([]);
    });
  }

  for (const url of [
    'https://MCP.Example.COM/mcp',
    'https://mcp.example.com:443/mcp',
    'http://mcp.example.com/mcp',
  ]) {
    verifies(['B60', 'S034'], `${url} is the listed host`, async () => {
      const { fetch, hosts } = world();
      await using client = openClient({ shop: { url, allowedHosts, fetch } });
      await client.ping('shop');
      expect(new Set(hosts)).toEqual(new Set(['mcp.example.com']));
    });
  }

  verifies(['B60', 'S010'], 'a URL with somebody else behind the @ is no URL of a server', () => {
    for (const url of ['https://mcp.example.com@evil.test/', 'https://user:secret@mcp.example.com/']) {
      expect(() => new MCPClient({ servers: { shop: { url, allowedHosts } } })).toThrow(/credentials/);
    }
  });

  verifies(['B60', 'S036', 'S037'], 'a redirect away from it is refused, for POST and GET', async () => {
    const away = (): Response =>
      new Response(null, { status: 307, headers: { location: 'https://evil.test/mcp' } });
    for (const transport of ['http', 'sse'] as const) {
      const { fetch, hosts } = world({ 'https://mcp.example.com/mcp': away });
      const url = 'https://mcp.example.com/mcp';
      await using client = openClient({ shop: { url, transport, allowedHosts, fetch } });
      expect(await rejection(client.ping('shop'))).toMatchObject({
        code: 'MCP_CLIENT_HOST_NOT_ALLOWED',
        host: 'evil.test',
      });
      expect(hosts).toEqual(['mcp.example.com']);
    }
  });
});

verifies('B60', 'the endpoint that an event stream names is no way to another host', async () => {
  await using inner = await startHttp((_, response) => response.writeHead(202).end());
  await using server = await startLegacySse({
    onGet: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${inner.origin}/messages\n\n`);
    },
  });
  for (const hosts of [undefined, [new URL(server.origin).host]]) {
    await using client = openClient({
      shop: { url: `${server.origin}/sse`, transport: 'sse', allowedHosts: hosts },
    });
    expect(await rejection(client.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
  }
  expect(inner.requests).toEqual([]);
});

describe('OAuth', () => {
  const home = 'https://mcp.example.com';
  const evil = 'https://evil.test';
  const metadata = {
    issuer: home,
    authorization_endpoint: `${home}/authorize`,
    token_endpoint: `${home}/token`,
    registration_endpoint: `${home}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
  const wellKnown = `${home}/.well-known/oauth-protected-resource`;
  const servers = `${home}/.well-known/oauth-authorization-server`;
  const resource = (issuer: string) => (): Response =>
    Response.json({ resource: `${home}/mcp`, authorization_servers: [issuer] });
  const refuse = (challenge: string) => (): Response =>
    new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  const usual: Readonly<Record<string, () => Response>> = {
    [`${home}/mcp`]: refuse('Bearer'),
    [`${wellKnown}/mcp`]: resource(home),
    [servers]: () => Response.json(metadata),
    [`${home}/register`]: () => Response.json({ client_id: 'c', redirect_uris: [] }, { status: 201 }),
    [`${home}/token`]: () => Response.json({ access_token: 't', token_type: 'Bearer' }),
  };
  const naming = (named: Partial<typeof metadata>) => ({
    [servers]: () => Response.json({ ...metadata, ...named }),
  });
  const lures: Readonly<Record<string, Readonly<Record<string, () => Response>>>> = {
    'its metadata, in the challenge': { [`${home}/mcp`]: refuse(`Bearer resource_metadata="${evil}/meta"`) },
    'its authorization server': { [`${wellKnown}/mcp`]: resource(evil) },
    'a redirect of its metadata': {
      [`${wellKnown}/mcp`]: () => new Response(null, { status: 302, headers: { location: `${evil}/meta` } }),
    },
    'the registration endpoint': naming({ registration_endpoint: `${evil}/register` }),
    'the token endpoint': naming({ token_endpoint: `${evil}/token` }),
  };

  for (const [what, lure] of Object.entries(lures)) {
    verifies(['B60', 'S041'], `reaches no other host when the server names one as ${what}`, async () => {
      const { fetch, hosts } = world({ ...usual, ...lure });
      const redirectUrl = 'http://127.0.0.1:0/callback';
      const authProvider = new MCPOAuthClientProvider({
        redirectUrl,
        clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Shop' },
        onRedirectToAuthorization(url) {
          const back = new URL(url.searchParams.get('redirect_uri') ?? '');
          back.searchParams.set('code', 'code');
          back.searchParams.set('state', url.searchParams.get('state') ?? '');
          void globalThis.fetch(back).catch(() => undefined);
        },
      });
      await using client = openClient({ shop: { url: `${home}/mcp`, allowedHosts, fetch, authProvider } });
      const error = await rejection(client.authenticate('shop', { timeoutMs: 5000 }));
      // A redirect stands for a document that is not there: the login goes on without it, and the server still refuses.
      expect(error).toMatchObject(
        what === 'a redirect of its metadata'
          ? { code: 'MCP_CLIENT_AUTHORIZATION_REQUIRED' }
          : { code: 'MCP_CLIENT_HOST_NOT_ALLOWED', host: 'evil.test', mayHaveExecuted: false },
      );
      expect(hosts.length).toBeGreaterThan(0);
      expect(hosts.filter(host => host !== 'mcp.example.com')).toEqual([]);
    });
  }
});

verifies(
  ['B60', 'P1', 'S017'],
  'inheritDefaultEnv: false gives a child exactly the given variables',
  async () => {
    const server = serverProgram('call = ({ id }) => answer(id, text(JSON.stringify(process.env)));');
    await using client = openClient({ shop: { ...server, env: { ONLY: 'this' }, inheritDefaultEnv: false } });
    expect(JSON.parse(textOf(await (await executeOf(client, 'shop_echo'))({})))).toEqual({ ONLY: 'this' });
  },
);
