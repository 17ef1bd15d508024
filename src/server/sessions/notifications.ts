/**
 * Events outside of any call, and how they reach everybody who is connected.
 *
 * Owns the fan-out and its report. What a peer wants and how an event becomes a notification is the session's matter;
 * progress and logs of a running call are not events, they go through `call.emit`.
 */
import { MCPServerError } from '../../shared/errors.ts';
import { toErrorText } from '../../shared/tool-result.ts';
import type { LoggingLevel } from '../capabilities/logging.ts';

/** Something that happened at the server and concerns its clients. */
export type ServerEvent =
  | { readonly kind: 'tools_list_changed' }
  | { readonly kind: 'prompts_list_changed' }
  | { readonly kind: 'resources_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string }
  | { readonly kind: 'elicitation_complete'; readonly elicitationId: string }
  | {
      readonly kind: 'log';
      readonly level: LoggingLevel;
      readonly data: unknown;
      readonly logger?: string | undefined;
    };

/** Somebody an event can be delivered to. */
export interface ServerEventTarget {
  deliver(event: ServerEvent): Promise<'sent' | 'not-wanted'>;
}

/** What became of one event. */
export interface DeliveryReport {
  readonly sent: number;
  readonly notWanted: number;
  /** One entry per target that could not be reached, in no particular order. */
  readonly failures: readonly unknown[];
}

/** How long all targets together may take. */
const DELIVERY_MS = 10_000;

/**
 * Delivers an event to all targets at once. One that fails or hangs does not hold up the others.
 *
 * Does not throw: the report says who could not be reached.
 */
export async function publish(
  event: ServerEvent,
  targets: Iterable<ServerEventTarget>,
  limits: { readonly deliveryMs?: number } = {},
): Promise<DeliveryReport> {
  let sent = 0;
  let notWanted = 0;
  const failures: unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error('The client did not take the event in time')),
      limits.deliveryMs ?? DELIVERY_MS,
    );
    timer.unref();
  });
  // Nobody may be racing against it any more when it fires.
  tooLate.catch(() => undefined);
  await Promise.all(
    Array.from(targets, async target => {
      try {
        if ((await Promise.race([target.deliver(event), tooLate])) === 'sent') sent += 1;
        else notWanted += 1;
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  clearTimeout(timer);
  return { sent, notWanted, failures };
}

/**
 * Delivers an event as `publish` does and resolves to how many were told. Nobody to tell is no error; some who cannot be told
 * are logged.
 *
 * @throws MCPServerError `MCP_SERVER_CLIENT_UNREACHABLE` when there was somebody and nobody could be told.
 */
export async function publishOrThrow(
  event: ServerEvent,
  targets: Iterable<ServerEventTarget>,
  debug: (message: string) => void,
): Promise<number> {
  const { sent, failures } = await publish(event, targets);
  for (const failure of failures) {
    debug(`A client could not be told about ${event.kind}: ${toErrorText(failure)}`);
  }
  if (sent > 0 || failures.length === 0) return sent;
  throw new MCPServerError('MCP_SERVER_CLIENT_UNREACHABLE', {
    message: `None of ${failures.length} clients could be told about ${event.kind}`,
    cause: failures[0],
  });
}
