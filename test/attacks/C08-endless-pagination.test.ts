import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { openClient } from '../support/client.ts';
import { serverProgram } from '../support/node-program.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { startScripted } from '../support/scripted-server.ts';

/** Answers of which every one names a next page, each with a cursor of its own and `perPage` entries. */
function endless(key: string, perPage = 1): (params: Readonly<Record<string, unknown>>) => object {
  return ({ cursor }) => {
    const page = Number(cursor ?? 0);
    const entry = (at: number): object => {
      const name = `n${page}-${at}`;
      return {
        name,
        uri: `test://${name}`,
        uriTemplate: `test://${name}/{id}`,
        inputSchema: { type: 'object' },
      };
    };
    return {
      [key]: Array.from({ length: perPage }, (_, at) => entry(at)),
      nextCursor: String(page + 1),
    };
  };
}

verifies(
  ['C8', 'D16'],
  'a listing without end stops after 1,000 pages; what was read is kept, and the stop is reported',
  async () => {
    await using client = openClient({
      shop: serverProgram(`
        let pages = 0;
        list = ({ id }) => answer(id, { tools: [tool('n' + pages)], nextCursor: String(++pages) });
        call = ({ id }) => answer(id, text(String(pages)));`),
    });
    const { logger, lines } = recordingLogger();
    client.__setLogger(logger);
    const { tools, errors, errorDetails } = await client.listToolsWithErrors();
    expect(Object.keys(tools)).toHaveLength(1000);
    expect(errors).toEqual({});
    expect(errorDetails['shop']?.stopped).toBe('more than 1000 pages (maxPages)');
    expect(lines.filter(line => line.startsWith('warn') && line.includes('ended early'))).toHaveLength(1);
    expect(client.getServerStatus()['shop']).toMatchObject({ state: 'ready', toolCount: 1000 });
    // No page was asked for beyond, and the last of the tools is as good as the first.
    expect(await tools['shop_n999']?.execute({})).toMatchObject({ content: [{ text: '1000' }] });
  },
  60_000,
);

verifies(['C8', 'D16'], 'listTools() gives what was read as well, and never without a word', async () => {
  await using server = await startScripted({ answers: { 'tools/list': endless('tools') } });
  await using client = openClient({ shop: { url: server.url, openEventStream: false, maxPages: 5 } });
  const { logger, lines } = recordingLogger();
  client.__setLogger(logger);
  expect(Object.keys(await client.listTools())).toHaveLength(5);
  expect(lines.join('\n')).toMatch(/warn .*"shop" ended early: more than 5 pages/);
});

verifies(
  ['C8', 'D16'],
  'pages that are huge end at 100,000 entries, whatever maxPages says',
  async () => {
    await using server = await startScripted({ answers: { 'tools/list': endless('tools', 40_000) } });
    await using client = openClient({ shop: { url: server.url, openEventStream: false } });
    const { definitions, errorDetails } = await client.listToolDefinitionsWithErrors();
    expect(server.received('tools/list')).toHaveLength(3);
    expect(Object.keys(definitions['shop'] ?? {})).toHaveLength(120_000);
    expect(errorDetails['shop']?.stopped).toBe('more than 100000 entries');
  },
  120_000,
);

verifies(['C8', 'D16'], 'pages that come slowly end with the time of the listing', async () => {
  const next = endless('tools');
  await using server = await startScripted({
    answers: {
      'tools/list': async params => {
        await new Promise(resolve => setTimeout(resolve, 100));
        return next(params);
      },
    },
  });
  await using client = openClient({ shop: { url: server.url, openEventStream: false, timeout: 1500 } });
  const started = performance.now();
  const { tools, errorDetails } = await client.listToolsWithErrors();
  expect(performance.now() - started).toBeLessThan(6000);
  expect(Object.keys(tools).length).toBeGreaterThan(0);
  expect(errorDetails['shop']?.stopped).toMatch(/1500 ms|page \d+ failed/);
});

verifies(['C8', 'D16'], 'resources, templates and prompts are bounded and reported alike', async () => {
  await using server = await startScripted({
    answers: {
      'resources/list': endless('resources'),
      'resources/templates/list': endless('resourceTemplates'),
      'prompts/list': endless('prompts'),
    },
  });
  await using client = openClient({ shop: { url: server.url, openEventStream: false, maxPages: 7 } });
  const { resources, prompts } = client;
  for (const [listed, { errors, errorDetails }] of [
    await resources.listWithErrors().then(all => [all.resources, all] as const),
    await resources.templatesWithErrors().then(all => [all.templates, all] as const),
    await prompts.listWithErrors().then(all => [all.prompts, all] as const),
  ]) {
    expect(listed['shop']).toHaveLength(7);
    expect(errors).toEqual({});
    expect(errorDetails['shop']?.stopped).toBe('more than 7 pages (maxPages)');
  }
});
