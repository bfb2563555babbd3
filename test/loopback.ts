// A server on a free port of this machine, for a test or a file.
import { randomInt } from 'node:crypto';
import { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterTest } from './left-behind.js';

export interface Loopback {
  /** Without a path. */
  readonly url: string;
  /** Cuts the connections of HTTP; those of a bare socket are their owner's. */
  close(): Promise<void>;
}

export async function loopback(server: Server): Promise<Loopback> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      if (server instanceof HttpServer) server.closeAllConnections();
    });
  afterTest(close);
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Below the ports that outgoing connections are given, with its neighbour at + 10,000, where the bus of a cluster is. */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 22_000);
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => resolve(true));
  });
  await new Promise((resolve) => probe.close(resolve));
  return isFree ? port : freePort();
}
