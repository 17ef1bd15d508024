/** A tool that gives the RequestContext of its call to an agent or a workflow: what runs there knows the caller. */
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { expect } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByUrl } from '../server/call-harness.ts';
import { FgaProvider } from '../support/fga-provider.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { serveHttp } from '../support/serve-http.ts';

const authInfoOf = (id: string) => ({ token: `t-${id}`, clientId: 'app', scopes: [], extra: { userId: id } });

interface Found {
  readonly userId: unknown;
  readonly extra: unknown;
  readonly added: unknown;
}

const read = (requestContext: RequestContext): Found => {
  const extra: { authInfo?: ReturnType<typeof authInfoOf> } | undefined = requestContext.get('mcp.extra');
  const user: { id: string } | undefined = requestContext.get('user');
  return { userId: user?.id, extra: extra?.authInfo?.extra.userId, added: requestContext.get('added') };
};

verifies(
  ['S235', 'X21'],
  'the agent, its tools, its permission checks and a workflow get the caller of the call, 10 at once',
  async () => {
    const found = new Map<unknown, Found[]>();
    const note = (requestContext: RequestContext): void => {
      const entry = read(requestContext);
      found.set(entry.added, [...(found.get(entry.added) ?? []), entry]);
    };
    const inner = createTool({
      id: 'inner',
      description: 'I',
      execute: async (_input, { requestContext }) => {
        note(requestContext);
        return 'noted';
      },
    });
    const schema = z.object({});
    const step = createStep({
      id: 'step',
      inputSchema: schema,
      outputSchema: schema,
      execute: async ({ requestContext }) => {
        note(requestContext);
        return {};
      },
    });
    const flow = createWorkflow({ id: 'flow', description: 'F', inputSchema: schema, outputSchema: schema })
      .then(step)
      .commit();
    const forward = createTool({
      id: 'forward',
      description: 'Asks an agent',
      inputSchema: z.object({ prompt: z.string() }),
      execute: async ({ prompt }, context) => {
        const { mastra, requestContext, abortSignal } = context;
        requestContext.set('added', prompt);
        const agent = mastra?.getAgentById('helper');
        const { text } = (await agent?.generate(prompt, {
          requestContext: requestContext,
          ...(abortSignal === undefined ? {} : { abortSignal }),
        })) ?? { text: 'There is no agent' };
        const run = await mastra?.getWorkflow('flow').createRun();
        await run?.start({ inputData: {}, requestContext: requestContext });
        return text;
      },
    });
    // A model of its own for each caller: scripts are not shared.
    const models = new Map<unknown, ReturnType<typeof scriptedModel>['model']>();
    const modelFor = (prompt: unknown) => {
      const script = [{ call: 'inner', args: {} }, { text: `answer to ${String(prompt)}` }];
      const model = models.get(prompt) ?? scriptedModel(script).model;
      models.set(prompt, model);
      return model;
    };
    const helper = new Agent({
      id: 'helper',
      name: 'H',
      instructions: 'x',
      model: ({ requestContext }) => modelFor(requestContext.get('added')),
      tools: { inner },
    });
    const server = new MCPServer({
      id: 'front',
      name: 'Front',
      version: '1.0.0',
      tools: { forward },
      mapAuthInfoToUser: ({ authInfo }) => ({ id: (authInfo as ReturnType<typeof authInfoOf>).extra.userId }),
    });
    const fga = new FgaProvider(() => true);
    new Mastra({
      mcpServers: { front: server },
      agents: { helper },
      workflows: { flow },
      server: { fga },
      logger: false,
    });
    await using host = await serveHttp(server, undefined, req => {
      const user = req.headers['x-user'];
      if (typeof user === 'string') req.auth = authInfoOf(user);
    });
    const users = Array.from({ length: 10 }, (_, n) => `user-${n}`);
    await Promise.all(
      users.map(async user => {
        await using caller = await callByUrl(host.url, { headers: { 'x-user': user } });
        expect(await caller.text('forward', { prompt: `prompt of ${user}` })).toBe(
          `answer to prompt of ${user}`,
        );
      }),
    );
    for (const user of users) {
      const expected = { userId: user, extra: user, added: `prompt of ${user}` };
      // The tool of the agent, and the step of the workflow.
      expect(found.get(`prompt of ${user}`)).toEqual([expected, expected]);
      const asked = fga.questions.filter(question => (question.user as { id: string }).id === user);
      expect(asked.map(({ permission }) => permission)).toContain('agents:execute');
    }
    expect(fga.questions.every(({ user }) => users.includes((user as { id: string }).id))).toBe(true);
    await server.close();
  },
);

verifies('X21', 'a tool always has a RequestContext, so nothing has to be made for want of one', async () => {
  const seen: unknown[] = [];
  const look = createTool({
    id: 'look',
    description: 'L',
    execute: async (_input, { requestContext }) => void seen.push(requestContext),
  });
  const server = new MCPServer({ name: 'look', version: '1.0.0', tools: { look } });
  await using host = await serveHttp(server);
  await using caller = await callByUrl(host.url);
  await caller.call('look');
  await server.executeTool('look', {});
  expect(seen).toEqual([expect.any(RequestContext), expect.any(RequestContext)]);
  expect(seen[0]).not.toBe(seen[1]);
  await server.close();
});
