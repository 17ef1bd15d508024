/**
 * The program of `host.ts`: connects the servers it was given, says "ready", then does what standard input says, and
 * otherwise lives on.
 */
import { createInterface } from 'node:readline';
import { MCPClient, type MastraMCPServerDefinition } from '../../src/client/index.ts';

const { servers, exitCodeOnSigterm } = JSON.parse(process.argv[2] ?? '') as {
  readonly servers: Record<string, MastraMCPServerDefinition>;
  readonly exitCodeOnSigterm?: number;
};

if (exitCodeOnSigterm !== undefined) {
  process.once('SIGTERM', () => setTimeout(() => process.exit(exitCodeOnSigterm), 1500));
}
const client = new MCPClient({ servers });
await Promise.all(Object.keys(servers).map(name => client.ping(name)));
process.stdout.write('ready\n');

createInterface({ input: process.stdin }).on('line', line => {
  const [command, argument] = line.split(' ');
  if (command === 'exit') process.exit(Number(argument));
  // An end of its own: nothing may keep the process alive.
  if (command === 'disconnect') void client.disconnect().then(() => process.stdin.destroy());
});
