/**
 * The client of the official scenarios: an MCPClient as a user would write it, with the documented API alone.
 *
 * The runner gives the address of its server as the last argument, the scenario in MCP_CONFORMANCE_SCENARIO and what the
 * scenario prepared in MCP_CONFORMANCE_CONTEXT. Ends with 1 when something that should work did not.
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  createClientCredentialsProvider,
  isMCPError,
  MCPClient,
  MCPOAuthClientProvider,
} from '../../src/index.ts';

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
}

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const { client_id: clientId = '', client_secret: clientSecret = '' } = context;
const LOGIN_LIMIT_MS = 20_000;
/** Logins for one operation; the client itself gives up later. */
const MAX_LOGINS = 2;

function toProvider(): OAuthClientProvider | undefined {
  if (scenario === 'auth/client-credentials-basic')
    return createClientCredentialsProvider({ clientId, clientSecret });
  if (scenario === 'auth/client-credentials-jwt') {
    const { private_key_pem: privateKey = '', signing_algorithm: algorithm } = context;
    return createClientCredentialsProvider({ clientId, privateKey, algorithm });
  }
  if (!scenario.startsWith('auth/')) return undefined;
  const redirectUrl = 'http://127.0.0.1:0/callback';
  return new MCPOAuthClientProvider({
    redirectUrl,
    clientMetadata: {
      client_name: 'Conformance client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(scenario === 'auth/pre-registration'
      ? { clientInformation: { client_id: clientId, client_secret: clientSecret } }
      : {}),
    // The user of the scenarios agrees at once: the page redirects to the callback.
    onRedirectToAuthorization: async page => void (await fetch(page)),
  });
}

const authProvider = toProvider();
const mcp = new MCPClient({
  servers: {
    s: {
      url,
      ...(authProvider === undefined ? {} : { authProvider }),
      capabilities: { elicitation: { form: { applyDefaults: true } } },
    },
  },
});
await mcp.elicitation.onRequest('s', async () => ({ action: 'accept', content: {} }));

/** Runs an operation; logs in and runs it again where the server asks for it. */
async function withLogin<T>(operation: () => Promise<T>): Promise<T> {
  for (let logins = 0; ; logins += 1) {
    try {
      return await operation();
    } catch (error) {
      const needsLogin = isMCPError(error) && error.code === 'MCP_CLIENT_AUTHORIZATION_REQUIRED';
      if (!needsLogin || logins === MAX_LOGINS) throw error;
      await mcp.authenticate('s', { timeoutMs: LOGIN_LIMIT_MS });
    }
  }
}

async function call(name: string, input: unknown): Promise<void> {
  const tool = (await mcp.listToolsets())['s']?.[name];
  if (tool === undefined) throw new Error(`The server has no tool ${name}`);
  await (tool.execute as (input: unknown, context: object) => Promise<unknown>)(input, {});
}

try {
  const toolsets = await withLogin(() => mcp.listToolsets());
  const [first] = Object.keys(toolsets['s'] ?? {});
  if (scenario === 'json-schema-2020-12-preservation') {
    const definitions = await mcp.listToolDefinitions();
    await call('json_schema_echo', { schema: definitions['s']?.['json_schema_2020_12_tool']?.inputSchema });
  } else if (first !== undefined && scenario !== 'initialize') {
    await withLogin(() => call(first, first === 'add_numbers' ? { a: 5, b: 3 } : {}));
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await mcp.disconnect();
}
