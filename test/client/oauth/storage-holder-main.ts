/** Holds a lock of a FileOAuthStorage, or writes to one, in a process of its own. `hold <path>` or `write <path> <key>`. */
import { FileOAuthStorage } from '../../../src/client/index.ts';

const [, , what = '', file = '', key = ''] = process.argv;
const storage = new FileOAuthStorage({ path: file });
if (what === 'hold') {
  await storage.lock('key', () => {
    process.stdout.write('held\n');
    return new Promise(() => setInterval(() => undefined, 1000));
  });
} else {
  for (let count = 0; count < 20; count += 1) await storage.set(`${key}-${count}`, String(count));
}
