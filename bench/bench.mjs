// `npm run bench`: measures this package beside the raw MCP SDK and the published @mastra/mcp. See README.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { jobContext } from './context.mjs';
import { jobs } from './jobs.mjs';
import { formatTable, summarise } from './report.mjs';
import { parseTargets, requireTarget, ROOT, UsageError } from './targets.mjs';

const OPTIONS = {
  targets: { type: 'string', default: 'raw,published,ours' },
  jobs: { type: 'string' },
  rounds: { type: 'string' },
  launches: { type: 'string', default: '1' },
  ms: { type: 'string' },
  out: { type: 'string' },
  published: { type: 'string', default: resolve(ROOT, 'test/foreign') },
  'cpu-prof': { type: 'string' },
  smoke: { type: 'boolean', default: false },
};

/** One job per transport, side and kind of work: what a smoke run needs. */
const SMOKE =
  'server-memory,server-http,server-serverless,server-construct,client-stdio,client-list,e2e-http';

function parseJobs(options) {
  const text = options.jobs ?? (options.smoke ? SMOKE : Object.keys(jobs).join());
  return text.split(',').flatMap(wanted => {
    const names = Object.keys(jobs).filter(name => name === wanted || name.startsWith(`${wanted}-`));
    if (names.length === 0)
      throw new UsageError(`--jobs: no job ${wanted} among ${Object.keys(jobs).join(', ')}`);
    return names;
  });
}

function parseCount(name, value, most) {
  const count = Number(value);
  if (Number.isInteger(count) && count > 0 && count <= most) return count;
  throw new UsageError(`--${name} must be a whole number from 1 to ${most}`);
}

async function main(options) {
  const started = new Date().toISOString().replaceAll(':', '-');
  const seconds = () => `${process.uptime().toFixed(0)} s`;
  const settings = {
    targets: parseTargets(options.targets, options.published),
    rounds: parseCount('rounds', options.rounds ?? (options.smoke ? 1 : 5), 100),
    launches: parseCount('launches', options.launches, 20),
    ms: parseCount('ms', options.ms ?? (options.smoke ? 40 : 250), 10_000),
    warmUp: options.smoke ? { ms: 40 } : { ms: 750, least: 20_000 },
    quick: options.smoke,
    profiles: options['cpu-prof'] && resolve(options['cpu-prof']),
  };
  const selected = parseJobs(options);
  await Promise.all(settings.targets.map(requireTarget));

  const records = [];
  const failures = new Set();
  const runs = Array.from({ length: settings.launches }, (_, launch) =>
    selected.map(name => ({ name, launch })),
  );
  for (const { name, launch } of runs.flat()) {
    process.stderr.write(`${seconds()}: ${name}\n`);
    const context = jobContext(name, { ...settings, launch }, { records, failures });
    try {
      await jobs[name](context);
    } finally {
      await context.stop();
    }
  }

  const rows = summarise(records, { judge: !options.smoke });
  const machine = { node: process.version, cores: os.availableParallelism(), load: os.loadavg() };
  const file = options.out ?? resolve(ROOT, 'bench/results', `${started}.json`);
  mkdirSync(dirname(resolve(file)), { recursive: true });
  const result = { started, machine, settings, rows, failures: [...failures], records };
  writeFileSync(file, JSON.stringify(result, null, 2));

  console.log(formatTable(rows, settings.targets));
  console.log(
    `\nRatio to raw in the same round, median (min-max) of ${settings.launches * settings.rounds}; below 1: cheaper.`,
  );
  console.log(
    `Node ${machine.node}, load average ${machine.load[0].toFixed(1)} on ${machine.cores} cores, ${seconds()}.`,
  );
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`Written to ${file}`);
  if (failures.size > 0) process.exitCode = 1;
}

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
try {
  await main(parseArgs({ options: OPTIONS }).values);
} catch (error) {
  const isUsage = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
  console.error(isUsage ? `bench: ${error.message}` : error);
  process.exit(2);
}
