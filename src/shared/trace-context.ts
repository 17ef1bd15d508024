/**
 * W3C trace context in `_meta`, in both directions.
 *
 * Owns the translation between Mastra's spans, OpenTelemetry's context and the two keys of `_meta`. Opens no span.
 * Baggage stays here: it may hold what the other side has no business to see.
 *
 * @see https://www.w3.org/TR/trace-context/
 */
import { context, propagation } from '@opentelemetry/api';
import { readString, TRACEPARENT_META_KEY, TRACESTATE_META_KEY } from './meta.ts';

/** What is read of a span of Mastra. */
export interface TraceSpan {
  readonly traceId: string;
  readonly id: string;
  /** `false` for a span that records nothing. */
  readonly isValid?: boolean;
  /** Id of the nearest span that is exported. */
  getExportedSpanId?(): string | undefined;
}

/** Where a trace goes on. */
export interface RemoteParent {
  readonly traceId: string;
  readonly parentSpanId: string;
}

/**
 * The `_meta` keys that carry on a trace: from the span of Mastra, else from OpenTelemetry's active context, else none.
 */
export function toTraceMeta(span: TraceSpan | undefined): Record<string, string> {
  const traceparent = span === undefined ? undefined : toTraceparent(span);
  if (traceparent !== undefined) return { [TRACEPARENT_META_KEY]: traceparent };
  const carrier: Record<string, unknown> = {};
  propagation.inject(context.active(), carrier);
  return pickTraceKeys(carrier);
}

/** Reads where a trace goes on; `undefined` without a well-formed `traceparent`. */
export function fromTraceMeta(meta: unknown): RemoteParent | undefined {
  const match = TRACEPARENT.exec(readString(meta, TRACEPARENT_META_KEY) ?? '');
  const { version, traceId, parentSpanId, more } = match?.groups ?? {};
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  // version 00 ends here, later ones may go on
  if (version === '00' && more !== undefined) return undefined;
  return isAllZero(traceId) || isAllZero(parentSpanId) ? undefined : { traceId, parentSpanId };
}

/** Runs `fn` with OpenTelemetry's context taken from `_meta`; as it is where `_meta` carries no trace. */
export function runInTraceContext<T>(meta: unknown, fn: () => T): T {
  if (fromTraceMeta(meta) === undefined) return fn();
  return context.with(propagation.extract(context.active(), pickTraceKeys(meta)), fn);
}

const TRACEPARENT =
  /^(?<version>(?!ff)[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<parentSpanId>[0-9a-f]{16})-[0-9a-f]{2}(?<more>-.*)?$/;

function toTraceparent(span: TraceSpan): string | undefined {
  if (span.isValid === false) return undefined;
  const traceparent = `00-${span.traceId}-${span.getExportedSpanId?.() ?? span.id}-01`;
  return fromTraceMeta({ traceparent }) === undefined ? undefined : traceparent;
}

function pickTraceKeys(carrier: unknown): Record<string, string> {
  const traceparent = readString(carrier, TRACEPARENT_META_KEY);
  const tracestate = readString(carrier, TRACESTATE_META_KEY);
  return {
    ...(traceparent === undefined ? {} : { [TRACEPARENT_META_KEY]: traceparent }),
    ...(traceparent === undefined || tracestate === undefined ? {} : { [TRACESTATE_META_KEY]: tracestate }),
  };
}

function isAllZero(hex: string): boolean {
  return /^0+$/.test(hex);
}
