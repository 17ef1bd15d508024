/** Servers that flood their pipes, leave processes behind and write down what they were given. */
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { MCPClient } from '../../src/client/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, rejection, textOf } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { nodeProgram, serverProgram } from '../support/node-program.ts';
import { isRunning } from '../support/processes.ts';
import { recordingLogger } from '../support/recording-logger.ts';

verifies(
  'P1',
  'a server sees no variable of this process beside the six, whatever they are called',
  async () => {
    const secrets = {
      SECRET_TOKEN_X: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      NODE_OPTIONS: '',
      npm_config_token: 'c',
    };
    const before = Object.keys(secrets).map(name => [name, process.env[name]] as const);
    Object.assign(process.env, secrets);
    try {
      const server = serverProgram('call = ({ id }) => answer(id, text(JSON.stringify(process.env)));');
      await using client = openClient({
        usual: { ...server, env: { MINE: 'm' } },
        bare: { ...server, env: { MINE: 'm' }, inheritDefaultEnv: false },
      });
      const seenBy = async (name: string): Promise<string[]> => {
        const echo = await executeOf(client, `${name}_echo`);
        return Object.keys(JSON.parse(textOf(await echo({}))) as object).toSorted();
      };
      expect(await seenBy('bare')).toEqual(['MINE']);
      const known = ['HOME', 'LOGNAME', 'MINE', 'PATH', 'SHELL', 'TERM', 'USER'];
      expect((await seenBy('usual')).filter(name => !known.includes(name))).toEqual([]);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  },
);

verifies('P2', 'no shell reads command and arguments, and NUL characters are refused', async () => {
  const file = temporaryFile();
  const hostile = [
    `; touch ${file}`,
    `$(touch ${file})`,
    `\`touch ${file}\``,
    `| tee ${file}`,
    `&& touch ${file}`,
  ];
  const server = serverProgram('call = ({ id }) => answer(id, text(JSON.stringify(process.argv.slice(1))));');
  await using client = openClient({ shop: { ...server, args: [...server.args, '--', ...hostile] } });
  const echo = await executeOf(client, 'shop_echo');
  expect(JSON.parse(textOf(await echo({})))).toEqual(hostile);
  await using shell = openClient({ shop: { command: `${process.execPath}; touch ${file}` } });
  expect(await rejection(shell.ping('shop'))).toMatchObject({ code: 'MCP_CLIENT_CONNECT_FAILED' });
  expect(existsSync(file)).toBe(false);
  for (const definition of [{ command: 'a\0b' }, { command: 'a', args: ['b\0c'] }]) {
    expect(() => new MCPClient({ servers: { shop: definition } })).toThrow(/NUL/);
  }
});

verifies('P3', 'a grandchild that only sleeps is gone at most 5 s after the disconnect', async () => {
  const file = temporaryFile();
  const client = openClient({
    shop: {
      ...serverProgram(`
        const inner = require('node:child_process').spawn('sleep', ['600'], { stdio: 'ignore' });
        fs.appendFileSync(process.env.PIDFILE, inner.pid + '\\n');`),
      env: { PIDFILE: file },
    },
  });
  await client.ping('shop');
  const pids = linesOf(file).map(Number);
  expect(pids.map(isRunning)).toEqual([true]);
  const before = performance.now();
  await client.disconnect();
  expect(pids.map(isRunning)).toEqual([false]);
  expect(performance.now() - before).toBeLessThan(5500);
});

for (const stderr of ['ignore', 'pipe', 'inherit'] as const) {
  verifies(
    'P4',
    `10 MB on standard error do not keep a call from its answer, with stderr ${stderr}`,
    async () => {
      const server = serverProgram(`
      call = ({ id }) => {
        fs.writeSync(1, '');
        const piece = 'y'.repeat(99) + '\\n';
        // Each write waits until somebody has read.
        for (let left = 100; left > 0; left--) {
          const part = Buffer.from(piece.repeat(1000));
          for (let at = 0; at < part.length;) {
            try { at += fs.writeSync(2, part, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
          }
        }
        answer(id, text('done'));
      };`);
      const write = process.stderr.write.bind(process.stderr);
      let copied = 0;
      if (stderr === 'inherit') {
        process.stderr.write = (chunk: string | Uint8Array) => {
          copied += chunk.length;
          return true;
        };
      }
      try {
        await using client = openClient({ shop: { ...server, stderr } });
        const echo = await executeOf(client, 'shop_echo');
        expect(textOf(await echo({}))).toBe('done');
        expect(copied).toBe(stderr === 'inherit' ? 10_000_000 : 0);
      } finally {
        process.stderr.write = write;
      }
    },
  );
}

verifies(['P4', 'P5'], 'what a server was given as a secret is in no error and no log line', async () => {
  const env = {
    API_KEY: 'sk-live-0123456789abcdef',
    DATABASE_URL: 'postgres://shop:pa55word-of-shop@db.test/shop',
    REGION: 'north-of-everything',
  };
  const talks = `console.log('starting with ' + process.env.API_KEY + ' in ' + process.env.REGION);
    console.error('cannot reach ' + process.env.DATABASE_URL + ' from ' + process.env.REGION);
    console.error('Authorization: Bearer abcdef.ghijkl');`;
  await using client = openClient({
    dying: { ...nodeProgram(`${talks} setTimeout(() => process.exit(3), 50);`), env },
    crashing: { ...serverProgram(`call = () => { ${talks} setTimeout(() => process.exit(3), 50); };`), env },
  });
  const { logger, lines } = recordingLogger();
  client.__setLogger(logger);
  const failed = await rejection(client.ping('dying'));
  const crashed = await rejection((await executeOf(client, 'crashing_echo'))({}));
  for (const error of [failed, crashed]) {
    // The rest of what it wrote is there, so that the error explains something.
    expect(error.message).toContain('starting with [redacted] in north-of-everything');
    expect(error.message).toContain('cannot reach [redacted] from north-of-everything');
  }
  const told = [
    failed.message,
    crashed.message,
    JSON.stringify(failed),
    JSON.stringify(crashed),
    ...lines,
  ].join('\n');
  expect(told).toContain('starting with');
  for (const secret of [env.API_KEY, 'pa55word-of-shop', 'abcdef.ghijkl']) expect(told).not.toContain(secret);
});

verifies(
  ['P5', 'D15'],
  '1,000 lines of garbage, megabytes of it, and 20 MB of an answer harm nothing; a message above the limit is refused',
  async () => {
    const server = serverProgram(`
      tools = ['lines', 'flood', 'lose', 'large', 'larger'].map(name => tool(name));
      call = ({ id, params: { name } }) => {
        if (name === 'lines') process.stdout.write('garbage {"jsonrpc":\\n'.repeat(1000));
        if (name === 'flood' || name === 'lose') process.stdout.write('x'.repeat(12_000_000) + '\\n');
        if (name === 'lose') return;
        answer(id, text(name === 'large' ? 'y'.repeat(20_000_000) : name === 'larger' ? 'y'.repeat(30_000_000) : 'ok'));
      };`);
    const maxMessageBytes = 25 * 1024 * 1024;
    await using client = openClient({ shop: { ...server, timeout: 8000, maxMessageBytes } });
    const tools = await client.listTools();
    const call = async (name: string): Promise<unknown> => tools[`shop_${name}`]?.execute({});
    expect(textOf(await call('lines'))).toBe('ok');
    expect(textOf(await call('flood'))).toBe('ok');
    expect(textOf(await call('large'))).toHaveLength(20_000_000);
    expect(await rejection(call('lose'))).toMatchObject({ code: 'MCP_CLIENT_REQUEST_TIMEOUT' });
    expect(textOf(await call('lines'))).toBe('ok');
    expect(await rejection(call('larger'))).toMatchObject({
      code: 'MCP_CLIENT_MESSAGE_TOO_LARGE',
      message: expect.stringContaining(String(maxMessageBytes)),
      mayHaveExecuted: true,
    });
    expect(textOf(await call('lines'))).toBe('ok');
  },
  60_000,
);
