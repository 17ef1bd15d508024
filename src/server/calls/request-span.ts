/**
 * The span of one request, and what a tool sees of it.
 *
 * Owns when a span is opened and how it ends. Loads core's observability only for a Mastra instance that has one; without
 * it a call costs nothing here.
 */
import type { Mastra } from '@mastra/core/mastra';
import type * as Core from '@mastra/core/observability';
import type * as ContextStorage from '@mastra/core/observability/context-storage';
import type { ToolObserve } from '@mastra/core/tools';
import { fromTraceMeta, runInTraceContext } from '../../shared/trace-context.ts';
import type { CallContext } from './call-context.ts';

/** An open span, in the forms in which tools, agents and workflows take it. */
export interface RequestSpan {
  readonly tracingContext: Core.TracingContext;
  /** Fields of a tool's context that belong to the span. */
  readonly observability: Core.ObservabilityContext;
  readonly observe: ToolObserve;
  /** The instance that hands the span on to agents and workflows taken from it. */
  readonly mastra: Mastra;
}

/** What a span says about the request. */
export interface RequestSpanInfo {
  readonly call: CallContext;
  readonly mastra: Mastra | undefined;
  readonly serverId: string;
  readonly serverName: string;
  readonly serverVersion: string;
  readonly targetName: string;
  readonly input: unknown;
}

/** How the request ended, for the span. */
export interface SpanEnd {
  readonly output?: unknown;
  readonly error?: Error | undefined;
}

/**
 * Runs a request under a span that continues the caller's trace, and inside the caller's OpenTelemetry context.
 *
 * `end` reads from the result what the span should say. Without observability `fn` runs without a span.
 */
export async function runInRequestSpan<T>(
  info: RequestSpanInfo,
  fn: (span: RequestSpan | undefined) => Promise<T>,
  end: (result: T) => SpanEnd,
): Promise<T> {
  const { call, mastra } = info;
  const run = (): Promise<T> => {
    const observed = mastra?.observability?.getSelectedInstance({ requestContext: call.requestContext });
    return mastra === undefined || observed === undefined ? fn(undefined) : traced(info, mastra, fn, end);
  };
  return runInTraceContext(call.meta, run);
}

async function traced<T>(
  info: RequestSpanInfo,
  mastra: Mastra,
  fn: (span: RequestSpan | undefined) => Promise<T>,
  end: (result: T) => SpanEnd,
): Promise<T> {
  const [core, storage] = await Promise.all([
    import('@mastra/core/observability'),
    import('@mastra/core/observability/context-storage'),
  ]);
  const { call } = info;
  const remote = fromTraceMeta(call.meta);
  // A host's own call belongs to what the host is doing; a client's call to the client's trace or to none.
  const current = remote === undefined && call.askable === 'host' ? storage.getCurrentSpan() : undefined;
  const client = call.client.info;
  const span = core.getOrCreateSpan({
    type: core.SpanType.MCP_SERVER_REQUEST,
    name: `mcp request: '${call.method}' on '${info.serverName}'`,
    entityType: core.EntityType.MCP_SERVER,
    entityId: info.serverId,
    entityName: info.serverName,
    input: info.input,
    attributes: {
      mcpMethod: call.method,
      targetName: info.targetName,
      mcpServer: info.serverName,
      serverVersion: info.serverVersion,
      mcpProtocolVersion: call.revision,
      ...(client === undefined ? {} : { clientName: client.name, clientVersion: client.version }),
    },
    requestContext: call.requestContext,
    mastra,
    ...(remote === undefined ? {} : { tracingOptions: remote }),
    ...(current === undefined ? {} : { tracingContext: { currentSpan: current } }),
  });
  if (span === undefined) return fn(undefined);
  const tracingContext: Core.TracingContext = { currentSpan: span };
  const observability = core.createObservabilityContext(tracingContext);
  const requestSpan: RequestSpan = {
    tracingContext,
    observability,
    observe: toObserve(core, storage, tracingContext, observability),
    mastra: core.wrapMastra(mastra, tracingContext),
  };
  try {
    const result = await storage.executeWithContext({ span, fn: () => fn(requestSpan) });
    const { output, error } = end(result);
    if (error === undefined) span.end({ output });
    else span.error({ error });
    return result;
  } catch (error) {
    span.error({ error: error instanceof Error ? error : new Error(String(error)) });
    throw error;
  }
}

/** `context.observe`: child spans and logs of the request's span. */
function toObserve(
  { SpanType }: Pick<typeof Core, 'SpanType'>,
  { executeWithContext }: Pick<typeof ContextStorage, 'executeWithContext'>,
  tracingContext: Core.TracingContext,
  observability: Core.ObservabilityContext,
): ToolObserve {
  return {
    async span(name, fn, attributes) {
      const child = tracingContext.currentSpan?.createChildSpan({
        type: SpanType.GENERIC,
        name,
        ...(attributes === undefined ? {} : { attributes }),
      });
      if (child === undefined) return fn();
      try {
        const result = await executeWithContext({ span: child, fn: async () => fn() });
        child.end({ output: result });
        return result;
      } catch (error) {
        child.error({ error: error instanceof Error ? error : new Error(String(error)) });
        throw error;
      }
    },
    log: (level, message, data) => observability.loggerVNext[level](message, data),
  };
}
