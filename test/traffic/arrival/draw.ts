// Owns the drawing of arrivals as text, so that a test shows the wave it is about. Leaves what is right to the tests.
import type { Arrival } from '../../../src/traffic/arrival/arrival.js';

/** The counts of the first cycles. */
export function countsOf(arrival: Arrival, cycles: number): number[] {
  return Array.from({ length: cycles }, (_, cycle) => arrival.count(cycle));
}

/** The same as text, one number a cycle: `1 1 2 1`. */
export function drawn(arrival: Arrival, cycles: number): string {
  return countsOf(arrival, cycles).join(' ');
}

/** Each of the first cycles as its instants, in 1/100 of a cycle: `0 50 | | 99`. */
export function drawnInstants(arrival: Arrival, cycles: number): string {
  return Array.from({ length: cycles }, (_, cycle) => {
    const instants = instantsOf(arrival, arrival.count(cycle));
    return instants.map((at) => Math.round(at * 100)).join(' ');
  }).join(' | ');
}

/** The instants of the cycle last counted. */
export function instantsOf(arrival: Arrival, n: number): number[] {
  const out = new Float64Array(n);
  arrival.instants(out, n);
  return [...out];
}

export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
