import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { executeOf, openClient, regressionInput, rejection, textOf } from '../support/client.ts';
import { answerPlainly, rpcResult, startEvents, startHttp } from '../support/http-server.ts';
import { until } from '../support/processes.ts';

const quiet = { stderr: 'ignore' } as const;

verifies('B39', 'an answer after the time-out, its repetition and a foreign one are ignored', async () => {
  await using client = openClient({
    slow: { ...regressionInput('B39-late-answer.mjs'), ...quiet, timeout: 500 },
  });
  const late = await executeOf(client, 'slow_late');
  expect(await rejection(late({}))).toMatchObject({
    code: 'MCP_CLIENT_REQUEST_TIMEOUT',
    mayHaveExecuted: true,
  });
  expect(textOf(await late({}))).toBe('prompt');
  // Until all three stray answers have come.
  await delay(1500);
  expect(textOf(await late({}))).toBe('prompt');
  expect(client.getServerStatus()['slow']?.state).toBe('ready');
});

verifies(
  'B39',
  'the server is told once that the call is given up, and its late answer is dropped',
  async () => {
    let answer: (() => void) | undefined;
    let dropped = false;
    await using server = await startHttp((request, response) => {
      const { message } = request;
      if (message?.method !== 'tools/call' || answer !== undefined) return answerPlainly(request, response);
      const send = startEvents(response);
      answer = () => send(rpcResult(message));
      return response.on('close', () => (dropped = true));
    });
    await using client = openClient({ slow: { url: `${server.origin}/mcp`, timeout: 1000 } });
    const echo = await executeOf(client, 'slow_echo');
    expect(await rejection(echo({}))).toMatchObject({ code: 'MCP_CLIENT_REQUEST_TIMEOUT' });
    await until('the cancellation arrived', () => server.count('POST', 'notifications/cancelled') === 1);
    await until('the answer stream is gone', () => dropped);
    answer?.();
    expect(textOf(await echo({ n: 2 }))).toBe('{"n":2}');
    expect(server.count('POST', 'notifications/cancelled')).toBe(1);
    expect(server.count('POST', 'initialize')).toBe(1);
  },
);
