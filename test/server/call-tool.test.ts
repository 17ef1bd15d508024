import type { ToolsInput } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callByFetch, callInMemory } from './call-harness.ts';
import type { ShownForm } from './call-harness.ts';

const serverOf = (tools: ToolsInput, more: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ name: 'bank', version: '1.0.0', tools, ...more });

/** A tool that counts its runs. */
function wipe(requireApproval: unknown = true) {
  const runs: unknown[] = [];
  const tool = createTool({
    id: 'wipe',
    description: 'Wipes',
    inputSchema: z.object({ disk: z.string(), apiKey: z.string().optional() }),
    requireApproval: requireApproval as boolean,
    execute: async input => {
      runs.push(input);
      return 'wiped';
    },
  });
  return { tool, runs };
}

describe('approval', () => {
  verifies('D10', 'asks the caller before the tool runs, once, with tool, server and arguments', async () => {
    const { tool, runs } = wipe();
    const forms: ShownForm[] = [];
    const onElicit = (form: ShownForm): ElicitResult => {
      expect(runs).toEqual([]);
      forms.push(form);
      return { action: 'accept', content: { approve: true } };
    };
    await using caller = await callInMemory(serverOf({ wipe: tool }), { onElicit });
    expect(await caller.text('wipe', { disk: 'c', apiKey: 'k-123' })).toBe('wiped');
    expect(runs).toHaveLength(1);
    expect(forms).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/"wipe".*"bank".*\{"disk":"c","apiKey":"\*\*\*"\}/),
        requestedSchema: expect.objectContaining({
          properties: { approve: expect.objectContaining({ type: 'boolean' }) },
          required: ['approve'],
        }),
      }),
    ]);
  });

  const refusals: readonly (readonly [string, ElicitResult])[] = [
    ['declines', { action: 'decline' }],
    ['cancels', { action: 'cancel' }],
    ['answers no', { action: 'accept', content: { approve: false } }],
    ['answers without a decision', { action: 'accept', content: {} }],
  ];
  for (const [how, answer] of refusals) {
    verifies('D10', `does not run the tool when the user ${how}`, async () => {
      const { tool, runs } = wipe();
      await using caller = await callInMemory(serverOf({ wipe: tool }), { onElicit: () => answer });
      const result = await caller.call('wipe', { disk: 'c' });
      expect(result.isError).toBe(true);
      expect(runs).toEqual([]);
    });
  }

  verifies('D10', 'refuses, and says why, when the client cannot be asked', async () => {
    const { tool, runs } = wipe();
    const server = serverOf({ wipe: tool });
    await using mute = await callInMemory(server);
    await using stateless = await callByFetch(server, {
      facts: { options: { serverless: true } },
      onElicit: () => ({ action: 'accept', content: { approve: true } }),
    });
    for (const caller of [mute, stateless]) {
      const result = await caller.call('wipe', { disk: 'c' });
      expect(result.isError).toBe(true);
      expect(result.content).toEqual([
        { type: 'text', text: expect.stringContaining("needs the user's approval") },
      ]);
    }
    expect(runs).toEqual([]);
  });

  verifies('D10', 'asks about arguments that fit, and nothing about others', async () => {
    const { tool, runs } = wipe();
    let asked = 0;
    await using caller = await callInMemory(serverOf({ wipe: tool }), {
      onElicit: () => {
        asked += 1;
        return { action: 'accept', content: { approve: true } };
      },
    });
    expect(await caller.text('wipe', { disk: 7 })).toMatch(/^Invalid arguments for tool "wipe": disk: /);
    expect([asked, runs.length]).toEqual([0, 0]);
  });

  verifies('D10', 'lets a predicate decide per call; one that throws means ask', async () => {
    const seen: unknown[] = [];
    const predicate = (input: { disk: string }, context: { requestContext?: Record<string, unknown> }) => {
      seen.push(context.requestContext?.['tenant']);
      if (input.disk === 'broken') throw new Error('boom');
      return input.disk === 'c';
    };
    const { tool, runs } = wipe(predicate);
    let asked = 0;
    const requestContext = new RequestContext();
    requestContext.set('tenant', 't1');
    await using caller = await callByFetch(serverOf({ wipe: tool }), {
      facts: { requestContext },
      onElicit: () => {
        asked += 1;
        return { action: 'decline' };
      },
    });
    expect(await caller.text('wipe', { disk: 'd' })).toBe('wiped');
    expect(asked).toBe(0);
    await caller.call('wipe', { disk: 'c' });
    await caller.call('wipe', { disk: 'broken' });
    expect([asked, runs.length]).toEqual([2, 1]);
    expect(seen).toEqual(['t1', 't1', 't1']);
  });

  verifies(
    'D10',
    'holds for a predicate that was put on the instance, and for tools of the AI SDK',
    async () => {
      const { tool, runs } = wipe(false);
      tool.needsApprovalFn = () => true;
      const vercel = {
        description: 'V',
        inputSchema: z.object({}),
        needsApproval: true,
        execute: async () => void runs.push('v'),
      };
      await using caller = await callInMemory(serverOf({ wipe: tool, vercel: vercel as never }));
      expect((await caller.call('wipe', { disk: 'c' })).isError).toBe(true);
      expect((await caller.call('vercel')).isError).toBe(true);
      expect(runs).toEqual([]);
    },
  );

  verifies('D10', "toolApproval 'run' runs at once, and so does the host's own call", async () => {
    const { tool, runs } = wipe();
    await using caller = await callInMemory(serverOf({ wipe: tool }, { toolApproval: 'run' }));
    expect(await caller.text('wipe', { disk: 'c' })).toBe('wiped');
    expect(await serverOf({ wipe: tool }).executeTool('wipe', { disk: 'd' })).toBe('wiped');
    expect(runs).toHaveLength(2);
  });

  test('cuts long arguments in the question', async () => {
    const { tool } = wipe();
    let message = '';
    await using caller = await callInMemory(serverOf({ wipe: tool }), {
      onElicit: form => {
        message = form.message;
        return { action: 'decline' };
      },
    });
    await caller.call('wipe', { disk: 'x'.repeat(5000) });
    expect(message.length).toBeLessThan(1200);
  });
});

describe('the host’s own call', () => {
  const throws = createTool({
    id: 'throws',
    description: 'T',
    execute: async () => {
      throw Object.assign(new Error('no such order'), { status: 409 });
    },
  });
  const add = createTool({
    id: 'add-id',
    description: 'A',
    inputSchema: z.object({ a: z.number() }),
    execute: async ({ a }, { agent, mcp, requestContext }) => ({
      a,
      agent: agent?.toolCallId,
      tenant: requestContext.get('tenant'),
      progress: await mcp?.progress?.({ progress: 1 }),
    }),
  });
  const server = serverOf({ add, throws });

  verifies('S181', 'resolves to what the tool returned, by name or by its own id', async () => {
    expect(await server.executeTool('add', { a: 1 })).toMatchObject({ a: 1 });
    expect(await server.executeTool('add-id', { a: 2 })).toMatchObject({ a: 2 });
  });

  verifies('S181', 'hands over messages, the id of the call and the request context', async () => {
    const requestContext = new RequestContext();
    requestContext.set('tenant', 't1');
    const options = { messages: [], toolCallId: 'call-7', requestContext };
    expect(await server.executeTool('add', { a: 1 }, options)).toEqual({
      a: 1,
      agent: 'call-7',
      tenant: 't1',
      progress: undefined,
    });
    expect(requestContext.get('tenant')).toBe('t1');
  });

  verifies('S181', 'resolves to core’s validation error for arguments that do not fit', async () => {
    expect(await server.executeTool('add', { a: 'x' })).toMatchObject({
      error: true,
      validationErrors: { fields: { a: { errors: [expect.any(String)] } } },
    });
  });

  verifies('S181', 'rejects for an unknown tool with a code and the status 404', async () => {
    await expect(server.executeTool('zz', {})).rejects.toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
      id: 'MCP_SERVER_TOOL_EXECUTE_PREPARATION_FAILED',
      details: { status: 404 },
      mayHaveExecuted: false,
      cause: { code: 'MCP_SERVER_UNKNOWN_TOOL' },
    });
  });

  verifies('S181', 'rejects when the tool throws, with what it threw as cause', async () => {
    await expect(server.executeTool('throws', {})).rejects.toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_FAILED',
      message: 'Tool "throws" failed: no such order',
      toolName: 'throws',
      serverName: 'bank',
      details: { status: 409 },
      cause: { message: 'no such order' },
    });
  });

  test('says of a tool that failed what no host takes for a reason to repeat it', async () => {
    const breaks = createTool({
      id: 'breaks',
      description: 'B',
      execute: async () => {
        throw new Error('the press is stuck');
      },
    });
    const press = new MCPServer({ name: 'press', version: '1.0.0', tools: { breaks } });
    await expect(press.executeTool('breaks', {})).rejects.toMatchObject({ details: { status: 424 } });
  });

  test('finds nobody to ask', async () => {
    const ask = createTool({
      id: 'ask',
      description: 'A',
      execute: async (_input, { mcp }) =>
        mcp?.elicitation.sendRequest({ message: 'x', requestedSchema: { type: 'object', properties: {} } }),
    });
    await expect(serverOf({ ask }).executeTool('ask', {})).rejects.toMatchObject({
      cause: { code: 'MCP_SERVER_CLIENT_CAPABILITY_MISSING' },
    });
  });
});

describe('a tool that suspends by itself', () => {
  const suspends = createTool({
    id: 'suspends',
    description: 'S',
    suspendSchema: z.object({ why: z.string() }),
    resumeSchema: z.object({ colour: z.string() }),
    execute: async (_input, { suspend, resumeData }) => {
      if (resumeData !== undefined) return `painted ${resumeData.colour}`;
      await suspend?.({ why: 'no colour' });
      return undefined;
    },
  });

  verifies('D09', 'is never run a second time; the client is told what is missing', async () => {
    await using caller = await callInMemory(serverOf({ suspends }), {
      onElicit: () => ({ action: 'accept', content: { colour: 'red' } }),
    });
    expect(await caller.call('suspends')).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/"colour".*"no colour"/) }],
    });
  });

  verifies('S181', 'goes on when the host calls again with the answer', async () => {
    const server = serverOf({ suspends });
    expect(await server.executeTool('suspends', {})).toEqual({
      status: 'suspended',
      suspendPayload: { why: 'no colour' },
    });
    const resumeData = { colour: 'red' };
    expect(await server.executeTool('suspends', {}, { resumeData })).toBe('painted red');
  });
});
