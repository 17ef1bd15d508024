/**
 * A node:http server of our own, for hosts that have none.
 *
 * Owns the socket server and its end. Does not route: every request goes to the handler.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { MCPConfigurationError } from '../../shared/errors.ts';

/** Where to listen. */
export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** @defaultValue 127.0.0.1, which other machines cannot reach */
  readonly host?: string | undefined;
  /** @defaultValue /mcp */
  readonly path?: string | undefined;
}

/** A server that listens. */
export interface HTTPListener {
  /** What a client connects to. */
  readonly url: URL;
  /** Takes no new connections, gives running requests `drainMs` (default 1000), then cuts what is left. */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

/** Answers one request on one path. */
export type ListenHandler = (req: IncomingMessage, res: ServerResponse, path: string) => Promise<void>;

/**
 * Starts a node:http server whose requests go to `handler`.
 *
 * @throws MCPConfigurationError MCP_SERVER_CONFIGURATION_INVALID for a wrong port or path; what node says about a port
 * that cannot be had is passed on.
 */
export async function listen(handler: ListenHandler, options: ListenOptions): Promise<HTTPListener> {
  const { port, host = '127.0.0.1', path = '/mcp' } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new MCPConfigurationError('server', 'port', 'must be a number from 0 to 65535');
  if (!path.startsWith('/')) throw new MCPConfigurationError('server', 'path', 'must begin with a slash');
  const connections = new Connections();
  const server = createServer((req, res) => {
    connections.take(req.socket, res);
    handler(req, res, path).catch(() => res.destroy());
  });
  server.on('connection', (socket: Socket) => connections.add(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    url: toUrl(server, host, path),
    close: ({ drainMs = 1000 } = {}) => close(server, connections, drainMs),
  };
}

function toUrl(server: Server, host: string, path: string): URL {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const name =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return new URL(path, `http://${name}:${port}`);
}

/**
 * The open connections and what is running on them. `http.Server.close` would cut those whose answer has been written
 * and not left: it takes them for idle.
 */
class Connections {
  readonly #running = new Map<Socket, number>();
  #closing = false;

  add(socket: Socket): void {
    this.#running.set(socket, 0);
    socket.once('close', () => this.#running.delete(socket));
  }

  take(socket: Socket, res: ServerResponse): void {
    this.#running.set(socket, (this.#running.get(socket) ?? 0) + 1);
    res.once('close', () => {
      const left = (this.#running.get(socket) ?? 1) - 1;
      if (this.#running.has(socket)) this.#running.set(socket, left);
      if (this.#closing && left === 0) socket.end();
    });
  }

  /** Ends those that are idle now, and each other one as soon as it is. */
  endIdle(): void {
    this.#closing = true;
    for (const [socket, running] of this.#running) if (running === 0) socket.destroy();
  }
}

async function close(server: Server, connections: Connections, drainMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>(resolve => {
    // Not that of http.Server, which would end connections by its own idea of idle.
    NetServer.prototype.close.call(server, () => resolve());
  });
  connections.endIdle();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
  // Only this stops the timer with which node looks after its connections.
  server.close();
}
