// What a job works with: processes that end with the job, rounds in rotated order, records, and failures that take
// only the failing target out.
import { startChild, stdioEndpoint } from './child.mjs';
import { FLOOR } from './targets.mjs';

/** @param settings `{ targets, launch, rounds, ms, warmUp, quick, profiles }` */
export function jobContext(job, settings, { records, failures }) {
  const children = [];
  let peer;
  const profile = (target, role) =>
    settings.profiles && { folder: settings.profiles, file: `${job}-${target.name}-${role}.cpuprofile` };
  const start = async (target, role) => {
    const child = await startChild(target, profile(target, role));
    children.push(child);
    return child;
  };
  const attempt = async (target, run) => {
    try {
      return await run();
    } catch (error) {
      failures.add(`${job} ${target.name}: ${error.message.trim()}`);
    }
  };
  const each = async (items, run) => {
    for (const item of items) await attempt(item.target, () => run(item));
  };
  return {
    ...settings,
    start,
    each,
    stdioEndpoint: target => stdioEndpoint(target, profile(target, 'stdio')),
    /** The hand-written other side, one for all targets. */
    peer: () => (peer ??= start(FLOOR, 'peer')),
    /** Prepares every target at once; those that fail (or do not apply: undefined) are left out. */
    async all(prepare) {
      const one = async target => {
        const prepared = await attempt(target, () => prepare(target));
        return prepared && { ...prepared, target };
      };
      return (await Promise.all(settings.targets.map(one))).filter(Boolean);
    },
    /** `measure` gives `{ row: { CPU, time } }` in microseconds. */
    async measureRounds(items, measure) {
      const first = settings.launch * settings.rounds;
      for (let round = first; round < first + settings.rounds; round++) {
        const rotated = items.map((_, i) => items[(i + round) % items.length]);
        await each(rotated, async item => {
          for (const [row, figures] of Object.entries(await measure(item)))
            for (const [unit, value] of Object.entries(figures))
              records.push({ row: `${job} ${row} ${unit}`, target: item.target.name, round, value });
        });
      }
    },
    stop: () => Promise.all(children.map(child => child.stop())),
  };
}
