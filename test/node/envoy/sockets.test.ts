// The port of Envoy's rate limit service shares the connections of the node.
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { inTurn } from '../caller.js';
import { type Running, startRunning } from '../running.js';

/** With it a client of HTTP/2 begins: words, and settings of which there are none. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

let node: Running | undefined;
afterEach(() => node?.close());

it('a connection for which the node has no room is cut on the port of gRPC, too, and one that closes leaves its room', async () => {
  node = await startRunning({
    limits: { sockets: { perOwner: 2, onNode: 4 } },
    grpc: { port: 0, domains: [] },
  });
  const port = Number(node.grpcAddress!.split(':').at(-1));
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(PREFACE);
    const told = await new Promise((resolve) => {
      socket.once('data', () => resolve('open')).once('close', () => resolve('cut'));
    });
    return { socket, told };
  };
  const opened = await inTurn(Array(5).keys(), () => open());
  expect(opened.map(({ told }) => told)).toEqual(['open', 'open', 'open', 'open', 'cut']);
  await expect(fetch(`${node.url}/healthz`)).rejects.toThrow();
  for (const { socket } of opened) socket.destroy();
  let again = await open();
  while (again.told === 'cut') again = await open();
  again.socket.destroy();
});
