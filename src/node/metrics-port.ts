// The port of the metrics of a node: nothing but GET /metrics.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { type HostCheck, refuseHostLines } from '../api/host-names.js';
import { Failure } from '../core/schema/failure.js';
import type { Metrics } from './metrics.js';
import type { Sockets } from './sockets.js';

/** Rejects with the error of `listen`. */
export async function openMetricsPort(
  metrics: Metrics,
  host: string,
  port: number,
  checkHost: HostCheck,
  sockets: Sockets,
) {
  const server = createServer((request, response) => {
    try {
      refuseHostLines(request);
      checkHost(request.headers.host);
    } catch (error) {
      response.writeHead(error instanceof Failure ? error.status : 500).end();
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    void metrics.text().then((text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text));
  });
  server.prependListener('connection', (socket) => sockets.admit(socket));
  await once(server.listen({ host, port }), 'listening');
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address) ? `[${address}]` : address}:${bound}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
