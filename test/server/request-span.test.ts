import type { ToolsInput } from '@mastra/core/agent';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import { context, propagation, trace } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { MCPServer } from '../../src/server/index.ts';
import type { MCPServerConfig } from '../../src/server/index.ts';
import { verifies } from '../requirements/requirements.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { callInMemory, until } from './call-harness.ts';

interface Span {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly externalParentSpanId?: string;
  readonly attributes: Record<string, unknown>;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorInfo?: { readonly message: string };
}

function traced(tools: ToolsInput, more: Partial<MCPServerConfig> = {}) {
  const spans: Span[] = [];
  const exporter = {
    name: 'memory',
    init() {},
    async exportTracingEvent(event: { readonly type: string; readonly exportedSpan: unknown }) {
      if (event.type === 'span_ended') spans.push(event.exportedSpan as Span);
    },
    async shutdown() {},
    async flush() {},
  };
  const observability = new Observability({
    configs: { default: { serviceName: 'test', exporters: [exporter] } },
  });
  const server = new MCPServer({ id: 'srv', name: 'desk', version: '1.2.0', tools, ...more });
  new Mastra({ mcpServers: { server }, observability, logger: false });
  const requests = (): Span[] => spans.filter(span => span.type === 'mcp_server_request');
  return { server, spans, requests };
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parent}-01`;

describe('the span of a request', () => {
  verifies('D18', 'continues the trace of the caller, and says who called what', async () => {
    const echo = createTool({
      id: 'echo',
      description: 'E',
      inputSchema: z.object({ n: z.number() }),
      execute: async input => input,
    });
    const { server, requests } = traced({ echo });
    await using caller = await callInMemory(server);
    await caller.client.callTool({ name: 'echo', arguments: { n: 1 }, _meta: { traceparent } });
    await until(() => requests().length === 1);
    expect(requests()).toEqual([
      expect.objectContaining({
        traceId,
        input: { n: 1 },
        output: { n: 1 },
        attributes: expect.objectContaining({
          mcpMethod: 'tools/call',
          targetName: 'echo',
          mcpServer: 'desk',
          serverVersion: '1.2.0',
          mcpProtocolVersion: '2025-11-25',
          clientName: 'test-client',
          clientVersion: '3.2.1',
        }),
      }),
    ]);
  });

  verifies('D18', 'is the parent of what the tool does: agents, and spans of its own', async () => {
    const { model } = scriptedModel([{ text: 'hi' }]);
    const agent = new Agent({ id: 'ag', name: 'ag', description: 'd', instructions: 'x', model });
    const work = createTool({
      id: 'work',
      description: 'W',
      execute: async (_input, { mastra, observe, tracingContext }) => {
        expect(tracingContext?.currentSpan).toBeDefined();
        observe.log('info', 'working');
        await observe.span('own span', async () => undefined);
        await expect(
          observe.span('own failure', async () => {
            throw new Error('x');
          }),
        ).rejects.toThrow('x');
        await mastra?.getAgent('helper' as never).generate('x');
        return 'ok';
      },
    });
    const { server, spans, requests } = traced({ work }, { agents: { helper: agent } });
    await using caller = await callInMemory(server);
    expect(await caller.text('work')).toBe('ok');
    expect(await caller.text('ask_helper', { message: 'x' })).toBe('hi');
    await until(() => requests().length === 2);
    const [first, second] = requests();
    const children = (id?: string): string[] =>
      spans.filter(span => span.parentSpanId === id).map(span => span.type);
    expect(children(first?.id).toSorted()).toEqual(['agent_run', 'generic', 'generic']);
    expect(children(second?.id)).toEqual(['agent_run']);
    expect(first?.traceId).not.toBe(second?.traceId);
  });

  verifies(['D18', 'B82'], 'ends with an error when the call does', async () => {
    const fails = createTool({
      id: 'fails',
      description: 'F',
      inputSchema: z.object({ n: z.number() }),
      requireApproval: input => input.n === 2,
      execute: async () => {
        throw new Error('kaput');
      },
    });
    const { server, requests } = traced({ fails });
    await using caller = await callInMemory(server);
    await caller.call('fails', { n: 1 });
    await caller.call('fails', { n: 'x' });
    await caller.call('fails', { n: 2 });
    await until(() => requests().length === 3);
    expect(requests().map(span => span.errorInfo?.message)).toEqual([
      'kaput',
      expect.stringContaining('n'),
      'needs-capability',
    ]);
  });

  test('of the host’s own call belongs to what the host is doing', async () => {
    const inner = createTool({ id: 'inner', description: 'I', execute: async () => 'inner' });
    let other: MCPServer | undefined;
    const outer = createTool({
      id: 'outer',
      description: 'O',
      execute: async () => other?.executeTool('inner', {}),
    });
    const { server, requests } = traced({ outer, inner });
    other = server;
    await using caller = await callInMemory(server);
    expect(await caller.text('outer')).toBe('inner');
    await until(() => requests().length === 2);
    const [innerSpan, outerSpan] = requests();
    expect(innerSpan?.parentSpanId).toBe(outerSpan?.id);
  });

  verifies(
    'D18',
    'is not opened without observability; a call with a bad traceparent is served',
    async () => {
      const plain = createTool({
        id: 'plain',
        description: 'P',
        execute: async (_input, { tracingContext, observe }) =>
          `${typeof tracingContext} ${await observe.span('x', () => 'ran')}`,
      });
      const server = new MCPServer({ name: 's', version: '1', tools: { plain } });
      new Mastra({ mcpServers: { server }, logger: false });
      await using caller = await callInMemory(server);
      const params = { name: 'plain', _meta: { traceparent: '00-zz' } };
      expect(await caller.client.callTool(params)).toMatchObject({ content: [{ text: 'undefined ran' }] });
    },
  );

  verifies('D18', 'runs the tool inside the caller’s OpenTelemetry context', async () => {
    let seen: string | undefined;
    const otel = createTool({
      id: 'otel',
      description: 'O',
      execute: async () => {
        seen = trace.getSpanContext(context.active())?.traceId;
      },
    });
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const storage = new AsyncLocalStorage<ReturnType<typeof context.active>>();
    const root = context.active();
    context.setGlobalContextManager({
      active: () => storage.getStore() ?? root,
      with: (next, fn, self, ...args) => storage.run(next, () => fn.call(self as never, ...args)),
      bind: (_next, value) => value,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
    propagation.setGlobalPropagator({
      inject() {},
      extract: (given, carrier) =>
        trace.setSpanContext(given, {
          traceId: (carrier as { traceparent: string }).traceparent.slice(3, 35),
          spanId: parent,
          traceFlags: 1,
        }),
      fields: () => ['traceparent'],
    });
    try {
      const server = new MCPServer({ name: 's', version: '1', tools: { otel } });
      await using caller = await callInMemory(server);
      await caller.client.callTool({ name: 'otel', _meta: { traceparent } });
      expect(seen).toBe(traceId);
    } finally {
      context.disable();
      propagation.disable();
    }
  });
});
