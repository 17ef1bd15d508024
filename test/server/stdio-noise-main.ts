/** An MCPServer on stdio whose host and tools print to stdout in every way `process.stdout` offers. */
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';

const noisy = createTool({
  id: 'noisy',
  description: 'Prints before it answers',
  inputSchema: z.object({}),
  execute: async () => {
    process.stdout.write('noise of a tool\n');
    return 'answered';
  },
});

const server = new MCPServer({ name: 'noisy', version: '1.0.0', tools: { noisy } });
await server.startStdio();
console.log('noise of the host');
console.info('more', { of: 'it' });
console.table([{ a: 1 }]);
