// `node bench/profile.mjs FILE.cpuprofile [...]`: the functions with the most self time, start-up left out.
import { readFileSync } from 'node:fs';

const TOP = 25;
const START_UP = /^node:internal\/(modules|bootstrap|process)|^(\(idle\)|wrapSafe|compileSourceTextModule)/;

for (const file of process.argv.slice(2)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
  const callFrames = new Map(nodes.map(node => [node.id, node.callFrame]));
  const self = new Map();
  let total = 0;
  samples.forEach((id, i) => {
    const { functionName, url, lineNumber } = callFrames.get(id);
    if (START_UP.test(url) || START_UP.test(functionName)) return;
    const where = url.replace(/^.*\/(node_modules|dist)\//, '$1/') || '(native)';
    const key = `${functionName || '(anonymous)'}  ${where}:${lineNumber + 1}`;
    self.set(key, (self.get(key) ?? 0) + timeDeltas[i]);
    total += timeDeltas[i];
  });
  console.log(`${file}: ${(total / 1000).toFixed(0)} ms busy`);
  for (const [key, time] of [...self].toSorted((a, b) => b[1] - a[1]).slice(0, TOP))
    console.log(`${((time / total) * 100).toFixed(1).padStart(6)} %  ${key}`);
}
