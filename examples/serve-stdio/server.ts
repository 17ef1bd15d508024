/** An MCP server as a program: a client starts it and speaks with it over its standard input and output. */
// #region program
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { MCPServer } from '../../src/index.ts';

const now = createTool({
  id: 'now',
  description: 'Tells the time in UTC.',
  outputSchema: z.object({ time: z.string() }),
  execute: async () => {
    console.log('asked for the time'); // goes to standard error: standard output belongs to the protocol
    return { time: new Date().toISOString() };
  },
});

await new MCPServer({ name: 'Clock', version: '1.0.0', tools: { now } }).startStdio();
// #endregion program
