import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import type { Workflow } from '@mastra/core/workflows';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { callInMemory, until } from './call-harness.ts';
import type { ShownForm } from './call-harness.ts';

const number = z.object({ n: z.number() });

interface StepContext {
  readonly inputData: { readonly n: number };
  readonly resumeData?: Record<string, unknown>;
  readonly abortSignal: AbortSignal;
  suspend(payload: unknown): Promise<never>;
}

function flow(
  execute: (context: StepContext) => Promise<unknown>,
  resumeSchema?: z.ZodType,
  description = 'Counts',
) {
  const step = createStep({
    id: 'only',
    inputSchema: number,
    outputSchema: number,
    ...(resumeSchema === undefined ? {} : { resumeSchema }),
    execute: execute as never,
  });
  return createWorkflow({ id: 'count', description, inputSchema: number, outputSchema: number })
    .then(step)
    .commit() as unknown as Workflow;
}

const serverOf = (workflow: Workflow): MCPServer => {
  const server = new MCPServer({ name: 's', version: '1.0.0', workflows: { count: workflow } });
  new Mastra({ mcpServers: { server }, storage: new InMemoryStore(), logger: false });
  return server;
};

const double = flow(async ({ inputData }) => ({ n: inputData.n * 2 }));

describe('a workflow as a tool', () => {
  verifies(['S135', 'S136'], 'is called run_<key>, with the workflow’s input', async () => {
    const server = serverOf(double);
    await using caller = await callInMemory(server);
    expect((await caller.client.listTools()).tools).toEqual([
      {
        name: 'run_count',
        description: "Run workflow 'count'. Workflow description: Counts",
        inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
    ]);
    expect(server.getToolInfo('run_count')?.toolType).toBe('workflow');
  });

  verifies('S135', 'needs a description, and the error names the workflow and its key', () => {
    const workflow = flow(async () => ({ n: 1 }), undefined, '');
    expect(() => new MCPServer({ name: 's', version: '1', workflows: { key: workflow } })).toThrow(
      expect.objectContaining({
        code: 'MCP_SERVER_AGENT_OR_WORKFLOW_TOOL_CONVERSION_FAILED',
        message: expect.stringMatching(/"count".*"key"/),
      }),
    );
  });

  verifies(['S136', 'D08'], 'answers with the workflow’s result', async () => {
    const server = serverOf(double);
    await using caller = await callInMemory(server);
    expect(await caller.call('run_count', { n: 4 })).toEqual({
      content: [{ type: 'text', text: '{"n":8}' }],
      structuredContent: { n: 8 },
    });
    expect(await server.executeTool('run_count', { n: 5 })).toEqual({ n: 10 });
  });

  verifies(['S148', 'D08'], 'that fails is an error result with its message', async () => {
    const server = serverOf(
      flow(async () => {
        throw new Error('kaput');
      }),
    );
    await using caller = await callInMemory(server);
    expect(await caller.call('run_count', { n: 1 })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'kaput' }],
    });
    await expect(server.executeTool('run_count', { n: 1 })).rejects.toMatchObject({
      code: 'MCP_SERVER_TOOL_EXECUTE_FAILED',
      message: 'Tool "run_count" failed: kaput',
    });
  });

  verifies('D08', 'names the path of input that does not fit', async () => {
    await using caller = await callInMemory(serverOf(double));
    expect(await caller.text('run_count', { n: 'x' })).toMatch(
      /^Invalid arguments for tool "run_count": n: /,
    );
  });

  verifies('D14', 'is cancelled with the call', async () => {
    let signal: AbortSignal | undefined;
    const hangs = flow(async ({ abortSignal }) => {
      signal = abortSignal;
      await new Promise(resolve => abortSignal.addEventListener('abort', resolve));
      return { n: 1 };
    });
    await using caller = await callInMemory(serverOf(hangs));
    const controller = new AbortController();
    const params = { name: 'run_count', arguments: { n: 1 } };
    const call = caller.client.callTool(params, undefined, { signal: controller.signal }).catch(() => 'gone');
    await until(() => signal !== undefined);
    controller.abort();
    expect(await call).toBe('gone');
    await until(() => signal?.aborted === true);
  });

  test('that was not committed is an error result', async () => {
    const step = createStep({
      id: 's',
      inputSchema: number,
      outputSchema: number,
      execute: async () => ({ n: 1 }),
    });
    const open = createWorkflow({
      id: 'o',
      description: 'O',
      inputSchema: number,
      outputSchema: number,
    }).then(step);
    const server = new MCPServer({ name: 's', version: '1', workflows: { open: open as never } });
    await using caller = await callInMemory(server);
    expect((await caller.call('run_open', { n: 1 })).isError).toBe(true);
  });
});

describe('a workflow that waits', () => {
  const asking = (resumeSchema: z.ZodType) =>
    flow(async ({ resumeData, suspend }) => {
      if (resumeData === undefined) return suspend({ question: 'how many?' });
      return { n: Number(resumeData['count']) };
    }, resumeSchema);

  verifies('D09', 'asks the caller, goes on with the answer, and gives the result', async () => {
    const forms: ShownForm[] = [];
    await using caller = await callInMemory(serverOf(asking(z.object({ count: z.number() }))), {
      onElicit: form => {
        forms.push(form);
        return { action: 'accept', content: { count: 7 } };
      },
    });
    expect(await caller.text('run_count', { n: 1 })).toBe('{"n":7}');
    expect(forms).toEqual([
      {
        mode: 'form',
        message: expect.stringMatching(/"run_count".*how many\?/),
        requestedSchema: { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
      },
    ]);
  });

  verifies('D09', 'asks for the step of a nested workflow', async () => {
    const inner = asking(z.object({ count: z.number() }));
    const outer = createWorkflow({ id: 'outer', description: 'O', inputSchema: number, outputSchema: number })
      .then(inner as never)
      .commit() as unknown as Workflow;
    await using caller = await callInMemory(serverOf(outer), {
      onElicit: () => ({ action: 'accept', content: { count: 3 } }),
    });
    expect(await caller.text('run_count', { n: 1 })).toBe('{"n":3}');
  });

  verifies('D09', 'asks again for as long as it waits', async () => {
    let left = 3;
    const often = flow(
      async ({ suspend }) => {
        left -= 1;
        return left === 0 ? { n: 0 } : suspend({});
      },
      z.object({ ok: z.boolean() }),
    );
    let asked = 0;
    await using caller = await callInMemory(serverOf(often), {
      onElicit: () => {
        asked += 1;
        return { action: 'accept', content: { ok: true } };
      },
    });
    expect(await caller.text('run_count', { n: 1 })).toBe('{"n":0}');
    expect(asked).toBe(2);
  });

  verifies('D09', 'and never stops waiting is given up after a bounded number of answers', async () => {
    const always = flow(async ({ suspend }) => suspend({}), z.object({ ok: z.boolean() }));
    let asked = 0;
    await using caller = await callInMemory(serverOf(always), {
      onElicit: () => {
        asked += 1;
        return { action: 'accept', content: { ok: true } };
      },
    });
    expect((await caller.call('run_count', { n: 1 })).isError).toBe(true);
    expect(asked).toBe(20);
  });

  verifies(
    'D09',
    'says what is missing, with run id and payload, where a form cannot ask for it',
    async () => {
      const deep = z.object({ address: z.object({ street: z.string() }) });
      let asked = 0;
      await using caller = await callInMemory(serverOf(asking(deep)), {
        onElicit: () => {
          asked += 1;
          return { action: 'decline' };
        },
      });
      expect(await caller.call('run_count', { n: 1 })).toEqual({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('"address"') }],
        _meta: {
          'mastra/runId': expect.any(String),
          'mastra/suspendPayload': { only: { question: 'how many?' } },
        },
      });
      expect(asked).toBe(0);
    },
  );

  verifies('S181', 'is for the host a result that says suspended', async () => {
    const server = serverOf(asking(z.object({ count: z.number() })));
    expect(await server.executeTool('run_count', { n: 1 })).toMatchObject({
      status: 'suspended',
      suspendPayload: { only: { question: 'how many?' } },
    });
  });
});
