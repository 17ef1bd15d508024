import { createTool } from '@mastra/core/tools';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callTool, connectRaw, initialize } from '../server/http-harness.ts';
import type { RpcAnswer } from '../server/http-harness.ts';

const echo = createTool({
  id: 'echo',
  description: 'Gives the text back',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text,
});
const broken = createTool({
  id: 'broken',
  description: 'Always fails',
  inputSchema: z.object({}),
  execute: async () => {
    throw new Error('The till is empty');
  },
});

describe.each([false, true])('serverless, streaming: %s', serverlessStreaming => {
  verifies(['B69', 'S163', 'S166'], 'one server answers request after request, also at once', async () => {
    const logged: string[] = [];
    await using server = new MCPServer({ id: 's', name: 'S', version: '1.0.0', tools: { echo, broken } });
    const log = (message: string): void => void logged.push(message);
    server.__setLogger({ ...console, debug: () => undefined, warn: log, error: log } as never);
    const { url } = await server.listen({ port: 0, options: { serverless: true, serverlessStreaming } });
    using client = connectRaw(Number(url.port));
    const answerTo = async (message: unknown): Promise<RpcAnswer> => {
      const answer = await client.post(message);
      expect(answer.status).toBe(200);
      return answer.json();
    };
    const visit = async (text: string): Promise<void> => {
      expect((await answerTo(initialize({ id: 0 }))).result?.['serverInfo']).toBeDefined();
      const initialized = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      expect([initialized.status, await initialized.text()]).toEqual([202, '']);
      const { result } = await answerTo({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      expect(result?.['tools']).toHaveLength(2);
      expect((await answerTo(callTool(2, 'echo', { text }))).result?.content?.[0]?.text).toBe(text);
      // Errors have a body, too.
      expect(await answerTo(callTool(3, 'none'))).toMatchObject({ id: 3, error: { code: -32602 } });
      expect(await answerTo({ jsonrpc: '2.0', id: 4, method: 'no/such' })).toMatchObject({
        id: 4,
        error: { code: -32601 },
      });
      expect((await answerTo(callTool(5, 'broken'))).result).toMatchObject({ isError: true });
    };
    await visit('alone');
    await Promise.all(['a', 'b'].map(visit));
    await Promise.all(Array.from({ length: 20 }, (_, index) => visit(`visit ${index}`)));
    expect(logged).toEqual(Array.from({ length: 23 }, () => 'Tool "broken" failed'));
  });
});
