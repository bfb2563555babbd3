// Markov chains in continuous time: stationary distribution, and mean time to reach a set of states.
//
//   i ── rate ──► j          eliminating k:  rate(i, j) += rate(i, k) rate(k, j) / out(k)         out(k): all rates of k to states not eliminated
//
// Only sums, products and quotients of positive numbers: no digit is lost, however rare the transitions (W. Grassmann, M. Taksar, D. Heyman,
// Operations Research 33, 1985). Numbering states near their successors keeps the work small.
import { assert } from '../../src/core/schema/failure.js';

/** Calls `to` for each transition from `state` to another state; `rate` is above 0. */
export type Rates = (state: number, to: (next: number, rate: number) => void) => void;

export function stationary(states: number, rates: Rates): Float64Array {
  const { into } = eliminated(states, rates, 1);
  const share = new Float64Array(states);
  share[0] = 1;
  let sum = 1;
  for (let state = 1; state < states; state += 1) {
    for (const [from, factor] of into[state]!) share[state]! += share[from]! * factor;
    sum += share[state]!;
  }
  return share.map((one) => one / sum);
}

/** Mean time from each state to the first `targets` states, which every state must reach; 0 for these. */
export function meanTimes(states: number, rates: Rates, targets: number): Float64Array {
  const { out, to, cost } = eliminated(states, rates, targets);
  const time = new Float64Array(states);
  for (let state = targets; state < states; state += 1) {
    let sum = cost[state]!;
    for (const [next, rate] of to[state]!) if (next >= targets) sum += rate * time[next]!;
    time[state] = sum / out[state]!;
  }
  return time;
}

/** Eliminates states from the last down to `least`; each keeps its transitions to lower states. */
function eliminated(states: number, rates: Rates, least: number) {
  const to: Map<number, number>[] = Array.from({ length: states }, () => new Map());
  const into: Map<number, number>[] = Array.from({ length: states }, () => new Map());
  const add = (from: number, next: number, rate: number) => {
    to[from]!.set(next, (to[from]!.get(next) ?? 0) + rate);
    into[next]!.set(from, (into[next]!.get(from) ?? 0) + rate);
  };
  for (let state = 0; state < states; state += 1) rates(state, (next, rate) => add(state, next, rate));
  const cost = new Float64Array(states).fill(1);
  const out = new Float64Array(states);
  for (let state = states - 1; state >= least; state -= 1) {
    let leaving = 0;
    for (const rate of to[state]!.values()) leaving += rate;
    assert(leaving > 0, `no way leads out of state ${state}`);
    out[state] = leaving;
    for (const next of to[state]!.keys()) into[next]!.delete(state);
    for (const [from, rate] of into[state]!) {
      const factor = rate / leaving;
      to[from]!.delete(state);
      cost[from]! += factor * cost[state]!;
      for (const [next, onward] of to[state]!) if (next !== from) add(from, next, factor * onward);
      into[state]!.set(from, factor);
    }
  }
  return { to, into, cost, out };
}
