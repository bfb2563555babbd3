// The port of Envoy's rate limit service shares the connections of the node, and bounds calls that do not come as a whole.
import { connect as connectHttp2 } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { startRateLimitService } from '../../../src/node/envoy/rate-limit-service.js';
import type { OpenDoor } from '../../../src/node/node.js';
import { inTurn } from '../caller.js';
import { Raw } from '../raw.js';
import { startRunning } from '../running.js';

/** With it a client of HTTP/2 begins: words, and settings of which there are none. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

const anyPort: OpenDoor = (context, host, log) => startRateLimitService(context, { host, port: 0, domains: [] }, log);

it('a connection without room is cut on the port of gRPC, too, and one that closes leaves its room', async () => {
  const node = await startRunning({
    limits: { sockets: { perOwner: 2, onNode: 4 } },
    door: anyPort,
  });
  const open = () => new Raw(`http://${node.doorAddress}`).send(PREFACE).until(({ text }) => text !== '');
  const opened = await inTurn(Array(5).keys(), open);
  expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, false, false, false, true]);
  await expect(fetch(`${node.url}/healthz`)).rejects.toThrow();
  for (const { socket } of opened) socket.destroy();
  let again = await open();
  while (again.isClosed) again = await open();
  again.socket.destroy();
});

/** Begins calls on one connection, with a part of a message: the status of each, once it has one. */
async function begun(address: string, calls: number, headers: Readonly<Record<string, string>> = {}) {
  const session = connectHttp2(`http://${address}`).on('error', () => {});
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers };
  const statuses = Array.from({ length: calls }, () => {
    const call = session.request(head, { endStream: false }).on('error', () => {});
    call.write(Buffer.from([0, 0, 0, 0, 9, 1]));
    return new Promise<number>((resolve) => {
      call.once('response', (fields) => resolve(Number(fields['grpc-status'])));
    });
  });
  return { session, statuses };
}

it('a call that does not come as a whole is given up in the time that a request has', async () => {
  const node = await startRunning({
    limits: { headersTimeoutMs: 300, requestTimeoutMs: 300, connectionsCheckMs: 100 },
    door: anyPort,
  });
  const { session, statuses } = await begun(node.doorAddress!, 3);
  expect(await Promise.all(statuses)).toEqual(Array(3).fill(status.DEADLINE_EXCEEDED));
  session.destroy();
});

it('a connection has some calls at a time, and an address has a thousand open, as bodies under way', async () => {
  const node = await startRunning({ door: anyPort });
  const first = await begun(node.doorAddress!, 1);
  const each = first.session.remoteSettings.maxConcurrentStreams!;
  expect(each).toBe(256);
  const others = await inTurn(Array(5).keys(), () => begun(node.doorAddress!, each));
  expect(await Promise.any(others.flatMap(({ statuses }) => statuses))).toBe(status.RESOURCE_EXHAUSTED);
  const { most, refused } = (await node.ask('GET', '/api/limits')).body.open_body_bytes;
  expect([most / (64 << 10), refused > 0]).toEqual([1_024, true]);
  for (const { session } of [first, ...others]) session.destroy();
});

it('beyond loopback a stranger is refused before its message has come', async () => {
  const node = await startRunning({ host: '0.0.0.0', hostNames: [], door: anyPort });
  const port = node.doorAddress!.split(':').at(-1);
  const { session, statuses } = await begun(`127.0.0.1:${port}`, 1);
  const bad = await begun(`127.0.0.1:${port}`, 1, { authorization: 'Bearer none' });
  expect(await Promise.all([...statuses, ...bad.statuses])).toEqual(Array(2).fill(status.UNAUTHENTICATED));
  for (const one of [session, bad.session]) one.destroy();
});
