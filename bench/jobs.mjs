// What is measured. A job starts processes of its own, runs every target once per round in rotated order, and hands
// its figures to `bench.record`. `bench` is the context made in context.mjs.
import { FLOOR } from './targets.mjs';

export const jobs = {};
for (const side of ['server', 'client', 'e2e'])
  for (const over of ['stdio', 'http', 'serverless'])
    jobs[`${side}-${over}`] = bench => toolCalls(bench, side, over);
Object.assign(jobs, {
  'server-memory': bench => toolCalls(bench, 'server', 'memory'),
  'server-list': serverLists,
  'server-construct': constructions,
  'client-list': clientLists,
});

/** tools/call round trips with small arguments and a small result; the other side is hand-written, unless e2e. */
async function toolCalls(bench, side, over) {
  const open = async target => {
    if (over === 'memory') return [await bench.start(target, 'server'), { memory: true }];
    const driver = side === 'server' ? await bench.peer() : await bench.start(target, 'client');
    if (over === 'stdio') return [driver, bench.stdioEndpoint(side === 'client' ? FLOOR : target)];
    const server = side === 'client' ? await bench.peer() : await bench.start(target, 'server');
    return [driver, { url: (await server.ask('serve'))[over] }];
  };
  const connections = await bench.all(async target => {
    const [driver, endpoint] = await open(target);
    return { driver, id: await driver.ask('connect', endpoint) };
  });
  const cpuOf = {
    server: figures => (over === 'memory' ? figures.clientCpu : figures.serverCpu),
    client: figures => figures.clientCpu,
    e2e: figures => figures.clientCpu + figures.serverCpu,
  }[side];
  await segments(bench, connections, { operation: 'call', concurrency: 16 }, 'c16', cpuOf);
  if (bench.quick) return;
  await segments(bench, connections, { operation: 'call', concurrency: 1 }, 'c1', cpuOf, { ms: bench.ms });
}

/** tools/list of a server with many zod tools, over HTTP with a session. */
async function serverLists(bench) {
  const tools = bench.quick ? 100 : 1000;
  const connections = await bench.all(async target => {
    const driver = await bench.peer();
    const server = await bench.start(target, 'server');
    const { http: url } = await server.ask('serve', { tools });
    return { driver, id: await driver.ask('connect', { url }) };
  });
  await segments(bench, connections, { operation: 'list', concurrency: 1 }, `of ${tools}`, f => f.serverCpu);
}

async function segments(bench, connections, input, row, cpuOf, warmUp = bench.warmUp) {
  const run = ({ driver, id }, length) => driver.ask('segment', { ...input, ...length, id });
  await bench.each(connections, connection => run(connection, warmUp));
  await bench.measureRounds(connections, async connection => {
    const figures = await run(connection, { ms: bench.ms });
    return { [row]: { CPU: cpuOf(figures), time: figures.time } };
  });
}

/** The client's listTools against a hand-written server: connecting with the first listing, and each further one. */
async function clientLists(bench) {
  const peer = await bench.peer();
  const clients = await bench.all(async target => ({ client: await bench.start(target, 'client') }));
  const sizes = bench.quick ? { plain: 100, output: 20 } : { plain: 1000, output: 100 };
  for (const [kind, tools] of Object.entries(sizes)) {
    const output = kind === 'output';
    const { http: url } = await peer.ask('serve', { tools, output });
    const list = ({ client }) => client.ask('listTools', { url, expected: tools + 2, repeat: 3 });
    await bench.each(clients, list);
    const row = `of ${tools}${output ? ' +output' : ''}`;
    await bench.measureRounds(clients, async connection => {
      const { first, repeated } = await list(connection);
      return { [`${row} first`]: first, [`${row} repeated`]: repeated };
    });
  }
}

/** Constructing a server from zod tools, and tools/list in memory. */
async function constructions(bench) {
  const tools = bench.quick ? 100 : 1000;
  const servers = await bench.all(async target =>
    target.kind === 'floor' ? undefined : { server: await bench.start(target, 'server') },
  );
  const construct = ({ server }) => server.ask('construct', { tools, repeat: 3 });
  await bench.each(servers, construct);
  await bench.measureRounds(servers, async server => {
    const figures = Object.entries(await construct(server));
    return Object.fromEntries(figures.map(([what, costs]) => [`${tools} tools, ${what}`, costs]));
  });
}
