import { readFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { noopLogger } from '@mastra/core/logger';
import { afterEach, describe, expect, test } from 'vitest';
import type { StdioServerDefinition } from '../../src/client/options.ts';
import { resolveClientOptions } from '../../src/client/resolve-options.ts';
import { TransportFailure } from '../../src/client/connection/transport-failure.ts';
import { openStdio } from '../../src/client/connection/transports/stdio.ts';
import type { OpenTransport } from '../../src/client/connection/transports/open-transport.ts';
import { verifies } from '../requirements/requirements.ts';
import { until } from '../support/processes.ts';
import { nodeProgram } from '../support/node-program.ts';

/** A transport with what came out of it. */
class Observed {
  readonly open: OpenTransport;
  readonly messages: JSONRPCMessage[] = [];
  readonly logs: string[] = [];
  closed = 0;

  constructor(definition: StdioServerDefinition) {
    const resolved = resolveClientOptions({ servers: { probe: definition } }).servers[0];
    if (resolved?.kind !== 'stdio') throw new Error('not a stdio server');
    const logger = { ...noopLogger, debug: (message: string) => void this.logs.push(message) };
    this.open = openStdio(resolved, { serverName: 'probe', logger: () => logger });
    this.open.transport.onmessage = message => this.messages.push(message);
    this.open.transport.onclose = () => (this.closed += 1);
    opened.push(this.open);
  }

  send(id: number): Promise<void> {
    return this.open.transport.send({ jsonrpc: '2.0', id, method: 'ping' });
  }
}

const opened: OpenTransport[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(open => open.transport.close()));
});

async function start(source: string, options: Partial<StdioServerDefinition> = {}): Promise<Observed> {
  const observed = new Observed({ ...nodeProgram(source), stderr: 'ignore', ...options });
  await observed.open.transport.start();
  return observed;
}

const result = (id: number | string, value: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: value });
const says = (...lines: string[]): string =>
  `process.stdout.write(${JSON.stringify(lines.map(line => `${line}\n`).join(''))});`;
const stays = 'process.stdin.resume();';
const echoes = `require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\n');
});`;

describe('messages', () => {
  test('go out as one line each and come back in order', async () => {
    const observed = await start(echoes);
    await Promise.all(Array.from({ length: 100 }, (_, id) => observed.send(id)));
    await until('all came back', () => observed.messages.length === 100);
    expect(observed.messages.map(message => 'id' in message && message.id)).toEqual([...Array(100).keys()]);
  });

  verifies('B74', 'are found among banners, blank lines, log objects, broken JSON and CRLF', async () => {
    const observed = await start(
      says(
        'My server v1',
        '',
        '{"level":"info"}',
        '[1,2,3]',
        'null',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
        '{"jsonrpc":"2.0"',
        `${result(1)}\r`,
        `  ${result('two')}`,
        `[${result(3)},{"jsonrpc":"2.0","method":"notifications/message","params":{}},7]`,
      ) + stays,
    );
    await until('they came', () => observed.messages.length === 4);
    expect(observed.messages).toMatchObject([
      { id: 1 },
      { id: 'two' },
      { id: 3 },
      { method: 'notifications/message' },
    ]);
    expect(observed.open.sideOutput?.()).toBe('its standard output had "My server v1"');
  });

  verifies('B74', 'keep characters that were cut between two writes', async () => {
    const observed = await start(`
      const bytes = Buffer.from(${JSON.stringify(`${result(1, { text: 'grüß \u{1F600}' })}\n`)});
      const cut = bytes.indexOf(Buffer.from('\u{1F600}')) + 2;
      process.stdout.write(bytes.subarray(0, cut), () => setTimeout(() => process.stdout.write(bytes.subarray(cut)), 50));
      ${stays}`);
    await until('it came', () => observed.messages.length === 1);
    expect(observed.messages[0]).toMatchObject({ result: { text: 'grüß \u{1F600}' } });
  });

  verifies(
    ['P5', 'R10'],
    'survive a thousand lines and 12 MB of garbage; a few lines a second are logged',
    async () => {
      const observed = await start(
        `process.stdout.write('garbage \\x1b[1m line\\n'.repeat(1000) + 'x'.repeat(12_000_000) + '\\n' + ${JSON.stringify(`${result(1)}\n`)}); ${stays}`,
      );
      await until('it came', () => observed.messages.length === 1);
      expect(observed.logs.length).toBeGreaterThan(0);
      expect(observed.logs.length).toBeLessThanOrEqual(30);
      expect(observed.logs[0]).toBe(
        'MCP server "probe": line 1 on standard output that is no message: "garbage  line"',
      );
      expect(observed.closed).toBe(0);
    },
  );

  verifies(
    ['P5', 'B62'],
    'of 20 MB arrive',
    async () => {
      const observed = await start(
        `process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(20_000_000) } }) + '\\n'); ${stays}`,
      );
      await until('it came', () => observed.messages.length === 1, 30_000);
      const [message] = observed.messages;
      expect(message !== undefined && 'result' in message && String(message.result['text']).length).toBe(
        20_000_000,
      );
    },
    40_000,
  );

  test('that break the handler do not break the transport', async () => {
    const errors: Error[] = [];
    const observed = new Observed(nodeProgram(echoes));
    observed.open.transport.onerror = error => errors.push(error);
    observed.open.transport.onmessage = message => {
      if ('id' in message && message.id === 1) throw new Error('handler');
      observed.messages.push(message);
    };
    await observed.open.transport.start();
    await observed.send(1);
    await observed.send(2);
    await until('the second came', () => observed.messages.length === 1);
    expect(errors).toMatchObject([{ message: 'handler' }]);
  });
});

describe('a message above the limit', () => {
  const large = (head: string): string =>
    `process.stdout.write(${JSON.stringify(head)} + 'x'.repeat(5000)); ${stays}`;

  verifies(
    ['P5', 'D15'],
    'fails the request it answers, with size and limit, and closes the connection',
    async () => {
      const observed = await start(large('{"jsonrpc":"2.0","id":7,"result":{"text":"'), {
        maxMessageBytes: 1000,
      });
      await until('it closed', () => observed.closed === 1);
      expect(observed.messages).toMatchObject([{ id: 7, error: { data: { kind: 'too-large' } } }]);
      const [message] = observed.messages;
      const failure = message !== undefined && 'error' in message ? message.error.data : undefined;
      expect(failure).toBeInstanceOf(TransportFailure);
      const { facts } = failure as TransportFailure;
      expect(facts).toMatchObject({ mayHaveExecuted: true, limit: 1000 });
      expect(facts.size).toBeGreaterThan(1000);
      expect(observed.open.closeFailure()).toMatchObject({ kind: 'lost', facts: { mayHaveExecuted: true } });
    },
  );

  test.each([
    '{"result":{"text":"',
    '[{"jsonrpc":"2.0","id":7,"result":"',
    '{"jsonrpc":"2.0","id":7,"method":"x","p":"',
  ])('is the reason for the close when it does not tell in front what it answers: %s', async head => {
    const observed = await start(large(head), { maxMessageBytes: 1000 });
    await until('it closed', () => observed.closed === 1);
    expect(observed.messages).toEqual([]);
    expect(observed.open.closeFailure()).toMatchObject({ kind: 'too-large', facts: { limit: 1000 } });
    await expect(observed.send(1)).rejects.toMatchObject({ kind: 'lost', facts: { mayHaveExecuted: false } });
  });
});

describe('the end', () => {
  verifies(
    ['D15', 'B79'],
    'by an exit is told with code, standard error and what else was written',
    async () => {
      const observed = await start(
        `${says('Usage: server', result(1))} process.stderr.write('fatal: \\x1b[31mno database\\x1b[0m\\n', () => process.exit(3));`,
      );
      await until('it closed', () => observed.closed === 1);
      expect(observed.messages).toMatchObject([{ id: 1 }]);
      const failure = observed.open.closeFailure();
      expect(failure).toMatchObject({
        kind: 'lost',
        facts: { mayHaveExecuted: true, exit: { code: 3, signal: null } },
      });
      expect(failure?.message).toBe(
        'the server process exited with code 3; its standard output had "Usage: server"; its standard error ended with "fatal: no database"',
      );
      expect(observed.open.stderrTail?.()).toBe('fatal: no database');
      await expect(observed.send(2)).rejects.toMatchObject({
        kind: 'lost',
        facts: { mayHaveExecuted: false },
      });
      await observed.open.transport.close();
      expect(observed.closed).toBe(1);
    },
  );

  test('by a signal is told with the signal', async () => {
    const observed = await start(`process.kill(process.pid, 'SIGKILL')`);
    await until('it closed', () => observed.closed === 1);
    expect(observed.open.closeFailure()).toMatchObject({
      message: 'the server process was ended by SIGKILL',
      facts: { exit: { code: null, signal: 'SIGKILL' } },
    });
  });

  test('by our own close is told at once, is no failure, and lets nothing through afterwards', async () => {
    const observed = await start(`${echoes} process.stdin.on('end', () => {${says(result(9))}});`);
    const closing = observed.open.transport.close();
    expect(observed.closed).toBe(1);
    await expect(observed.send(1)).rejects.toMatchObject({
      kind: 'closed',
      facts: { mayHaveExecuted: false },
    });
    await closing;
    expect(observed.messages).toEqual([]);
    expect(observed.open.closeFailure()).toBeUndefined();
  });

  test('before the start needs nothing', async () => {
    const observed = new Observed(nodeProgram(echoes));
    await observed.open.transport.close();
    expect(observed.closed).toBe(1);
    await expect(observed.open.transport.start()).rejects.toThrow();
  });

  test('by a program that is not there is a rejected start', async () => {
    const observed = new Observed({ command: '/no/such/program' });
    await expect(observed.open.transport.start()).rejects.toMatchObject({
      kind: 'unreachable',
      facts: { mayHaveExecuted: false, networkCode: 'ENOENT' },
    });
    expect(observed.closed).toBe(0);
    await observed.open.transport.close();
  });
});

test('gives the standard error of the server only where it was asked for', async () => {
  expect((await start(stays, { stderr: 'ignore' })).open.stderr?.()).toBeNull();
  const observed = await start(`process.stderr.write('hello'); process.exit()`, { stderr: 'pipe' });
  let text = '';
  for await (const chunk of observed.open.stderr?.() ?? []) text += String(chunk);
  expect(text).toBe('hello');
});

verifies('R11', 'refuses to queue more than 8 MiB for a server that does not read', async () => {
  const observed = await start('setInterval(() => {}, 1000)');
  const text = 'x'.repeat(1024 * 1024);
  const sent = await Promise.allSettled(
    Array.from({ length: 50 }, (_, id) =>
      observed.open.transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { text } }),
    ),
  );
  const refused = sent.filter(item => item.status === 'rejected').map(item => item.reason as unknown);
  expect(refused.length).toBeGreaterThanOrEqual(41);
  for (const failure of refused) {
    expect(failure).toMatchObject({ kind: 'backpressure', facts: { mayHaveExecuted: false } });
  }
});

verifies('P1', 'starts the server with the environment of its definition', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'stdio-')), 'env');
  const observed = await start(
    `require('node:fs').writeFileSync(process.env.FILE, process.env.KEY); process.exit()`,
    {
      env: { FILE: file, KEY: 'value' },
    },
  );
  await until('it closed', () => observed.closed === 1);
  expect(readFileSync(file, 'utf8')).toBe('value');
});
