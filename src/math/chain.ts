// Markov chains in continuous time: stationary distribution, mean time to reach a set of states, and distribution after a time.
//
//   i ── rate ──► j          eliminating k:  rate(i, j) += rate(i, k) rate(k, j) / out(k)         out(k): all rates of k to states not eliminated
//
// Only sums, products and quotients of positive numbers: no digit is lost, however rare the transitions (W. Grassmann, M. Taksar, D. Heyman,
// Operations Research 33, 1985). Numbering states near their successors keeps the work small.
import { assert } from '../schema/failure.js';
import { exp } from './elementary.js';

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

/** Mean number of jumps per part of the time. With more, the first weight could underflow to 0. */
const MOST_JUMPS = 500;
const LEAST_WEIGHT = 1e-17;

/**
 * The distribution after a time, by uniformization (A. Jensen, 1953), again only from positive numbers.
 *
 *   sum over k of  e^-m m^k / k!  start P^k      m = time x largest rate out of a state; P: one jump, or none
 *
 * Transitions to states >= `states` are lost: the result sums to less than 1 by their share.
 */
export function transient(states: number, rates: Rates): (start: Float64Array, time: number) => Float64Array {
  const [from, to, rate]: [number[], number[], number[]] = [[], [], []];
  const out = new Float64Array(states);
  /** By state: where its transitions end. */
  const ends = new Uint32Array(states + 1);
  for (let state = 0; state < states; state += 1) {
    rates(state, (next, one) => {
      out[state]! += one;
      if (next >= states) return;
      from.push(state);
      to.push(next);
      rate.push(one);
    });
    ends[state + 1] = rate.length;
  }
  const fastest = out.reduce((most, one) => Math.max(most, one), 0);
  const stays = out.map((one) => 1 - one / fastest);
  const ways = {
    from: Uint32Array.from(from),
    to: Uint32Array.from(to),
    share: Float64Array.from(rate, (one) => one / fastest),
  };
  /** One jump, where states from `end` on have no share. Returns the new end. */
  const jump = (now: Float64Array, then: Float64Array, end: number): number => {
    then.fill(0);
    for (let state = 0; state < end; state += 1) then[state] = now[state]! * stays[state]!;
    for (let way = 0; way < ends[end]!; way += 1) then[ways.to[way]!]! += now[ways.from[way]!]! * ways.share[way]!;
    return endOf(then);
  };
  return (start, time) => {
    const parts = Math.ceil((fastest * time) / MOST_JUMPS);
    const mean = (fastest * time) / parts;
    let [power, next] = [start.slice(), new Float64Array(states)];
    for (let part = 0; part < parts; part += 1) {
      let [weight, end] = [exp(-mean), endOf(power)];
      const sum = power.map((one) => one * weight);
      for (let jumps = 1; jumps < mean || weight > LEAST_WEIGHT; jumps += 1) {
        end = jump(power, next, end);
        [power, next] = [next, power];
        weight *= mean / jumps;
        for (let state = 0; state < end; state += 1) sum[state]! += power[state]! * weight;
      }
      power = sum;
    }
    return power;
  };
}

/** Trailing states with smaller shares are cut off. */
const LEAST_SHARE = 1e-40;

function endOf(shares: Float64Array): number {
  let end = shares.length;
  while (end > 0 && shares[end - 1]! < LEAST_SHARE) end -= 1;
  return end;
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
