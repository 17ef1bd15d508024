import { expect } from 'vitest';
import type { MCPClient, MCPToolDefinition, RemoteTool } from '../../src/client/index.ts';
import { plainJsonSchemaOf } from '../../src/shared/schema.ts';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { startScripted, type ScriptedServer } from '../support/scripted-server.ts';

interface Shop extends ScriptedServer {
  /** Says something else about its tool from now on. */
  change(): void;
}

const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

async function startShop(): Promise<Shop> {
  let unit: 'kg' | 'lb' = 'kg';
  const server = await startScripted({
    answers: {
      'tools/list': () => ({
        tools: [
          {
            name: 'weigh',
            description: `Weighs in ${unit}`,
            inputSchema: { type: 'object', properties: { [unit]: { type: 'number' } }, required: [unit] },
            outputSchema,
          },
        ],
      }),
      'tools/call': ({ arguments: sent }) => {
        const { kg, lb } = sent as { kg?: number; lb?: number };
        const structuredContent = kg === 13 ? { price: 'bad luck' } : { price: (kg ?? lb ?? 0) * 2 };
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
      },
    },
  });
  return Object.assign(server, { change: () => void (unit = 'lb') });
}

type Definitions = Record<string, Record<string, MCPToolDefinition>>;

/** The definitions of a server, through JSON as a cache would keep them. */
async function save(server: Shop): Promise<Definitions> {
  await using client = openClient({ shop: { url: server.url } });
  return JSON.parse(JSON.stringify(await client.listToolDefinitions())) as Definitions;
}

const weighOf = (tools: Record<string, RemoteTool>): RemoteTool => {
  const { shop_weigh: weigh } = tools;
  if (weigh === undefined) throw new Error('no tool');
  return weigh;
};

const open = (server: Shop, options: { readonly onToolChanged?: 'block' } = {}): MCPClient =>
  openClient({ shop: { url: server.url, ...options } });

verifies(['B85', 'S248'], 'ten first calls at once share one connect, and each runs once', async () => {
  await using server = await startShop();
  const definitions = await save(server);
  const before = server.count('POST', 'initialize');
  await using client = open(server);
  const weigh = weighOf(client.toolsFromDefinitions({ definitions }));
  expect(client.getServerStatus()['shop']?.state).toBe('idle');
  const results = await Promise.all(Array.from({ length: 10 }, (_, kg) => weigh.execute({ kg })));
  expect(results).toEqual(Array.from({ length: 10 }, (_, kg) => ({ price: kg * 2 })));
  expect(server.count('POST', 'initialize')).toBe(before + 1);
  expect(server.received('tools/call')).toHaveLength(10);
});

verifies(
  'B85',
  'a rebuilt tool is what a listed one is: schemas, checks of arguments and of results',
  async () => {
    await using server = await startShop();
    await using client = open(server);
    const listed = weighOf(await client.listTools());
    await using other = open(server);
    const rebuilt = weighOf(other.toolsFromDefinitions({ definitions: await save(server) }));
    const facts = (tool: RemoteTool): unknown => ({
      id: tool.id,
      title: tool.title,
      description: tool.description,
      input: plainJsonSchemaOf(tool.inputSchema),
      output: plainJsonSchemaOf(tool.outputSchema),
      metadata: tool.mcpMetadata,
    });
    expect(facts(rebuilt)).toEqual(facts(listed));
    for (const input of [{ kg: 'heavy' }, {}, { kg: 13 }, { kg: 1 }]) {
      expect(await rebuilt.execute(input)).toEqual(await listed.execute(input));
    }
    expect(await rebuilt.execute({ kg: 13 })).toMatchObject({ error: true });
  },
);

verifies(
  'B85',
  'a schema that changed meanwhile is noticed: by a warning, a handler, and a refusal on request',
  async () => {
    await using server = await startShop();
    const definitions = await save(server);
    server.change();

    await using client = open(server);
    const { logger, lines } = recordingLogger();
    client.__setLogger(logger);
    const changes: unknown[] = [];
    await client.tools.onDefinitionChanged('shop', change => void changes.push(change));
    const stale = weighOf(client.toolsFromDefinitions({ definitions }));
    // It still is what it was built from, and the server decides.
    expect(await stale.execute({ kg: 3 })).toEqual({ price: 6 });
    const fresh = weighOf(await client.listTools());
    expect(plainJsonSchemaOf(fresh.inputSchema)).toMatchObject({ required: ['lb'] });
    expect(lines.filter(line => line.startsWith('warn'))).toEqual([
      expect.stringContaining('"weigh" of server "shop"'),
    ]);
    expect(changes).toMatchObject([
      {
        toolName: 'weigh',
        previousDigest: stale.mcpMetadata?.['digest' as never],
        digest: fresh.mcpMetadata?.['digest' as never],
      },
    ]);

    const before = server.received('tools/call').length;
    await using strict = open(server, { onToolChanged: 'block' });
    const refused: unknown = await weighOf(strict.toolsFromDefinitions({ definitions }))
      .execute({ kg: 3 })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'MCP_CLIENT_TOOL_CHANGED',
      toolName: 'weigh',
      mayHaveExecuted: false,
    });
    expect(server.received('tools/call')).toHaveLength(before);
  },
);
