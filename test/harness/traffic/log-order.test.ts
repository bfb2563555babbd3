import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CYCLE_MS } from '../../../src/core/time/cycle.js';
import { LogOrder } from '../../../src/harness/traffic/log-order.js';
import { forAll } from '../../draws.js';
import { Counted } from './log/counted.js';

type Given = readonly [unixMs: number, n: number, key: string];

/** By key, [cycle, requests] in order. */
type ByKey = Record<string, [cycle: number, n: number][]>;

function taken(order: LogOrder): ByKey {
  const byKey: ByKey = {};
  for (const { cycle, keys, contracts, requests } of order.end())
    for (const [k, contract] of contracts.entries()) {
      const own = byKey[keys[contract]!] ?? [];
      byKey[keys[contract]!] = own;
      own.push([cycle, requests[k]!]);
    }
  return byKey;
}

function ordered(given: readonly Given[], cycleMs: number): LogOrder {
  const order = new LogOrder({ cycleMs, isOne: false });
  for (const [unixMs, n, key] of given) order.request(unixMs, n, key, 0);
  return order;
}

function naive(given: readonly Given[], cycleMs: number): ByKey {
  const counted = new Counted(cycleMs);
  for (const [unixMs, n, key] of given) counted.request(unixMs, n, key);
  const inOrder = counted.keys.map((key) => [key, counted.of(key)] as const);
  return Object.fromEntries(
    inOrder.map(([key, { cycles, counts }]) => [key, cycles.map((one, k) => [one, counts[k]!])]),
  );
}

// biome-ignore format: one case a line
it.each<[string, Given[], ByKey]>([
  ['before 1970', [[0, 1, ''], [-1, 1, ''], [-778, 1, '']], { '': [[-2, 1], [-1, 1], [0, 1]] }],
  ['beyond 2^31, and millions of idle cycles between',
    [[2 ** 31 * CYCLE_MS + 5, 1, ''], [5, 1, ''], [2 ** 31 * CYCLE_MS, 1, '']], { '': [[0, 1], [2 ** 31, 2]] }],
  ['the ends of time', [[8.64e15, 1, ''], [-8.64e15, 1, '']], { '': [[-11119691119692, 1], [11119691119691, 1]] }],
])('requests are counted by key and cycle: %s', (_, given, byKey) => {
  expect(taken(ordered(given, CYCLE_MS))).toEqual(byKey);
});

it('requests are counted as a map of maps would, in whatever order they come', () => {
  const anywhere = fc.integer({ min: -1e13, max: 1e13 });
  const instants = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 10_000_000 }), anywhere);
  const given = fc.tuple(instants, fc.integer({ min: 1, max: 9 }), fc.constantFrom('', 'a', 'b', 'c'));
  forAll(
    [fc.array(given, { minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 1000 })],
    (requests, cycleMs) => {
      expect(taken(ordered(requests, cycleMs))).toEqual(naive(requests, cycleMs));
    },
  );
});

it('counted requests are handed out again from the start, as a page does that plays them', () => {
  const order = ordered(
    [
      [5, 1, 'a'],
      [2, 3, 'b'],
    ],
    1,
  );
  expect([taken(order), order.firstCycle, order.lastCycle]).toEqual([taken(order), 2, 5]);
});

it('spread requests fall into their cycles', () => {
  const order = new LogOrder({ cycleMs: 1000, isOne: false });
  order.request(500, 4, '', 2000);
  expect(taken(order)).toEqual({
    '': [
      [0, 1],
      [1, 2],
      [2, 1],
    ],
  });
});

it('a million keys take one row each', () => {
  const order = new LogOrder({ cycleMs: 1000, isOne: false });
  for (let i = 0; i < 1_000_000; i++) order.request(i, 1, `client-${i}`, 0);
  const batches = [...order.end()];
  const rows = batches.reduce((sum, { contracts }) => sum + contracts.length, 0);
  expect([order.names[777_777], order.names.length, rows, batches.length]).toEqual([
    'client-777777',
    1_000_000,
    1_000_000,
    1_000,
  ]);
});
