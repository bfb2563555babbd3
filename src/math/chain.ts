// Markov chains in continuous time, solved: the stationary distribution, the mean time until some states are reached, and the distribution
// after a time.
//
//   i ── rate ──► j          eliminating k:  rate(i, j) += rate(i, k) rate(k, j) / out(k)         out(k): all rates of k to states not eliminated
//
// Only sums, products and quotients of positive numbers: no digit is lost, however rare the transitions (W. Grassmann, M. Taksar, D. Heyman,
// Operations Research 33, 1985). States that are numbered near those they lead to keep the work small.
import { assert } from '../schema/failure.js';
import { exp } from './elementary.js';

/** Calls `to` for each transition of a state, to another one, with its rate above 0. */
export type Rates = (state: number, to: (next: number, rate: number) => void) => void;

/** The stationary distribution of an irreducible chain. */
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

/**
 * The mean time from each state until one of the first `targets` states is reached, 0 for those.
 * Each state reaches one of them.
 */
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

/** The mean number of jumps at a time. More would let the first weight be 0. */
const MOST_JUMPS = 500;
const LEAST_WEIGHT = 1e-17;

/**
 * The distribution after a time, from a given one: by uniformization (A. Jensen, 1953), again only from positive numbers.
 *
 *   sum over k of  e^-m m^k / k!  start P^k      m = time x largest rate out of a state; P: one jump, or none
 *
 * What goes to a state from `states` on is lost. Its share is what the sum lacks.
 */
export function transient(states: number, rates: Rates): (start: Float64Array, time: number) => Float64Array {
  const [from, to, rate]: [number[], number[], number[]] = [[], [], []];
  const out = new Float64Array(states);
  /** For each state the end of its ways. */
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
  /** Of the states below `end`; those from there on have no share. Returns the new end. */
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

/** Smaller shares are left out where no larger one follows. */
const LEAST_SHARE = 1e-40;

function endOf(shares: Float64Array): number {
  let end = shares.length;
  while (end > 0 && shares[end - 1]! < LEAST_SHARE) end -= 1;
  return end;
}

/** States from the last down to `least`, each with its transitions to lower ones once all higher ones are eliminated. */
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
