// A server on a free port of this machine, for a test or a file.
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
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
