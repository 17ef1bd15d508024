// `node bench/profile.mjs FILE.cpuprofile [...]`: the functions with the most self time, loading of modules left out.
import { readFileSync } from 'node:fs';

const TOP = 25;
const LOADING = /^node:internal\/(modules|bootstrap|process\/(execution|pre_execution))/;

for (const file of process.argv.slice(2)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const byId = new Map(nodes.map(node => [node.id, node]));
  const loading = new Set();
  for (const { id, callFrame, children = [] } of nodes) {
    if (LOADING.test(callFrame.url)) loading.add(id);
    if (loading.has(id)) children.forEach(child => loading.add(child)); // parents come before their children
  }
  const self = new Map();
  let total = 0;
  samples.forEach((id, i) => {
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    if (loading.has(id) || functionName === '(idle)') return;
    const where = url ? `${url.replace(/^.*\/(node_modules|dist)\//, '$1/')}:${lineNumber + 1}` : 'native';
    const key = `${functionName || 'anonymous'}  ${where}`;
    self.set(key, (self.get(key) ?? 0) + timeDeltas[i]);
    total += timeDeltas[i];
  });
  console.log(`${file}: ${(total / 1000).toFixed(0)} ms busy`);
  for (const [key, time] of [...self].toSorted((a, b) => b[1] - a[1]).slice(0, TOP))
    console.log(`${((time / total) * 100).toFixed(1).padStart(6)} %  ${key}`);
}
