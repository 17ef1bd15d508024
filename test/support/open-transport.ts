/** A transport of the client on its own, without the protocol engine above it. */
import { noopLogger } from '@mastra/core/logger';
import type { IMastraLogger } from '@mastra/core/logger';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { OpenTransport, TransportDeps } from '../../src/client/connection/transports/open-transport.ts';
import { Authorization } from '../../src/client/oauth/authorization.ts';
import type { HttpServerDefinition, ResolvedHttpServer } from '../../src/client/options.ts';
import { resolveClientOptions } from '../../src/client/resolve-options.ts';

type Opener = (definition: ResolvedHttpServer, deps: TransportDeps) => OpenTransport;

export interface OpenedTransport extends AsyncDisposable {
  readonly open: OpenTransport;
  readonly errors: readonly Error[];
  readonly debug: readonly string[];
  readonly received: readonly JSONRPCMessage[];
  closed(): boolean;
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
  /** Sends a request and waits for what answers it; rejects as `send` does. */
  request(method: string, params?: Record<string, unknown>): Promise<RpcAnswer>;
  /** `initialize` and `notifications/initialized`. */
  handshake(): Promise<void>;
}

export interface RpcAnswer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Opens and starts a transport to a server over HTTP. */
export async function openTransport(
  opener: Opener,
  definition: HttpServerDefinition,
): Promise<OpenedTransport> {
  const [resolved] = resolveClientOptions({ servers: { one: definition } }).servers;
  if (resolved?.kind !== 'http') throw new Error('not a server over HTTP');
  const debug: string[] = [];
  const logger: IMastraLogger = Object.assign(Object.create(noopLogger) as IMastraLogger, {
    debug: (text: string) => debug.push(text),
  });
  const { authProvider } = resolved;
  const authorization =
    authProvider === undefined ? undefined : new Authorization(resolved, authProvider, () => logger);
  const open = opener(resolved, { serverName: 'one', logger: () => logger, authorization });
  const { transport } = open;
  const received: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const waiting = new Map<unknown, (answer: RpcAnswer) => void>();
  let closed = false;
  let lastId = 0;
  transport.onmessage = message => {
    received.push(message);
    if (!('method' in message)) waiting.get(message.id)?.(message as RpcAnswer);
  };
  transport.onerror = error => errors.push(error);
  transport.onclose = () => (closed = true);
  await transport.start();

  const notify = (method: string, params: Record<string, unknown> = {}): Promise<void> =>
    transport.send({ jsonrpc: '2.0', method, params });
  const request = (method: string, params: Record<string, unknown> = {}): Promise<RpcAnswer> => {
    const id = lastId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      transport.send({ jsonrpc: '2.0', id, method, params }).catch(reject);
    });
  };
  return {
    open,
    errors,
    debug,
    received,
    closed: () => closed,
    notify,
    request,
    async handshake() {
      const protocolVersion = '2025-06-18';
      const clientInfo = { name: 'test', version: '1' };
      await request('initialize', { protocolVersion, capabilities: {}, clientInfo });
      transport.setProtocolVersion?.(protocolVersion);
      await notify('notifications/initialized');
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
