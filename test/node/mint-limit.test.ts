import { describe, expect, it } from 'vitest';
import { Host } from '../../src/host/host.js';
import { MINT_MACHINE, MintLimit } from '../../src/node/mint-limit.js';
import { MemoryStore } from '../../src/store/memory.js';
import { VirtualClock } from '../../src/time/virtual.js';
import { networkOf } from '../../src/traffic/network.js';
import { startRunning } from './running.js';

function limited(limits = { threshold: 2, within: 5, addresses: 3 }) {
  const clock = new VirtualClock(1_000, 1);
  const host = new Host({ clock, store: new MemoryStore() });
  let limit = new MintLimit(host, limits);
  const retryAfter = (address: string) => limit.retryAfterCycles(address, clock.cycle());
  const ask = (address: string) => retryAfter(address) === 0;
  const wait = (cycles: number) => clock.run({ untilMs: clock.now() + cycles });
  const restart = () => {
    limit = new MintLimit(host, limits);
  };
  return { ask, retryAfter, wait, restart, contracts: () => host.machines.get(MINT_MACHINE)?.contracts.length };
}

describe('an address mints so many keys', () => {
  it('within so many cycles, and refused requests count', () => {
    const { ask, wait } = limited();
    expect([ask('1.2.3.4'), ask('1.2.3.4'), ask('1.2.3.4'), ask('1.2.3.5')]).toEqual([true, true, false, true]);
    wait(4);
    expect(ask('1.2.3.4')).toBe(false);
    wait(5);
    expect(ask('1.2.3.4')).toBe(true);
  });

  it('and a newcomer takes over what has rested longest, once its window is empty', () => {
    const { ask, wait, contracts } = limited();
    expect(['a', 'b', 'c', 'd'].map(ask)).toEqual([true, true, true, false]);
    wait(2);
    expect(ask('a')).toBe(true);
    wait(3);
    // b and c have rested for a whole window, a has not.
    expect(['d', 'e', 'f'].map(ask)).toEqual([true, true, false]);
    expect(contracts()).toBe(3);
  });

  it('and who is refused is admitted after the wait that the answer names, also where all contracts are taken', () => {
    const { ask, retryAfter, wait } = limited();
    for (const address of ['a', 'a', 'b', 'c']) ask(address);
    for (const address of ['a', 'newcomer']) {
      const after = retryAfter(address);
      wait(after - 1);
      expect([after, retryAfter(address)]).toEqual([5, 1]);
      wait(5);
      expect(ask(address)).toBe(true);
      wait(5);
      for (const other of ['a', 'b', 'c']) ask(other);
    }
  });

  it('by contracts that are used again after a restart', () => {
    const { ask, restart, contracts } = limited();
    for (const address of ['a', 'b', 'c']) ask(address);
    restart();
    expect([ask('d'), ask('d'), contracts()]).toEqual([true, false, 3]);
  });
});

describe('an address stands for', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s: %s', (address, network) => expect(networkOf(address)).toBe(network));
});

describe('POST /api/demo-key/mint', () => {
  it('gives a key with which its owner can do something, until the address has had enough', async () => {
    const node = await startRunning({ limits: { mint: { threshold: 2, within: 60, addresses: 5 } } });
    const minted = await node.ask('POST', '/api/demo-key/mint');
    const { key, owner } = minted.body;
    const created = await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'mine' } });
    const second = await node.ask('POST', '/api/demo-key/mint', { body: {} });
    const third = await node.ask('POST', '/api/demo-key/mint');
    await node.close();
    expect([created.status, second.status, third.status, third.body.code]).toEqual([
      201,
      201,
      429,
      'too_many_requests',
    ]);
    expect(second.body.owner).not.toBe(owner);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(46);
  });

  it('believes a forwarded address only from a proxy it was told of', async () => {
    const mint = { threshold: 1, within: 60, addresses: 5 };
    const plain = await startRunning({ limits: { mint } });
    const behind = await startRunning({ limits: { mint }, trustProxy: ['127.0.0.1'] });
    const statuses: number[] = [];
    for (const node of [plain, behind]) {
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) {
        const { status } = await node.ask('POST', '/api/demo-key/mint', { headers: { 'x-forwarded-for': address } });
        statuses.push(status);
      }
      await node.close();
    }
    expect(statuses).toEqual([201, 429, 429, 201, 201, 429]);
  });
});
