/**
 * A transport that answers every request exactly once, also when the connection ends first.
 *
 * Wraps an `OpenTransport`: remembers the ids in flight, and on close answers each with the reason. Also notes the
 * revision of the `initialize` result, which the SDK does not tell when it refuses it, and takes what asks for a task out
 * of requests.
 */
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { toFailureResponse, TransportFailure } from '../transport-failure.ts';
import type { OpenTransport } from './open-transport.ts';

export class TrackedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  /** Revision in the last result that carried one, i.e. that of `initialize`. */
  offeredRevision: string | undefined;

  readonly #open: OpenTransport;
  readonly #inner: Transport;
  readonly #inFlight = new Set<RequestId>();
  #closing = false;

  constructor(open: OpenTransport) {
    this.#open = open;
    this.#inner = open.transport;
    this.#inner.onmessage = (message, extra) => this.#receive(message, extra);
    this.#inner.onerror = error => this.onerror?.(error);
    this.#inner.onclose = () => this.#closed();
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) {
      if ('id' in message) this.#inFlight.add(message.id);
      else if (message.method === 'notifications/cancelled') {
        const requestId = message.params?.['requestId'];
        this.#inFlight.delete(requestId as RequestId);
      }
    }
    try {
      await this.#inner.send(message, options);
    } catch (error) {
      if ('id' in message && message.id !== undefined) this.#inFlight.delete(message.id);
      throw toUnwritable(message) ?? error;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (!('method' in message) && message.id !== undefined) {
      // An answer nobody waits for: late after a time-out, sent twice, or for an id never used (B39).
      if (!this.#inFlight.delete(message.id)) return;
      if (this.offeredRevision === undefined && 'result' in message) {
        const { protocolVersion } = message.result;
        if (typeof protocolVersion === 'string') this.offeredRevision = protocolVersion;
      }
    }
    this.onmessage?.(withoutTask(message), extra);
  }

  #closed(): void {
    const failure =
      this.#open.closeFailure() ??
      new TransportFailure(this.#closing ? 'closed' : 'lost', 'the connection was closed', {
        mayHaveExecuted: true,
      });
    for (const id of this.#inFlight) this.onmessage?.(toFailureResponse(id, failure));
    this.#inFlight.clear();
    this.onclose?.();
  }
}

/** The failure of a message that no transport can send. Asked after a failed `send`: what can be written is written once. */
function toUnwritable(message: JSONRPCMessage): TransportFailure | undefined {
  try {
    JSON.stringify(message);
    return undefined;
  } catch (cause) {
    const problem = 'what was to be sent cannot be written as JSON; it may hold a BigInt or a cycle';
    return new TransportFailure('unwritable', problem, { mayHaveExecuted: false, cause });
  }
}

/** We declare no tasks, so a request is answered as if it asked for none; the SDK would refuse our answer. */
function withoutTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message && 'id' in message) || message.params?.['task'] === undefined) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}
