/** Everything beside tools that a client can ask of a server, over every transport. */
import { describe, expect } from 'vitest';
import type { MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, textOf } from '../support/client.ts';
import { until } from '../support/processes.ts';
import { TWO_WAY, wire, WIRES } from '../support/wire.ts';

/** Some stories start the server three times, as a process of its own where the transport is stdio. */
const LIMIT_MS = 60_000;

const touch = async (client: MCPClient, what: 'readme' | 'lists' | 'log' = 'readme'): Promise<unknown> =>
  (await executeOf(client, 'fixture_touch'))({ what });

/** Calls `tell` until it has been heard: a server cannot know whether the client listens already. */
async function untilHeard(
  client: MCPClient,
  what: 'readme' | 'lists' | 'log',
  heard: () => boolean,
): Promise<void> {
  await until(`the client hears of ${what}`, async () => {
    await touch(client, what);
    return heard();
  });
}

describe.each(WIRES)('over %s', kind => {
  verifies(['S109', 'S110', 'S111', 'S112', 'D17'], 'a client lists and reads resources', async () => {
    await using joined = await wire(kind);
    const { resources } = joined.client;
    expect(await resources.list()).toMatchObject({
      fixture: [
        { uri: 'fixture://readme', name: 'Readme', mimeType: 'text/markdown' },
        { uri: 'fixture://dot' },
      ],
    });
    expect(await resources.templates()).toMatchObject({
      fixture: [{ uriTemplate: 'fixture://users/{id}', name: 'User' }],
    });
    const { contents } = await resources.read('fixture', 'fixture://readme');
    expect(contents).toEqual([{ uri: 'fixture://readme', mimeType: 'text/markdown', text: '# Fixture' }]);
    expect(await resources.read('fixture', 'fixture://users/7')).toMatchObject({
      contents: [{ text: '{"id":"7"}' }],
    });
    expect(await resources.read('fixture', 'fixture://dot')).toMatchObject({
      contents: [{ blob: 'iVBORw0KGgo=' }],
    });
    await expect(resources.read('fixture', 'fixture://nothing')).rejects.toMatchObject({
      code: 'MCP_CLIENT_REQUEST_FAILED',
      rpcCode: -32002,
    });
  });

  verifies(
    ['S124', 'S125', 'X09', 'D17'],
    'a client lists, fills in and completes prompts, in their versions',
    async () => {
      await using joined = await wire(kind);
      const { prompts, completions } = joined.client;
      const { fixture } = await prompts.list();
      expect(fixture).toMatchObject([
        { name: 'greet', arguments: [{ name: 'who', required: true }] },
        { name: 'part', version: 'v1' },
        { name: 'part@v2', version: 'v2' },
      ]);
      expect(await prompts.get({ serverName: 'fixture', name: 'greet', args: { who: 'Ada' } })).toEqual({
        description: 'Greets somebody',
        prompt: { name: 'greet', description: 'Greets somebody' },
        messages: [{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }],
      });
      const second = await prompts.get({ serverName: 'fixture', name: 'part', version: 'v2' });
      expect(second.prompt).toEqual({ name: 'part', description: 'Says goodbye warmly', version: 'v2' });
      expect(second.messages).toMatchObject([{ content: { text: 'Say goodbye, v2' } }]);
      const completion = await completions.complete({
        serverName: 'fixture',
        ref: { type: 'ref/prompt', name: 'greet' },
        argument: { name: 'who', value: 'A' },
      });
      expect(completion.values).toEqual(['Ada', 'Alan']);
    },
  );
});

describe.each(TWO_WAY)('over %s', kind => {
  verifies(
    ['S113', 'S114', 'S115'],
    'a client hears of resources it subscribed to, over reconnects, until it unsubscribes',
    async () => {
      await using joined = await wire(kind);
      const { client } = joined;
      const updated: string[] = [];
      await client.resources.onUpdated('fixture', ({ uri }) => void updated.push(uri));
      expect(await client.resources.subscribe('fixture', 'fixture://readme')).toEqual({});
      await untilHeard(client, 'readme', () => updated.length > 0);
      await client.reconnectServer('fixture');
      updated.length = 0;
      await untilHeard(client, 'readme', () => updated.length > 0);
      expect(new Set(updated)).toEqual(new Set(['fixture://readme']));

      expect(await client.resources.unsubscribe('fixture', 'fixture://readme')).toEqual({});
      updated.length = 0;
      let lists = 0;
      await client.resources.onListChanged('fixture', () => void (lists += 1));
      await touch(client, 'readme');
      // What was told before has arrived when this has.
      await untilHeard(client, 'lists', () => lists > 0);
      expect(updated).toEqual([]);
    },
    LIMIT_MS,
  );

  verifies(
    ['S116', 'S126', 'S127'],
    'a client hears that lists changed, with every handler until it is removed',
    async () => {
      await using joined = await wire(kind);
      const { client } = joined;
      const heard: string[] = [];
      const note = (what: string) => () => void heard.push(what);
      await client.resources.onListChanged('fixture', note('resources'));
      await client.prompts.onListChanged('fixture', note('prompts'));
      const stop = await client.tools.onListChanged('fixture', note('removed'));
      stop();
      await client.tools.onListChanged('fixture', () => Promise.reject(new Error('refused')));
      await client.tools.onListChanged('fixture', note('tools'));
      await untilHeard(client, 'lists', () => heard.includes('tools'));
      expect(heard.slice(0, 3)).toEqual(['resources', 'prompts', 'tools']);
      expect(heard).not.toContain('removed');
    },
    LIMIT_MS,
  );

  verifies(
    ['D17', 'X08'],
    'a tool asks for a page, the model and the folders of a client, whose handlers come at any time',
    async () => {
      await using joined = await wire(kind);
      const { client } = joined;
      await client.elicitation.onRequest('fixture', request =>
        request.mode === 'url' && request.url.startsWith('https://')
          ? { action: 'accept' }
          : { action: 'decline' },
      );
      const run = async (name: string, input: object = {}): Promise<string> =>
        textOf(await (await executeOf(client, `fixture_${name}`))(input));
      expect(await run('page', { url: 'https://example.com/login' })).toBe('accept');
      await expect(run('think')).rejects.toThrow(/sampling/);

      await client.sampling.onRequest('fixture', ({ messages }) => ({
        role: 'assistant',
        model: 'm',
        content: { type: 'text', text: `42, to ${JSON.stringify(messages[0]?.content)}` },
      }));
      await client.roots.onRequest('fixture', ({ serverName }) => [{ uri: `file:///srv/${serverName}` }]);
      expect(await run('think')).toContain('6 times 7');
      expect(await run('folders')).toBe('file:///srv/fixture');
    },
    LIMIT_MS,
  );

  verifies(
    ['S046', 'S049'],
    'a client sets the level of logs, which holds over reconnects',
    async () => {
      const logged: string[] = [];
      await using joined = await wire(kind, {
        client: { logger: ({ level, details }) => void logged.push(`${level} ${String(details?.['data'])}`) },
      });
      const { client } = joined;
      await client.logging.setLevel('fixture', 'warning');
      await untilHeard(client, 'log', () => logged.includes('error loud'));
      await client.reconnectServer('fixture');
      logged.length = 0;
      await untilHeard(client, 'log', () => logged.includes('error loud'));
      expect(logged).not.toContain('info quiet');
    },
    LIMIT_MS,
  );
});
