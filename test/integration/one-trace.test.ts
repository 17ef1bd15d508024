import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { Observability } from '@mastra/observability';
import { expect } from 'vitest';
import { verifies } from '../requirements/requirements.ts';
import { createFixtureServer } from '../support/fixture-server.ts';
import { openClient } from '../support/client.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { serveHttp } from '../support/serve-http.ts';
import { until } from '../support/processes.ts';

interface Span {
  readonly type: string;
  readonly id: string;
  readonly traceId: string;
  readonly externalParentSpanId?: string;
}

/** Observability of one process, and the spans that ended in it. */
function observe(serviceName: string): { readonly observability: Observability; readonly spans: Span[] } {
  const spans: Span[] = [];
  const exporter = {
    name: 'memory',
    init: () => undefined,
    exportTracingEvent: async (event: { type: string; exportedSpan: unknown }) => {
      if (event.type === 'span_ended') spans.push(event.exportedSpan as Span);
    },
    flush: async () => undefined,
    shutdown: async () => undefined,
  };
  const configs = { default: { serviceName, exporters: [exporter as never] } };
  return { observability: new Observability({ configs }), spans };
}

verifies('D18', 'the call of an agent and its execution at the server are one trace', async () => {
  const server = createFixtureServer();
  const atServer = observe('server');
  new Mastra({ mcpServers: { server }, observability: atServer.observability, logger: false });
  await using host = await serveHttp(server);
  await using client = openClient({ remote: { url: host.url } });
  const { model } = scriptedModel([
    { call: 'remote_echo', args: { text: 'hi' }, id: 'c1' },
    { text: 'done' },
  ]);
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'x', model, tools: await client.listTools() });
  const atClient = observe('client');
  const mastra = new Mastra({ agents: { agent }, observability: atClient.observability, logger: false });
  await mastra.getAgent('agent').generate('go');
  const request = (): Span | undefined => atServer.spans.find(({ type }) => type === 'mcp_server_request');
  const call = (): Span | undefined => atClient.spans.find(({ type }) => type === 'mcp_tool_call');
  await until('both spans have ended', () => request() !== undefined && call() !== undefined);
  expect(request()?.traceId).toBe(call()?.traceId);
  expect(request()?.externalParentSpanId).toBe(call()?.id);
  await server.close();
});
