import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CYCLE_MS } from '../../../src/core/time/cycle.js';
import { CycleTally } from '../../../src/harness/traffic/tally.js';

type Given = readonly [unixMs: number, n: number, key: string];

/** By key, [cycle, requests] in order. */
type ByKey = Record<string, [cycle: number, n: number][]>;

function taken(tally: CycleTally): ByKey {
  return Object.fromEntries(
    [...tally.keys()].map((key) => {
      const { cycles, counts } = tally.inOrder(key);
      return [key, Array.from(cycles, (cycle, i) => [cycle, counts[i]!])];
    }),
  );
}

function tallied(given: readonly Given[], cycleMs: number, capacity?: number): ByKey {
  const tally = new CycleTally(cycleMs, capacity);
  for (const [unixMs, n, key] of given) tally.request(unixMs, n, key, 0);
  return taken(tally);
}

function naive(given: readonly Given[], cycleMs: number): ByKey {
  const byKey = new Map<string, Map<number, number>>();
  for (const [unixMs, n, key] of given) {
    const cycles = byKey.get(key) ?? new Map<number, number>();
    const cycle = Math.floor(unixMs / cycleMs);
    byKey.set(key, cycles.set(cycle, (cycles.get(cycle) ?? 0) + n));
  }
  return Object.fromEntries([...byKey].map(([key, cycles]) => [key, [...cycles].sort(([a], [b]) => a - b)]));
}

describe('requests are counted by key and cycle', () => {
  // biome-ignore format: one case a line
  it.each<[string, Given[], ByKey]>([
    ['nothing', [], {}],
    ['one', [[777, 1, '']], { '': [[1, 1]] }],
    ['the same cycle', [[777, 1, ''], [1553, 2, ''], [1554, 1, '']], { '': [[1, 3], [2, 1]] }],
    ['out of order', [[1554, 1, ''], [0, 1, ''], [1554, 1, ''], [777, 5, '']], { '': [[0, 1], [1, 5], [2, 2]] }],
    ['several keys', [[0, 1, 'b'], [0, 1, 'a'], [777, 1, 'b'], [0, 1, 'a']], { b: [[0, 1], [1, 1]], a: [[0, 2]] }],
    ['before 1970', [[0, 1, ''], [-1, 1, ''], [-778, 1, '']], { '': [[-2, 1], [-1, 1], [0, 1]] }],
    ['beyond 2^31, and millions of idle cycles between',
      [[2 ** 31 * CYCLE_MS + 5, 1, ''], [5, 1, ''], [2 ** 31 * CYCLE_MS, 1, '']], { '': [[0, 1], [2 ** 31, 2]] }],
    ['the ends of time', [[8.64e15, 1, ''], [-8.64e15, 1, '']], { '': [[-11119691119692, 1], [11119691119691, 1]] }],
  ])('%s', (_, given, byKey) => {
    expect(tallied(given, CYCLE_MS)).toEqual(byKey);
  });

  it('as a map of maps would, in whatever order they come', () => {
    const anywhere = fc.integer({ min: -1e13, max: 1e13 });
    const instants = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 10_000_000 }), anywhere);
    const given = fc.tuple(instants, fc.integer({ min: 1, max: 9 }), fc.constantFrom('', 'a', 'b', 'c'));
    fc.assert(
      fc.property(fc.array(given, { maxLength: 400 }), fc.integer({ min: 1, max: 1000 }), (requests, cycleMs) => {
        expect(tallied(requests, cycleMs, 2)).toEqual(naive(requests, cycleMs));
      }),
      { numRuns: 300 },
    );
  });

  it('may be looked at between, and goes on', () => {
    const tally = new CycleTally(1);
    tally.request(2, 1, 'a', 0);
    const before = taken(tally);
    tally.request(1, 1, 'a', 0);
    tally.request(2, 1, 'a', 0);
    tally.request(1, 1, 'b', 0);
    expect([before, taken(tally), tally.requests]).toEqual([
      { a: [[2, 1]] },
      {
        a: [
          [1, 1],
          [2, 2],
        ],
        b: [[1, 1]],
      },
      4,
    ]);
  });

  it('a key that never came has nothing', () => {
    const { cycles, counts } = new CycleTally().inOrder('nobody');
    expect([cycles.length, counts.length]).toEqual([0, 0]);
  });

  it('spread requests fall into their cycles', () => {
    const tally = new CycleTally(1000);
    tally.request(500, 4, '', 2000);
    expect(taken(tally)).toEqual({
      '': [
        [0, 1],
        [1, 2],
        [2, 1],
      ],
    });
  });
});

it('memory follows the distinct pairs, not the requests', () => {
  const tally = new CycleTally(1);
  // 100,000 cycles in an order that never meets one again soon, 6 times over.
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 100_000; i++) tally.request((i * 7919) % 100_000, 1, '', 0);
  }
  const { cycles, counts } = tally.inOrder('');
  expect([cycles.length, counts.every((n) => n === 6), cycles.buffer.byteLength / 8 < 8 * 100_000]).toEqual([
    100_000,
    true,
    true,
  ]);
});

it('a million keys take one row each', () => {
  const tally = new CycleTally(1000);
  for (let i = 0; i < 1_000_000; i++) tally.request(i, 1, `client-${i}`, 0);
  const { cycles } = tally.inOrder('client-777777');
  expect([tally.requests, [...cycles], cycles.buffer.byteLength / 8]).toEqual([1_000_000, [777], 2 ** 20]);
});
