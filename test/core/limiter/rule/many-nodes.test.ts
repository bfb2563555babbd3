// What many nodes admit beyond one limiter, in closed form.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { forAll } from '../../../draws.js';

const START_MS = 1_700_000_000_000;
const ONE_WINDOW = { within: 10_000, cycle_ms: 100_000 };

/** Which of the requests that come at these ms are admitted, by nodes in turn. */
function play(params: object, times: readonly number[]): boolean[] {
  const rule = ruleOf({ primitive: 'many_nodes', params: { ...ONE_WINDOW, ...params } });
  const state = rule.fresh(START_MS);
  return times.map((at) => rule.admit(state, START_MS + at, 1, 0) !== LIMITED);
}

const admitted = (decisions: readonly boolean[]) => decisions.filter(Boolean).length;
const burst = Array<number>(1_000).fill(0);

// biome-ignore format: one case a line
it.each([
    ['exact', { design: 'exact', lag_ms: 50 }, 100],
    ['shares, the rest of the division included', { design: 'local_share' }, 100],
    ['shares, where one node is asked alone', { design: 'local_share', spread: 'one' }, 34],
    ['batched: each node admits the threshold', { design: 'batched', sync_ms: 10 }, 300],
    ['late by a lag: as well', { design: 'batched', lag_ms: 10 }, 300],
    ['batched, where one node is asked alone', { design: 'batched', sync_ms: 10, spread: 'one' }, 100],
    ['known at once: as exact', { design: 'batched' }, 100],
    ['parted in two, known at once on each side', { design: 'batched', partition: { nodes: 1, from_ms: 0, to_ms: 9 } }, 200],
    // The node that is cut off refuses its turns, a third of them.
    ['exact and parted', { design: 'exact', partition: { nodes: 1, from_ms: 0, to_ms: 9 } }, 100],
    // All of it came within the lag of the replica; the second burst comes after it.
    ['exact, failing over', { design: 'exact', failover: { at_ms: 1, replica_lag_ms: 5 } }, 100],
    ['exact, parted and open', { design: 'exact', partition: { nodes: 1, from_ms: 0, to_ms: 9, when_away: 'open' } }, 434],
  ])('many nodes admit of a burst at once what their design lets through: %s', (_, params, expected) => {
    expect(admitted(play({ nodes: 3, threshold: 100, ...params }, burst))).toBe(expected);
  });

//   one request every gap ms, n nodes in turn; a request is known to the others lag ms later
//
//   m = ceil(lag / gap) - 1 came within the last lag ms, m - floor(m / n) of them at other nodes      admitted = L + m - floor(m / n)
it('nodes at a steady rate give away what came at the others within the lag', () => {
  forAll(
    [
      fc.record({
        nodes: fc.integer({ min: 1, max: 6 }),
        gap: fc.integer({ min: 1, max: 9 }),
        lag_ms: fc.integer({ min: 0, max: 90 }),
      }),
    ],
    ({ nodes, gap, lag_ms }) => {
      const times = Array.from({ length: 400 }, (_, index) => index * gap);
      const m = Math.max(0, Math.ceil(lag_ms / gap) - 1);
      const decisions = play({ design: 'batched', nodes, threshold: 100, lag_ms }, times);
      const expected = 100 + m - Math.floor(m / nodes);
      expect(decisions).toEqual(times.map((_, index) => index < expected));
    },
  );
});

const requests = fc.array(fc.nat(12), { maxLength: 120 }).map((gaps) => {
  let at = 0;
  return gaps.map((gap) => {
    at += gap;
    return at;
  });
});

it('nodes with a share each never admit more than one limiter, and no node more than its share', () => {
  forAll([requests, fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 30 })], (times, nodes, threshold) => {
    const decisions = play({ design: 'local_share', nodes, threshold }, times);
    for (let node = 0; node < nodes; node += 1) {
      const ofNode = decisions.filter((_, index) => index % nodes === node);
      const share = Math.floor(threshold / nodes) + (node < threshold % nodes ? 1 : 0);
      expect(admitted(ofNode)).toBe(Math.min(share, ofNode.length));
    }
  });
});

//   burst at 0   burst at 10   failover at 20      a replica that is behind by less than 10 ms has both: nothing is given away
//                                                  by 11 ms: it forgets the second; by 21: both
it.each([
  [10, 0],
  [10.5, 40],
  [20, 40],
  [20.5, 100],
])('a failover to a replica that is %d ms behind gives away %d', (replica_lag_ms, given) => {
  const times = [...Array<number>(60).fill(0), ...Array<number>(40).fill(10), ...Array<number>(200).fill(20)];
  const decisions = play({ design: 'exact', nodes: 3, threshold: 100, failover: { at_ms: 20, replica_lag_ms } }, times);
  expect(admitted(decisions)).toBe(100 + given);
});

it('nodes whose counts are known at once decide as one limiter', () => {
  const window = { threshold: 4, within: 5, cycle_ms: 20 };
  const one = ruleOf({ primitive: 'rolling_count', params: window });
  forAll([requests, fc.constantFrom('exact', 'batched'), fc.integer({ min: 1, max: 5 })], (times, design, nodes) => {
    const state = one.fresh(START_MS);
    const expected = times.map((at) => one.admit(state, START_MS + at, 1, 0) !== LIMITED);
    expect(play({ ...window, design, nodes }, times)).toEqual(expected);
  });
});
