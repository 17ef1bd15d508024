/** Ports on which no server answers. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A port that accepts connections and never says anything. */
export async function silentPort(): Promise<{ readonly port: number; close: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => server.close() };
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const { port, close } = await silentPort();
  close();
  return port;
}
