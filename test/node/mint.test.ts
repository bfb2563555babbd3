import { expect, it } from 'vitest';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { boundsOf } from '../../src/node/bounds.js';
import { defaultLimits } from '../../src/node/limits.js';
import { failureOf } from '../failures.js';
import { Caller, statusAndCode } from './caller.js';
import { startRunning } from './running.js';

function minting(mint = { threshold: 2, within: 5 as number | string, onNode: 80 }) {
  const clock = new VirtualClock(1_000, 1);
  const bounds = boundsOf(clock, { ...defaultLimits, mint });
  const refusal = (ip: string) => failureOf(() => bounds.mint.take({ caller: undefined, ip }));
  const asks = (...addresses: string[]) => addresses.map((ip) => refusal(ip) === undefined);
  /** How many of `count` addresses are admitted, one after the other. */
  const minted = (count: number, addressOf: (n: number) => string) =>
    asks(...Array.from({ length: count }, (_, n) => addressOf(n))).filter(Boolean).length;
  const wait = (cycles: number) => clock.run({ untilMs: clock.now() + cycles });
  return { asks, refusal, minted, wait, bounds, clock };
}

const [A, B] = ['1.0.0.1', '2.0.0.1'] as const;

it.each([5, '5ms'])('an address mints so many keys within %s, however often it asks meanwhile', (within) => {
  const { asks, wait, bounds } = minting({ threshold: 2, within, onNode: 80 });
  expect(asks(A, A, A, B)).toEqual([true, true, false, true]);
  wait(4);
  expect(asks(A)).toEqual([false]);
  wait(1);
  expect([asks(A, A, A), bounds.mint.refused]).toEqual([[true, true, false], 3]);
});

it('an address that was refused is admitted after the wait that the answer names', () => {
  const { asks, refusal, wait, clock } = minting();
  asks(A);
  wait(2);
  asks(A);
  const { againCycle = 0, what, why } = refusal(A)!;
  expect([what, why, againCycle - clock.cycle()]).toEqual([
    'No key was minted.',
    'An owner, and an address, may ask for 2 free keys within 5 cycles.',
    3,
  ]);
  wait(2);
  expect(asks(A)).toEqual([false]);
  wait(1);
  expect(asks(A)).toEqual([true]);
});

it('the addresses of one connection count as one', () => {
  expect(minting().minted(5, (n) => `2001:db8:1:2::${n}`)).toBe(2);
});

it('a network of addresses mints its part, and leaves those of others', () => {
  const { minted } = minting();
  expect(minted(30, (n) => `2001:db8:1:${n.toString(16)}::1`)).toBe(10);
  expect([minted(30, (n) => `203.0.113.${n}`), minted(20, (n) => `10.0.${n}.1`)]).toEqual([10, 20]);
});

it('an address that goes on asking closes no other of its network', () => {
  const { minted } = minting();
  minted(40, () => '1.2.3.4');
  expect(minted(8, (n) => `1.2.3.${10 + n}`)).toBe(8);
});

it('a minted key lets its owner do something, and an address mints until it has had enough', async () => {
  const node = await startRunning({ limits: { mint: { threshold: 2, within: 60, onNode: 1_000 } } });
  const mint = (body?: object) => node.ask('POST', '/api/demo-key/mint', { body });
  const begunMs = Date.now();
  const [first, second, third] = [await mint(), await mint({}), await mint()];
  const created = await new Caller(node.url, first.body.key).createMachine('mine');
  const limits = await node.ask('GET', '/api/limits');
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect([created.status, second.status, ...statusAndCode(third)]).toEqual([201, 201, 429, 'too_many_requests']);
  expect(second.body.owner).not.toBe(first.body.owner);
  const sinceS = (Date.now() - begunMs) / 1_000;
  expect(sinceS + Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(46);
  expect(limits.body.mint).toMatchObject({ threshold: 2, within: 60, on_node: 1_000, left_on_node: 998, refused: 1 });
  expect(metrics).toContain('weir_bound_refusals_total{bound="mint"} 1\n');
});

it('a forwarded address is believed only from a proxy that the node was told of', async () => {
  const mint = { threshold: 1, within: 60, onNode: 1_000 };
  const plain = await startRunning({ limits: { mint } });
  const behind = await startRunning({ limits: { mint }, trustProxy: ['127.0.0.1'] });
  const statuses: number[] = [];
  for (const node of [plain, behind]) {
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) {
      const { status } = await node.ask('POST', '/api/demo-key/mint', { headers: { 'x-forwarded-for': address } });
      statuses.push(status);
    }
  }
  expect(statuses).toEqual([201, 429, 429, 201, 201, 429]);
});
