// Turns the recorded figures into ratios within a round, and those into a table with a verdict per target value.
import { BASE } from './targets.mjs';

/** The most a row of ours may cost, as a ratio to the raw SDK. */
const MUST = {
  'server-memory c16 CPU': 1.6,
  'server-stdio c16 CPU': 1.6,
  'server-http c16 CPU': 0.75,
  'server-serverless c16 CPU': 0.4,
  'server-list of 1000 CPU': 0.75,
  'server-construct 1000 tools, ready CPU': 1.1,
  'client-stdio c16 CPU': 1.6,
  'client-http c16 CPU': 0.6,
  'client-list of 1000 repeated CPU': 1.2,
  'client-list of 100 +output repeated CPU': 0.15,
  'e2e-http c16 time': 0.6,
};

/** One entry per row: per target the spread of its costs and of its ratios to the base in the same round. */
export function summarise(records, { judge }) {
  return [...groupBy(records, 'row')].map(([row, all]) => {
    const base = new Map(all.filter(r => r.target === BASE.name).map(r => [r.round, r.value]));
    const targets = {};
    for (const [target, own] of groupBy(all, 'target')) {
      const ratios = own.map(r => r.value / base.get(r.round)).filter(Number.isFinite);
      targets[target] = { cost: spread(own.map(r => r.value)), ratio: spread(ratios) };
    }
    const must = judge ? MUST[row] : undefined;
    const ours = targets.ours?.ratio?.median;
    const verdict = must === undefined || ours === undefined ? undefined : ours <= must ? 'pass' : 'miss';
    return { row, must, verdict, targets };
  });
}

export function formatTable(summary, targets) {
  const others = targets.filter(target => target.name !== BASE.name).map(target => target.name);
  const lines = summary.map(({ row, must, verdict = '', targets: figures }) => {
    const base = figures[BASE.name]?.cost.median;
    const ratios = others.map(name => formatRatio(figures[name]?.ratio));
    return [row, base === undefined ? '-' : formatTime(base), ...ratios, must?.toFixed(2) ?? '', verdict];
  });
  lines.unshift(['row', BASE.name, ...others, 'must', '']);
  const widths = lines[0].map((_, column) => Math.max(...lines.map(line => line[column].length)));
  const align = line => line.map((text, column) => text.padEnd(widths[column]));
  return lines.map(line => align(line).join('  ').trimEnd()).join('\n');
}

function groupBy(records, key) {
  const groups = new Map();
  for (const record of records) groups.set(record[key], [...(groups.get(record[key]) ?? []), record]);
  return groups;
}

function spread(values) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}

const formatNumber = number => number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0);
const formatTime = micros =>
  micros < 1000 ? `${formatNumber(micros)} us` : `${formatNumber(micros / 1000)} ms`;
const formatRatio = ratio =>
  ratio ? `${formatNumber(ratio.median)} (${formatNumber(ratio.min)}-${formatNumber(ratio.max)})` : '-';
