// Connections by the network of their address, on whichever port: few addresses never take what others need.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { boundsOf, Sockets } from '../../src/node/bounds.js';
import { defaultLimits } from '../../src/node/limits.js';
import { inTurn } from './caller.js';
import { Raw } from './raw.js';
import { startRunning } from './running.js';

class Connection extends EventEmitter {
  constructor(readonly remoteAddress: string | undefined) {
    super();
  }

  resetAndDestroy(): this {
    this.emit('close');
    return this;
  }
}

/** How many of so many connections of some addresses, in turn, are admitted. */
function opened(sockets: Sockets, count: number, ...addresses: string[]): Connection[] {
  const all = Array.from({ length: count }, (_, index) => new Connection(addresses[index % addresses.length]));
  return all.filter((one) => sockets.admit(one as unknown as Socket));
}

function socketsOf(proxies: readonly string[] = []) {
  const limits = { ...defaultLimits, sockets: { perOwner: 100, onNode: 1_000 } };
  const room = boundsOf(new VirtualClock(1_000, 1), limits).sockets;
  return { sockets: new Sockets(room, proxies), open: () => room.all, refused: () => room.refused };
}

it('an address has up to 100 of 1,000 connections, and a network a fifth of what others leave', () => {
  const { sockets, open, refused } = socketsOf();
  expect(opened(sockets, 500, '203.0.113.7').length).toBe(100);
  expect(opened(sockets, 500, '203.0.113.8', '203.0.113.9').length).toBe(100);
  // The fifth of 800, of the next network.
  expect(opened(sockets, 500, '2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1').length).toBe(160);
  expect([open(), refused()]).toEqual([360, 1_140]);
  for (let network = 0; network < 8; network += 1) opened(sockets, 200, `10.0.${network}.1`, `10.0.${network}.2`);
  expect(opened(sockets, 100, '198.51.100.1').length).toBeGreaterThan(20);
});

it('a connection that closes leaves its room', () => {
  const { sockets, open } = socketsOf();
  const all = opened(sockets, 200, '203.0.113.7');
  for (const one of all.slice(0, 30)) one.resetAndDestroy();
  expect([open(), opened(sockets, 200, '::ffff:203.0.113.7').length, open()]).toEqual([70, 30, 100]);
  for (const one of all) one.emit('close');
  expect(open()).toBe(30);
});

it.each([
  ['127.0.0.1', []],
  ['127.9.9.9', []],
  ['::1', []],
  ['::ffff:127.0.0.1', []],
  ['10.1.2.3', ['10.0.0.0/8']],
  ['::ffff:10.1.2.3', ['10.0.0.0/8']],
  ['2001:db8::7', ['192.0.2.1', '2001:db8::7']],
])('%s, a proxy or loopback (proxies: %j), may have all connections', (address, proxies) => {
  const { sockets, open, refused } = socketsOf(proxies);
  expect([opened(sockets, 2_000, address).length, open(), refused()]).toEqual([1_000, 1_000, 1_000]);
});

it('a connection that has closed before it is looked at is not counted', () => {
  const { sockets, open } = socketsOf();
  expect([sockets.admit(new Connection(undefined) as unknown as Socket), open()]).toEqual([false, 0]);
});

it('a node cuts what it has no room for, counts it, and takes others once some have closed', async () => {
  const node = await startRunning({ limits: { sockets: { perOwner: 4, onNode: 8 } } });
  const open = () => new Raw(node.url).send('GET /api/clock HTTP/1.1\r\nHost: localhost\r\n\r\n').answered();
  const opened = await inTurn(Array(10).keys(), open);
  expect(opened.map(({ statuses }) => statuses)).toEqual([...Array(8).fill([200]), [], []]);
  for (const { socket } of opened) socket.destroy();
  let text = '';
  while (!text.includes('weir_bound_refusals_total'))
    text = await fetch(`${node.url}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
  expect(Number(/^weir_bound_refusals_total\{bound="sockets"\} (\d+)/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2);
  const { sockets } = (await node.ask('GET', '/api/limits')).body;
  expect([sockets.most, sockets.on_node]).toEqual([4, 8]);
});
