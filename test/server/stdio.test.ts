import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CallGate } from '../../src/server/calls/call-gate.ts';
import { Session } from '../../src/server/sessions/session-binding.ts';
import { startStdio } from '../../src/server/transports/stdio.ts';
import type { StdioConnection } from '../../src/server/transports/stdio.ts';
import { verifies } from '../requirements/requirements.ts';
import { Tools, callTool, initialize, until } from './http-harness.ts';
import type { RpcAnswer } from './http-harness.ts';

interface Pipe {
  readonly connection: StdioConnection;
  readonly tools: Tools;
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly errors: unknown[];
  /** Writes one line. */
  line(message: unknown): void;
  /** Answers in the order of arrival. */
  readonly answers: readonly RpcAnswer[];
}

async function connect(maxMessageBytes?: number): Promise<Pipe> {
  const [stdin, stdout, tools, errors] = [new PassThrough(), new PassThrough(), new Tools(), [] as unknown[]];
  const capabilities = { tools: {}, logging: {} };
  const connection = await startStdio({
    createSession: init =>
      new Session(init, {
        serverInfo: { name: 'pipe', version: '1' },
        instructions: undefined,
        handlers: tools.handlers,
        capabilities: {
          session: capabilities,
          stateless: capabilities,
          'stateless-streaming': capabilities,
          stdio: capabilities,
        },
        askTimeoutMs: 1000,
        gate: new CallGate(),
        onError: (_, error) => errors.push(error),
      }),
    principal: 'host',
    onError: error => errors.push(error),
    stdin,
    stdout,
    maxMessageBytes,
  });
  const answers: RpcAnswer[] = [];
  let rest = '';
  stdout.on('data', chunk => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    answers.push(...lines.map(line => JSON.parse(line) as RpcAnswer));
  });
  const line = (message: unknown): void =>
    void stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  return { connection, tools, stdin, stdout, errors, line, answers };
}

const ping = (id: number): object => ({ jsonrpc: '2.0', id, method: 'ping' });

describe('stdio', () => {
  verifies('S156', 'answers line by line, however the lines are cut', async () => {
    const pipe = await connect();
    const bytes = Buffer.from(
      `${JSON.stringify(initialize())}\r\n\n  \n${JSON.stringify(callTool(2, 'echo', { text: 'é😀' }))}\n`,
    );
    for (const byte of bytes) pipe.stdin.write(Buffer.of(byte));
    pipe.stdin.write(`${JSON.stringify(ping(3))}\n${JSON.stringify(ping(4))}\n`);
    await until(() => pipe.answers.length === 4, 'everything is answered');
    expect(pipe.answers.map(answer => answer.id)).toEqual(expect.arrayContaining([1, 2, 3, 4]));
    expect(pipe.answers.find(answer => answer.id === 2)?.result?.content?.[0]?.text).toBe('é😀');
    await pipe.connection.close();
  });

  test('answers broken lines with an error, and goes on', async () => {
    const pipe = await connect(200);
    pipe.line('{nope');
    pipe.line('hello');
    pipe.line([ping(1)]);
    pipe.line({ jsonrpc: '2.0', id: 7, method: 5 });
    pipe.line('x'.repeat(500));
    pipe.stdin.write(Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('\n')]));
    pipe.line(ping(9));
    await until(() => pipe.answers.length === 7, 'everything is answered');
    expect(pipe.answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [7, -32600],
      [null, -32700],
      [null, -32700],
      [9, undefined],
    ]);
    await pipe.connection.close();
  });

  verifies(
    'D12',
    'takes batches where revision 2025-03-26 was negotiated, and answers each in one line',
    async () => {
      const pipe = await connect();
      pipe.line(initialize({ revision: '2025-03-26' }));
      await until(() => pipe.answers.length === 1, 'the introduction is answered');
      pipe.line([
        callTool(2, 'wait'),
        ping(3),
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        ping(4),
      ]);
      (await pipe.tools.waiting()).finish();
      pipe.line([callTool(5, 'wait'), ping(6)]);
      const cancelled = await pipe.tools.waiting();
      pipe.line([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }]);
      await cancelled.aborted;
      const none: unknown[] = [
        [],
        [ping(7), 1],
        [ping(7), ping(7)],
        [initialize()],
        Array(101).fill(ping(7)),
      ];
      for (const batch of none) pipe.line(batch);
      pipe.line(ping(9));
      await until(() => pipe.answers.length === 9, 'everything is answered');
      const ids = pipe.answers.map(answer =>
        Array.isArray(answer) ? answer.map(({ id }) => id).toSorted() : answer.id,
      );
      expect(ids.slice(1).toSorted()).toEqual([[2, 3, 4], [6], 9, null, null, null, null, null].toSorted());
      await pipe.connection.close();
    },
  );

  verifies('D14', 'aborts cancelled calls whatever their id, and does not answer them', async () => {
    const pipe = await connect();
    for (const requestId of [0, '', 'x']) {
      pipe.line(callTool(requestId, 'wait'));
      const waiting = await pipe.tools.waiting();
      pipe.line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
      await waiting.aborted;
    }
    pipe.stdin.write(
      [
        callTool(0, 'wait'),
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } },
        ping(1),
      ]
        .map(message => `${JSON.stringify(message)}\n`)
        .join(''),
    );
    await until(() => pipe.answers.length > 0, 'the ping is answered');
    expect(pipe.answers.map(({ id }) => id)).toEqual([1]);
    await pipe.connection.close();
  });

  test('refuses an introduction that says too little', async () => {
    const pipe = await connect();
    pipe.line({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
    await until(() => pipe.answers.length === 1, 'it is answered');
    expect(pipe.answers[0]?.error?.code).toBe(-32602);
    await pipe.connection.close();
  });

  test('keeps no more of a line than the limit', async () => {
    const pipe = await connect(1000);
    const before = process.memoryUsage().arrayBuffers;
    for (let round = 0; round < 3000; round += 1) {
      if (!pipe.stdin.write(Buffer.alloc(100_000, 'x'))) await once(pipe.stdin, 'drain');
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150_000_000);
    pipe.line('');
    pipe.line(ping(1));
    await until(() => pipe.answers.length === 2, 'everything is answered');
    await pipe.connection.close();
  });

  verifies(
    'D21',
    'refuses a claimed revision that it does not serve, and knows no server/discover',
    async () => {
      const pipe = await connect();
      const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
      pipe.line({ jsonrpc: '2.0', id: 1, method: 'server/discover', params });
      pipe.line({ jsonrpc: '2.0', method: 'notifications/progress', params });
      pipe.line({ jsonrpc: '2.0', id: 2, method: 'server/discover' });
      await until(() => pipe.answers.length === 2, 'both are answered');
      expect(pipe.answers.map(({ error }) => error?.code)).toEqual([-32022, -32601]);
      expect(pipe.answers[0]?.error?.data).toMatchObject({
        requested: '2026-07-28',
        supported: expect.any(Array),
      });
      await pipe.connection.close();
    },
  );

  test('ends with stdin, after the calls that were running have answered', async () => {
    const pipe = await connect();
    pipe.stdin.end(`${JSON.stringify(initialize())}\n${JSON.stringify(callTool(2, 'wait'))}`.concat('\n'));
    const waiting = await pipe.tools.waiting();
    waiting.finish();
    await pipe.connection.ended;
    expect(pipe.answers.map(answer => answer.id)).toEqual([1, 2]);
    expect(pipe.connection.session.closed).toBe(true);
  });

  verifies('D14', 'aborts calls that outlast the end of stdin, and those that are cancelled', async () => {
    const pipe = await connect();
    pipe.line(callTool(1, 'wait'));
    const cancelled = await pipe.tools.waiting();
    pipe.line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await cancelled.aborted;
    pipe.line(callTool(2, 'wait'));
    const waiting = await pipe.tools.waiting();
    pipe.stdin.end();
    await waiting.aborted;
    await pipe.connection.ended;
    expect(pipe.answers).toEqual([]);
  });

  test('ends when stdout breaks', async () => {
    const pipe = await connect();
    pipe.stdout.destroy(new Error('EPIPE'));
    await pipe.connection.ended;
    expect(pipe.errors).toHaveLength(1);
  });

  verifies(
    ['S156', 'D15'],
    'keeps stdout for JSON-RPC in a real process, which ends with its stdin',
    async () => {
      const script = fileURLToPath(new URL('stdio-noise-main.ts', import.meta.url));
      const child = spawn(process.execPath, ['--import', 'tsx', script], { stdio: 'pipe' });
      let [out, err] = ['', ''];
      child.stdout.on('data', chunk => (out += String(chunk)));
      child.stderr.on('data', chunk => (err += String(chunk)));
      child.stdin.end(`${JSON.stringify(initialize())}\n${JSON.stringify(callTool(2, 'noisy'))}\n`);
      const [code] = (await once(child, 'exit')) as [number];
      const answers = out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as RpcAnswer);
      expect(answers.map(answer => answer.id)).toEqual([1, 2]);
      expect(answers[1]?.result?.content?.[0]?.text).toBe('answered');
      expect([
        code,
        ...['noise of a tool', 'noise of the host', "more { of: 'it' }"].map(text => err.includes(text)),
      ]).toEqual([0, true, true, true]);
    },
    60_000,
  );
});
