import { AsyncLocalStorage } from 'node:async_hooks';
import { Mastra } from '@mastra/core/mastra';
import { getOrCreateSpan, SpanType } from '@mastra/core/observability';
import { Observability, TestExporter } from '@mastra/observability';
import { context, propagation, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import type { Context, ContextManager, TextMapPropagator } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fromTraceMeta, runInTraceContext, toTraceMeta } from '../../src/shared/trace-context.ts';
import { verifies } from '../requirements/requirements.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

describe('a span of Mastra', () => {
  verifies('D18', 'is written with the id of the nearest exported span', () => {
    expect(toTraceMeta({ traceId, id: spanId })).toEqual({ traceparent });
    expect(toTraceMeta({ traceId, id: 'internal', getExportedSpanId: () => spanId })).toEqual({
      traceparent,
    });
  });

  test('that records nothing, or has other ids, is not written', () => {
    expect(toTraceMeta({ traceId, id: spanId, isValid: false })).toEqual({});
    expect(toTraceMeta({ traceId: 'no-op', id: 'no-op' })).toEqual({});
    expect(toTraceMeta(undefined)).toEqual({});
  });

  verifies('D18', 'continues the trace that came in _meta', () => {
    const exporters = [new TestExporter()];
    const observability = new Observability({ configs: { default: { serviceName: 'test', exporters } } });
    const mastra = new Mastra({ observability, logger: false });
    const parent = fromTraceMeta({ traceparent });
    const span = getOrCreateSpan({
      type: SpanType.MCP_SERVER_REQUEST,
      name: 'tools/call',
      attributes: { mcpMethod: 'tools/call', mcpServer: 's' },
      mastra,
      ...(parent === undefined ? {} : { tracingOptions: parent }),
    });
    expect(span?.traceId).toBe(traceId);
    expect(fromTraceMeta(toTraceMeta(span))).toEqual({ traceId, parentSpanId: span?.id });
    span?.end();
  });
});

describe('fromTraceMeta', () => {
  test('reads later versions and ignores what follows', () => {
    expect(fromTraceMeta({ traceparent: `cc-${traceId}-${spanId}-01-more` })).toEqual({
      traceId,
      parentSpanId: spanId,
    });
  });

  test('refuses everything else', () => {
    for (const meta of [
      undefined,
      {},
      { traceparent: 1 },
      { traceparent: '' },
      { traceparent: `ff-${traceId}-${spanId}-01` },
      { traceparent: `00-${traceId}-${spanId}-01-more` },
      { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
      { traceparent: `00-${traceId}-${'0'.repeat(16)}-01` },
      { traceparent: `00-${traceId.toUpperCase()}-${spanId}-01` },
    ]) {
      expect(fromTraceMeta(meta)).toBeUndefined();
    }
  });
});

describe('with OpenTelemetry registered', () => {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, thisArg, ...args) => storage.run(active, () => fn.call(thisArg, ...args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  const propagator: TextMapPropagator = {
    inject: (active, carrier, setter) => {
      const span = trace.getSpanContext(active);
      if (span === undefined) return;
      setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
      setter.set(carrier, 'tracestate', 'vendor=1');
      setter.set(carrier, 'baggage', 'user=secret');
    },
    extract: (active, carrier, getter) => {
      const seen = Object.fromEntries(getter.keys(carrier).map(key => [key, getter.get(carrier, key)]));
      extracted.push(seen);
      const parent = fromTraceMeta(seen);
      return parent === undefined
        ? active
        : trace.setSpanContext(active, {
            traceId: parent.traceId,
            spanId: parent.parentSpanId,
            traceFlags: TraceFlags.SAMPLED,
          });
    },
    fields: () => ['traceparent', 'tracestate', 'baggage'],
  };
  let extracted: unknown[] = [];

  beforeEach(() => {
    extracted = [];
    context.setGlobalContextManager(manager);
    propagation.setGlobalPropagator(propagator);
  });
  afterEach(() => {
    context.disable();
    propagation.disable();
  });

  verifies('D18', 'its active context is written when there is no span of Mastra, without baggage', () => {
    const active = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED });
    const meta = context.with(active, () => toTraceMeta(undefined));
    expect(meta).toEqual({ traceparent, tracestate: 'vendor=1' });
    expect(toTraceMeta(undefined)).toEqual({});
  });

  verifies('D18', 'work runs in the context that came in _meta, without baggage', async () => {
    const meta = { traceparent, tracestate: 'vendor=1', baggage: 'user=x', progressToken: 1 };
    const inside = await runInTraceContext(meta, async () => {
      await Promise.resolve();
      return trace.getSpanContext(context.active());
    });
    expect(inside).toMatchObject({ traceId, spanId });
    expect(extracted).toEqual([{ traceparent, tracestate: 'vendor=1' }]);
  });

  test('work runs as it is when _meta carries no trace', () => {
    expect(runInTraceContext({ traceparent: 'x' }, () => trace.getSpanContext(context.active()))).toBe(
      undefined,
    );
    expect(extracted).toEqual([]);
  });
});
