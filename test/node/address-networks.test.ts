// What owners share by the network of the address that their keys were minted for: few addresses never take what others need.
import { expect, it } from 'vitest';
import { KeyRing } from '../../src/core/record/key-ring.js';
import { Failure } from '../../src/core/schema/failure.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { type Asking, boundsOf } from '../../src/node/bounds.js';
import { CallerQueue } from '../../src/node/caller-queue.js';
import { defaultLimits } from '../../src/node/limits.js';
import { Verifications } from '../../src/node/verifications.js';
import { Caller, inTurn } from './caller.js';
import { startRunning } from './running.js';

it('however many keys few addresses mint, an owner from elsewhere has what an owner may have', async () => {
  const endless = { threshold: 1e6, within: 60, onNode: 1e6 };
  const node = await startRunning({
    trustProxy: ['127.0.0.1'],
    limits: {
      mint: { threshold: 1_000, within: 60, onNode: 100_000 },
      newMachines: endless,
      definitionKib: endless,
      contracts: { perOwner: 10, onNode: 400 },
    },
  });
  let slugs = 0;
  /** How many contracts a new key of an address gets. */
  const gets = async (address: string) => {
    const headers = { 'x-forwarded-for': address };
    const owner = new Caller(node.url, (await node.ask('POST', '/api/demo-key/mint', { headers })).body.key);
    slugs += 1;
    const slug = `m-${slugs}`;
    await owner.createMachine(slug);
    const { left } = (await owner.get('/api/limits')).body.contracts;
    for (let made = 0; ; made += 1) {
      const { status } = await owner.tryDeploy(slug);
      if (status === 201) continue;
      expect([status, left]).toEqual([422, made === 10 ? 10 : left]);
      return made;
    }
  };
  const ofOne = await inTurn(Array(12).keys(), (keys) => gets(`203.0.113.${1 + (keys % 3)}`));
  // An eighth of the node, of which the last keys have next to nothing, and nothing has happened to others.
  expect(ofOne.reduce((sum, made) => sum + made)).toBeLessThanOrEqual(50);
  expect(ofOne.at(-1)).toBeLessThan(3);
  expect(await gets('198.51.100.7')).toBe(10);
  for (let networks = 1; networks <= 4; networks += 1)
    for (let keys = 0; keys < 7; keys += 1) await gets(`10.0.${networks}.1`);
  expect([await gets('192.0.2.1'), await gets('2001:db8::1')]).toEqual([10, 10]);
  // A prefix that a provider gives to one customer is one network.
  for (let keys = 0; keys < 7; keys += 1) await gets(`2001:db8:1:${keys}::1`);
  expect(await gets('2001:db8:1:ffff::1')).toBeLessThan(3);
});

const callerOf = (owner: string) => ({ owner }) as unknown as NonNullable<Asking['caller']>;

/** How many of so many tries were not refused. */
function taken(tries: number, take: (n: number) => unknown): number {
  let count = 0;
  for (let n = 0; n < tries; n += 1) {
    try {
      take(n);
      count += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
    }
  }
  return count;
}

it('what all ask for within a window is not for one network of addresses, however many addresses and owners it has', () => {
  const clock = new VirtualClock(1_000, 1);
  const bounds = boundsOf(clock, { ...defaultLimits, newMachines: { threshold: 10, within: 60, onNode: 800 } });
  const from = (addressOf: (n: number) => string) =>
    taken(500, (n) => bounds.newMachines.take({ caller: callerOf(`${addressOf(n)} ${n}`), ip: addressOf(n) }));
  expect([
    from(() => '203.0.113.1'),
    from((n) => `203.0.113.${n % 250}`),
    from((n) => `2001:db8:1:${n.toString(16)}::1`),
    from(() => '198.51.100.1'),
  ]).toEqual([10, 90, 100, 10]);
  clock.run({ untilMs: clock.now() + 60 });
  expect(from((n) => `203.0.113.${n % 250}`)).toBe(100);
});

it('records that wait to be verified for one network leave room for those of others', () => {
  const clock = new VirtualClock(1_000, 1);
  const never = new Promise<never>(() => {});
  const verifications = new Verifications({
    record: { rows: () => never, checkpoint: () => never, cut: () => undefined },
    keys: () => KeyRing.ofNodes([], false),
    host: { machines: new Map() },
    queue: new CallerQueue(clock),
    bounds: boundsOf(clock, defaultLimits),
  });
  let slugs = 0;
  const from = (network: string) =>
    taken(20, (n) => {
      slugs += 1;
      void verifications.of(`m-${slugs}`, { caller: undefined, ip: `${network}.${n}` });
    });
  expect([from('203.0.113'), from('198.51.100'), from('192.0.2')]).toEqual([8, 4, 2]);
  // A record that is being verified is shared, whoever asks.
  expect(taken(3, () => void verifications.of('m-1', { caller: undefined, ip: '203.0.113.1' }))).toBe(3);
});
