import { expect } from 'vitest';
import { executeOf, openClient, textOf } from '../support/client.ts';
import { linesOf, temporaryFile } from '../support/files.ts';
import { serverProgram } from '../support/node-program.ts';
import { runningChildren, until } from '../support/processes.ts';
import { collectUnhandled } from '../support/unhandled.ts';
import { isMCPError } from '../../src/shared/errors.ts';
import { verifies } from '../requirements/requirements.ts';

const CALLS = 64;

verifies(
  ['R1', 'D04', 'D15'],
  'each of 64 calls in flight rejects once, none is repeated, the next call works, and nothing is left',
  async () => {
    using unhandled = collectUnhandled();
    const ledger = temporaryFile();
    const before = runningChildren();
    // The first process leaves every call unanswered; the ones after it answer.
    const server = serverProgram(`
      const first = !fs.existsSync(process.env.LEDGER);
      fs.appendFileSync(process.env.LEDGER, '');
      call = message => {
        fs.appendFileSync(process.env.LEDGER, 'run ' + process.pid + '\\n');
        if (!first) answer(message.id, text('ok'));
      };`);
    const client = openClient({ server: { ...server, env: { LEDGER: ledger } } });
    const echo = await executeOf(client, 'server_echo');
    let settled = 0;
    const calls = Array.from({ length: CALLS }, () =>
      echo({}).then(
        () => expect.unreachable(),
        (error: unknown) => {
          settled += 1;
          return { error, at: performance.now() };
        },
      ),
    );
    await until('all calls run at the server', () => linesOf(ledger).length === CALLS);
    const [pid = 0] = runningChildren().filter(child => !before.includes(child));
    const killed = performance.now();
    process.kill(pid, 'SIGKILL');
    const outcomes = await Promise.all(calls);
    expect(settled).toBe(CALLS);
    for (const { error, at } of outcomes) {
      expect(isMCPError(error)).toBe(true);
      expect(error).toMatchObject({
        code: 'MCP_CLIENT_CONNECTION_LOST',
        serverName: 'server',
        mayHaveExecuted: true,
      });
      expect(at - killed).toBeLessThan(3000);
    }
    const next = performance.now();
    expect(textOf(await echo({}))).toBe('ok');
    expect(performance.now() - next).toBeLessThan(6000);
    expect(linesOf(ledger)).toHaveLength(CALLS + 1);
    await client.disconnect();
    expect(runningChildren()).toEqual(before);
    expect(await unhandled.found()).toEqual([]);
  },
);
