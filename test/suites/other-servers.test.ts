/** Our client against servers built with packages of other people, over every transport they have. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MastraMCPServerDefinition, MCPClient } from '../../src/client/index.ts';
import { openClient, textOf } from '../support/client.ts';
import { ensureForeign } from '../support/foreign.ts';
import { startServerFile, type ServerFile } from '../support/server-file.ts';

const foreign = await ensureForeign();
const SERVER = 'fixtures/foreign-server.ts';

describe.skipIf(foreign === undefined).each(['fastmcp', 'published', 'sdk'])('the client and %s', maker => {
  let server: ServerFile;

  beforeAll(async () => {
    server = await startServerFile(`../suites/${SERVER}`, [maker, 'http']);
  });

  afterAll(() => server?.[Symbol.asyncDispose]());

  describe.each(['stdio', 'http', 'sse'] as const)('over %s', wire => {
    let client: MCPClient;

    beforeAll(() => {
      const script = fileURLToPath(new URL(SERVER, import.meta.url));
      const [http = '', sse = ''] = server.urls;
      const servers: Readonly<Record<typeof wire, MastraMCPServerDefinition>> = {
        stdio: {
          command: process.execPath,
          args: ['--import', 'tsx', script, maker, 'stdio'],
          stderr: 'ignore',
          connectTimeout: 30_000,
        },
        http: { url: http },
        // MCPServer 1.18.0 opens its old event stream for a POST as well, so nothing says which transport it speaks.
        sse: { url: sse, transport: maker === 'published' ? 'sse' : 'auto' },
      };
      client = openClient({ s: servers[wire] });
    });

    afterAll(() => client.disconnect());

    test('lists and calls tools', async () => {
      const { s: tools, ...others } = await client.listToolsets();
      expect(others).toEqual({});
      expect(Object.keys(tools ?? {}).toSorted()).toEqual(['add', 'ask', 'steps']);
      expect(textOf(await tools?.['add']?.execute({ a: 2, b: 3 }))).toBe('5');
      expect(client.getServerStatus()['s']).toMatchObject({
        state: 'ready',
        transport: wire,
        serverInfo: { name: maker },
      });
    });

    test('lists and reads resources', async () => {
      expect(await client.resources.list()).toMatchObject({
        s: [{ uri: 'foreign://readme', name: 'Readme', mimeType: 'text/plain' }],
      });
      expect(await client.resources.templates()).toMatchObject({
        s: [{ uriTemplate: 'foreign://users/{id}' }],
      });
      expect(await client.resources.read('s', 'foreign://readme')).toMatchObject({
        contents: [{ uri: 'foreign://readme', text: '# Foreign' }],
      });
    });

    // MCPServer 1.18.0 reads only what it lists.
    test.skipIf(maker === 'published')(
      'reads what a template stands for (1.18.0 reads only what it lists)',
      async () => {
        expect(await client.resources.read('s', 'foreign://users/7')).toMatchObject({
          contents: [{ text: 'user 7' }],
        });
      },
    );

    test('lists and fills in prompts', async () => {
      expect(await client.prompts.list()).toMatchObject({
        s: [{ name: 'greet', arguments: [{ name: 'who', required: true }] }],
      });
      const { prompt, messages } = await client.prompts.get({
        serverName: 's',
        name: 'greet',
        args: { who: 'Ada' },
      });
      expect(prompt.name).toBe('greet');
      expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hello to Ada' } }]);
    });

    test.skipIf(maker === 'published')('completes arguments (1.18.0 completes nothing)', async () => {
      const ref = { type: 'ref/prompt', name: 'greet' } as const;
      const argument = { name: 'who', value: 'A' };
      const { values } = await client.completions.complete({ serverName: 's', ref, argument });
      expect(values).toEqual(['Ada', 'Alan']);
    });

    test('answers elicitations and hears of progress', async () => {
      const { s_ask: ask, s_steps: steps } = await client.listTools();
      expect(textOf(await ask?.execute({}))).toBe('decline: undefined');
      await client.elicitation.onRequest('s', ({ message }) => ({
        action: 'accept',
        content: { colour: message === 'Which colour?' ? 'red' : 'none' },
      }));
      expect(textOf(await ask?.execute({}))).toBe('accept: red');
      const progress: number[] = [];
      await client.progress.onUpdate('s', update => void progress.push(update.progress));
      expect(textOf(await steps?.execute({}))).toBe('2 steps');
      expect(progress).toEqual([1, 2]);
    });
  });
});
