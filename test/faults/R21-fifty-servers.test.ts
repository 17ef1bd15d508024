import { expect } from 'vitest';
import { openClient } from '../support/client.ts';
import { serverProgram } from '../support/node-program.ts';
import { runningChildren } from '../support/processes.ts';
import { verifies } from '../requirements/requirements.ts';

const EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'] as const;
const counts = (): number[] => EVENTS.map(event => process.listenerCount(event));

verifies(
  ['R21', 'S084'],
  'fifty servers share one listener per signal, cause no warning, and leave no listener and no process',
  async () => {
    const before = counts();
    const children = runningChildren();
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const names = Array.from({ length: 50 }, (_, index) => `server${index}`);
    const server = { ...serverProgram(), connectTimeout: 60_000 };
    const client = openClient(Object.fromEntries(names.map(name => [name, server])));
    expect(counts()).toEqual(before);
    // Ten at a time: it is the number of servers that counts here.
    for (let index = 0; index < names.length; index += 10) {
      await Promise.all(names.slice(index, index + 10).map(name => client.ping(name)));
      expect(counts()).toEqual(before.map(count => count + 1));
    }
    expect(runningChildren()).toHaveLength(children.length + 50);
    await client.disconnect();
    process.off('warning', note);
    expect(counts()).toEqual(before);
    expect(warnings).toEqual([]);
    expect(runningChildren()).toEqual(children);
  },
  120_000,
);
