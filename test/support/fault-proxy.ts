/** A TCP proxy on a free port that can be told to fail: slow down, cut, half close or swallow. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Fault {
  /** Holds everything from the server back for this long. */
  readonly delayMs?: number;
  /** Resets the connection once this many bytes came from the server. */
  readonly resetAfterBytes?: number;
  /** Ends the direction to the client once this many bytes came from the server. */
  readonly endAfterBytes?: number;
  /** Cuts the connection when nothing came from the server for this long. */
  readonly idleMs?: number;
  /** Holds an answer back until it has ended, unless its headers say `X-Accel-Buffering: no`. */
  readonly buffers?: boolean;
  /** Takes everything from the client and passes nothing on. */
  readonly blackhole?: boolean;
}

export interface FaultProxy extends AsyncDisposable {
  readonly origin: string;
  /** What new connections suffer from now on. */
  fault: Fault;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Resets every connection that is open. */
  resetAll(): void;
}

export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const open = new Set<Socket>();
  let fault: Fault = {};
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true }, client => {
    const { delayMs = 0, resetAfterBytes = Infinity, endAfterBytes = Infinity, blackhole } = fault;
    const { idleMs = 0, buffers = false } = fault;
    accepted += 1;
    open.add(client);
    client.on('close', () => open.delete(client)).on('error', () => undefined);
    if (blackhole) return void client.resume();
    const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    upstream.on('error', () => client.resetAndDestroy()).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream);
    let passed = 0;
    const pass = (chunk: Buffer): void => {
      const room = Math.min(resetAfterBytes, endAfterBytes) - passed;
      passed += chunk.length;
      client.write(chunk.subarray(0, Math.max(room, 0)), () => {
        if (passed >= resetAfterBytes) client.resetAndDestroy();
        else if (passed >= endAfterBytes) client.end();
      });
    };
    if (idleMs > 0) upstream.setTimeout(idleMs, () => client.destroy());
    if (buffers) {
      hold(upstream, client);
      return;
    }
    upstream.on('data', chunk => (delayMs > 0 ? void setTimeout(pass, delayMs, chunk) : pass(chunk)));
    upstream.on('end', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const resetAll = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
    },
    get accepted() {
      return accepted;
    },
    resetAll,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      resetAll();
      await closed;
    },
  };
}

const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Passes answers on as a proxy does that collects them. Knows one answer at a time, which is all a connection has. */
function hold(upstream: Socket, client: Socket): void {
  let held = '';
  let passing = false;
  upstream.setEncoding('latin1').on('data', (chunk: string) => {
    held += chunk;
    const [head = '', body] = held.toLowerCase().split(/\r\n\r\n(.*)/s, 2);
    const length = /content-length: (\d+)/.exec(head)?.[1];
    const isWhole =
      body !== undefined &&
      (length === undefined ? held.endsWith(LAST_CHUNK) : body.length >= Number(length));
    if (passing) client.write(chunk, 'latin1');
    else if (isWhole || head.includes('x-accel-buffering: no')) client.write(held, 'latin1');
    else return;
    passing = !isWhole;
    if (isWhole) held = '';
  });
}
