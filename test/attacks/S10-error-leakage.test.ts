/** Whatever goes wrong inside a server, a client reads one line of it: no cause, no stack, no paths, nothing around it. */
import { Agent } from '@mastra/core/agent';
import { MastraError } from '@mastra/core/error';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { FgaProvider } from '../support/fga-provider.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const SECRET = 'hunter2';
const cause = Object.assign(new Error(`connect postgres://root:${SECRET}@db`), { password: SECRET });

class QueryError extends Error {
  readonly query = `UPDATE users SET password = '${SECRET}'`;
  readonly config = { headers: { authorization: `Bearer ${SECRET}` } };
}

/** What code throws, and the one line that a client may read of it. */
const thrown: readonly (readonly [what: string, error: unknown, line: string])[] = [
  ['an error with a cause', new Error('The till is empty', { cause }), 'The till is empty'],
  ['an error that holds a request', new QueryError('The query failed'), 'The query failed'],
  ['an error of core', toMastraError(), 'The vault is closed'],
  [
    'several errors at once',
    new AggregateError([new Error('one', { cause }), new Error('two', { cause })]),
    'one; two',
  ],
  [
    'an error whose text is a stack',
    new Error(`It broke\n${cause.stack?.split('\n').slice(1).join('\n')}`),
    'It broke',
  ],
  ['an error without a text', Object.assign(new TypeError('', { cause }), { secret: SECRET }), 'TypeError'],
  ['an object that is no error', { status: 500, token: SECRET, stack: cause.stack }, 'Unknown error'],
  ['an object with a message', { message: 'Out of paper', token: SECRET }, 'Out of paper'],
];

function toMastraError(): MastraError {
  const details = { password: SECRET };
  return new MastraError(
    { id: 'VAULT', domain: 'MCP', category: 'USER', text: 'The vault is closed', details },
    cause,
  );
}

/** Nothing of a failure but its line may be in an answer. */
function expectClean(body: string): void {
  expect(body).not.toContain(SECRET);
  expect(body).not.toMatch(/\bat \S+ \(|:\d+:\d+|node_modules|file:\/\//);
  expect(body).not.toContain(process.cwd());
  expect(body).not.toMatch(/"(?:stack|cause|details|config|query)"/);
}

const schema = z.object({});

/** Core prints what fails; the server has a logger of its own. */
const quiet = { debug() {}, info() {}, warn() {}, error() {}, trackException() {}, child: () => quiet };

/** A server in which everything throws. */
function openBroken(error: unknown, more: Partial<MCPServerConfig> = {}) {
  const fail = (): never => {
    // oxlint-disable-next-line typescript/only-throw-error -- tools throw what they like
    throw error;
  };
  const tool = createTool({ id: 'tool', description: 'T', execute: async () => fail() });
  const talks = createTool({
    id: 'talks',
    description: 'T',
    execute: async (_input, { mcp }) => {
      await mcp?.log?.('info', 'Off we go');
      return fail();
    },
  });
  const step = createStep({
    id: 'step',
    inputSchema: schema,
    outputSchema: schema,
    execute: async () => fail(),
  });
  const flow = createWorkflow({ id: 'flow', description: 'F', inputSchema: schema, outputSchema: schema })
    .then(step)
    .commit();
  flow.__setLogger(quiet as never);
  const { model } = scriptedModel([{ error: 'The model is away' }]);
  const agent = new Agent({
    id: 'agent',
    name: 'A',
    description: 'A',
    instructions: 'x',
    model,
    maxRetries: 0,
  });
  const server = new MCPServer({
    id: 'broken',
    name: 'Broken',
    version: '1.0.0',
    tools: { tool, talks },
    agents: { agent },
    workflows: { flow: flow as never },
    resources: { listResources: async () => fail(), getResourceContent: async () => fail() },
    prompts: { listPrompts: async () => [{ name: 'prompt' }], getPromptMessages: async () => fail() },
    ...more,
  });
  const logged: unknown[] = [];
  const log = (_message: string, details?: { error?: unknown }): void => void logged.push(details?.error);
  const logger = { debug() {}, info() {}, warn: log, error: log, trackException() {}, child: () => logger };
  server.__setLogger(logger as never);
  /** The raw answer to one request. */
  const ask = async (method: string, params: object, more_: object = {}): Promise<string> => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const response = await server.fetch(request, { options: { serverless: true, ...more_ } });
    return response.text();
  };
  const call = (name: string, more_?: object): Promise<string> =>
    ask('tools/call', { name, arguments: name === 'ask_agent' ? { message: 'hi' } : {} }, more_);
  return { server, ask, call, logged };
}

for (const [what, error, line] of thrown) {
  describe(`what it says of ${what}`, () => {
    verifies(
      'S10',
      'is one line in the result of a tool, in one answer or on a stream, and whole in the log',
      async () => {
        const { call, logged } = openBroken(error);
        const answer = await call('tool');
        expect(JSON.parse(answer)).toEqual({
          jsonrpc: '2.0',
          id: 1,
          result: { isError: true, content: [{ type: 'text', text: line }] },
        });
        expectClean(answer);
        // Core makes an error of what is none; its fields stay.
        if (error instanceof Error) expect(logged).toContain(error);
        else expect(logged).toMatchObject([{ token: SECRET }]);
        const streamed = await call('talks', { serverlessStreaming: true });
        expect(streamed).toMatch(/^event: message\n/m);
        expect(streamed).toContain(`"text":${JSON.stringify(line)}`);
        expectClean(streamed);
      },
    );

    verifies('S10', 'says no more out of a workflow, a resource or a prompt', async () => {
      const { ask, call } = openBroken(error);
      const answers = await Promise.all([
        call('run_flow'),
        ask('resources/list', {}),
        ask('resources/read', { uri: 'file:///x' }),
        ask('prompts/get', { name: 'prompt' }),
      ]);
      for (const answer of answers) {
        expect(answer).toMatch(/"isError":true|"error":\{/);
        expectClean(answer);
      }
    });

    verifies('S10', 'says nothing at all where it comes from a check of permissions', async () => {
      for (const [isAllowed, more] of [
        [() => Promise.reject(error), {}],
        [
          () => true,
          {
            fga: {
              resourceMapping: {
                tool: {
                  fgaResourceType: 't',
                  deriveId: () => {
                    throw error;
                  },
                },
              },
            },
          },
        ],
      ] as const) {
        const { server, ask, call } = openBroken(error, {
          mapAuthInfoToUser: () => ({ id: 'ada' }),
          ...more,
        });
        new Mastra({ mcpServers: { server }, server: { fga: new FgaProvider(isAllowed) }, logger: false });
        for (const answer of [await call('tool'), await ask('tools/list', {})]) {
          expect(JSON.parse(answer)).toEqual({
            jsonrpc: '2.0',
            id: 1,
            error: { code: -32603, message: 'Internal error' },
          });
        }
      }
    });

    verifies('S10', 'says nothing where it comes from the mapping of a caller to a user', async () => {
      const { server, ask, call } = openBroken(error, { mapAuthInfoToUser: () => Promise.reject(error) });
      new Mastra({ mcpServers: { server }, server: { fga: new FgaProvider(() => true) }, logger: false });
      const unknown = { code: -32602, message: 'Unknown tool: tool' };
      expect(JSON.parse(await call('tool'))).toEqual({ jsonrpc: '2.0', id: 1, error: unknown });
      expect(JSON.parse(await ask('tools/list', {}))).toMatchObject({ result: { tools: [] } });
    });
  });
}

verifies('S10', 'the model of an agent that fails is one line, too', async () => {
  const { call } = openBroken(cause);
  const answer = await call('ask_agent');
  expect(JSON.parse(answer)).toMatchObject({
    result: { isError: true, content: [{ type: 'text', text: 'The model is away' }] },
  });
  expectClean(answer);
});

verifies('S10', 'arguments that do not fit are named by path, and not repeated', async () => {
  const strict = createTool({
    id: 'strict',
    description: 'S',
    inputSchema: z.object({ pin: z.number() }),
    execute: async () => 'ok',
  });
  const { ask } = openBroken(cause, { tools: { strict } });
  const answer = await ask('tools/call', { name: 'strict', arguments: { pin: SECRET } });
  expect(answer).toContain('Invalid arguments for tool \\"strict\\": pin: ');
  expectClean(answer);
});
