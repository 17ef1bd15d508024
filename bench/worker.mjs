// One measured process: it holds one target (or a hand-written peer) and does what bench.mjs asks over IPC. Started
// with `stdio: true` it is a stdio MCP server instead.
import http from 'node:http';
import { ECHO_INPUT } from './tools.mjs';

const LIFETIME_MS = 30 * 60_000;
const { target, stdio } = JSON.parse(process.argv[2]);
setTimeout(() => process.exit(3), LIFETIME_MS).unref();

const load = {
  raw: () => import('./targets/raw.mjs'),
  floor: () => import('./targets/floor.mjs'),
  mastra: async () => (await import('./targets/mastra.mjs')).load(target),
};

const connections = [];
const commands = {
  /** Serves over HTTP: sessions at /mcp, one request at a time at /serverless. */
  async serve(options) {
    const served = implementation.serve(options);
    const server = http.createServer((req, res) => {
      const url = new URL(req.url, `http://${req.headers.host}`);
      Promise.resolve(served.handle(req, res, url)).catch(error => res.destroy(error));
    });
    server.keepAliveTimeout = 60_000;
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${server.address().port}`;
    return { http: `${origin}/mcp`, serverless: `${origin}/serverless` };
  },

  /** Connects to a server, or (`memory`) a hand-written client to this target's server in this process. */
  async connect({ memory, ...endpoint }) {
    const { connect } = memory ? await load.floor() : implementation;
    const connection = await connect(memory ? { server: implementation.serve() } : endpoint);
    const result = await connection.call('echo', ECHO_INPUT);
    if (outputOf(result).text !== ECHO_INPUT.text) throw new Error(`wrong answer: ${JSON.stringify(result)}`);
    return connections.push(connection) - 1;
  },

  /**
   * Calls (or listings), `concurrency` at a time, for `ms`; longer, up to four times that, until there were `least`.
   * Gives microseconds per call; reading the server's CPU time is a call, too.
   */
  async segment({ id, operation, concurrency, ms, least = 1 }) {
    const connection = connections[id];
    const run = operation === 'list' ? () => connection.list() : () => connection.call('echo', ECHO_INPUT);
    let calls = 0;
    const lane = async started => {
      const age = () => performance.now() - started;
      do {
        const result = await run();
        if (result.isError) throw new Error(`the call failed: ${JSON.stringify(result).slice(0, 300)}`);
        calls++;
      } while (age() < ms || (calls < least && age() < 4 * ms));
    };
    const lanes = () => Array.from({ length: concurrency }, () => lane(performance.now()));
    const before = await serverCpu(connection);
    const { CPU, time } = await cost(() => Promise.all(lanes()));
    const server = (await serverCpu(connection)) - before;
    return { clientCpu: CPU / calls, serverCpu: server / (calls + 1), time: time / calls };
  },

  /** A new client: connects and lists, then lists again `repeat` times. */
  async listTools({ url, expected, repeat }) {
    let connection;
    const first = await cost(async () => {
      connection = await implementation.connect({ url });
      if (target.kind !== 'mastra') await connection.list(); // connecting an MCPClient means listing
    });
    const count = Object.keys(await connection.list()).length;
    if (count !== expected) throw new Error(`listed ${count} tools instead of ${expected}`);
    const repeated = await cost(() => connection.list(), repeat);
    await connection.close();
    return { first, repeated };
  },

  /** A server with `tools` zod tools: construction, first and repeated tools/list, in memory. */
  async construct({ tools, repeat }) {
    const prepared = implementation.prepareTools(tools);
    const { connect } = await load.floor();
    let server, connection, listed;
    const construct = await cost(() => (server = implementation.construct(prepared)));
    const first = await cost(async () => {
      connection = await connect({ server, copy: message => message });
      listed = await connection.list();
    });
    if (listed.length !== tools + 2) throw new Error(`listed ${listed.length} tools instead of ${tools + 2}`);
    const repeated = await cost(() => connection.list(), repeat);
    await connection.close();
    const ready = { CPU: construct.CPU + first.CPU, time: construct.time + first.time };
    return { construct, first, ready, repeated };
  },
};

/** CPU time of this process and wall time, in microseconds per run. */
async function cost(run, repeat = 1) {
  const before = process.cpuUsage();
  const started = performance.now();
  for (let i = 0; i < repeat; i++) await run();
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { CPU: (user + system) / repeat, time: (time * 1000) / repeat };
}

const outputOf = result => JSON.parse(result.content[0].text);
const serverCpu = async connection => outputOf(await connection.call('cpu', {})).micros;

async function answer(id, run) {
  try {
    process.send({ id, result: await run() });
  } catch (error) {
    process.send({ id, error: error.stack ?? String(error) });
  }
}

let implementation;
const loadTarget = async () => void (implementation = await load[target.kind]());
if (stdio) {
  process.stdin.on('end', () => process.exit(0));
  await loadTarget();
  await implementation.serve().startStdio();
} else {
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ id, command, input }) => answer(id, () => commands[command](input)));
  await answer(0, loadTarget);
}
