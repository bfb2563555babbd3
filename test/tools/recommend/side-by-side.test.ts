import { expect, it } from 'vitest';
import { type Family, families } from '../../../src/core/limiter/products/families.js';
import { sideBySide } from '../../../src/harness/simulate/compare-logs.js';
import { file, replayOf } from './logs.js';

const fitted = (names: readonly string[], limit = 10, within = 10, cycleMs = 100) =>
  names.map((name) => ({ name, definition: families[name as Family]({ limit, within, cycleMs }) }));

/** Requests of one key at these ms. */
const played = (times: readonly number[], names: readonly string[] = Object.keys(families)) => {
  const run = sideBySide(fitted(names));
  for (const ms of times) run.add(0, 1, 1_700_000_000_000 + ms);
  return new Map(run.compared().rules.map((one) => [one.name, one]));
};

it.each(Object.keys(families))('%s admits a first burst of the limit', (name) => {
  expect(played(Array(25).fill(0)).get(name)).toMatchObject({ admitted: 10, limited: 15, worst_burst_1s: 10 });
});

// Twice the rate for three seconds: OTHER-LIMITERS section 6.
it.each([
  ['fixed', 30],
  ['fixed-first', 30],
  ['sliding-log', 30],
  ['gcra', 39],
  ['token-bucket', 39],
  ['nginx', 39],
  // Refused requests count: once closed, it stays closed.
  ['weir', 10],
])('%s admits %i of 60 at twice the rate', (name, admitted) => {
  const times = Array.from({ length: 60 }, (_, i) => i * 50);
  expect(played(times).get(name)).toMatchObject({ requests: 60, admitted });
});

it('rules side by side say how long each stays closed, over an edge of fixed windows', () => {
  const times = [...Array(12).fill(900), 950, ...Array(12).fill(1000), 1950];
  const by = played(times, ['fixed', 'sliding-log']);
  expect(by.get('fixed')).toMatchObject({ limited: 6, worst_burst_1s: 20, longest_closure_ms: 1000 });
  expect(by.get('sliding-log')).toMatchObject({ worst_burst_1s: 10, longest_closure_ms: 1000 });
});

it('rules side by side say how long a key that does not come back is refused: until one would be admitted', () => {
  const limit = { limit: 2, within: 60, cycleMs: 777 };
  const run = sideBySide([
    { name: 'weir', definition: families.weir(limit) },
    { name: 'gcra', definition: families.gcra(limit) },
  ]);
  const startMs = 777 * 2_000_000_000;
  for (const ms of [0, 0, 1, 1000]) run.add(0, 1, startMs + ms);
  // The first three leave the window with their cycle; the bucket has a token back after half of it.
  const closures = run.compared().rules.map((one) => one.longest_closure_ms);
  expect(closures).toEqual([60 * 777 - 1, 30 * 777 - 1]);
});

it('a closure is as long as replay says, but for the part of a cycle before the first refusal', async () => {
  const times = [0, 0, 0, 3, 9, 20, 20, 21, 22, 23].map((second) => 1_767_600_000_000 + second * 1000 + 500);
  const path = file('closed.log', times.join('\n'));
  const run = sideBySide([{ name: 'weir', definition: families.weir({ limit: 4, within: 60, cycleMs: 777 }) }]);
  for (const ms of times) run.add(0, 1, ms);
  const { limiting_cycles } = await replayOf(path, 4, 60);
  expect(Math.ceil(run.compared().rules[0]!.longest_closure_ms / 777)).toBe(limiting_cycles);
});

it('rules side by side say who is newly refused, and who newly admitted', () => {
  const [loose, tight] = [fitted(['weir'], 10)[0]!, fitted(['weir'], 4)[0]!];
  const decide = (run: ReturnType<typeof sideBySide>) => {
    run.add(0, 12, 0);
    run.add(1, 3, 0);
    run.add(2, 5, 0);
    return run.changed(['a', 'b', 'c']);
  };
  expect(decide(sideBySide([loose, tight]))).toEqual([
    { key: 'a', requests: 12, newly_refused: 6, newly_admitted: 0 },
    { key: 'c', requests: 5, newly_refused: 1, newly_admitted: 0 },
  ]);
  expect(decide(sideBySide([tight, loose])).map((one) => [one.newly_refused, one.newly_admitted])).toEqual([
    [0, 6],
    [0, 1],
  ]);
});
