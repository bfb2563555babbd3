// Owns the drawing of arrivals as text, so that a test shows the wave it is about. Leaves what is right to the tests.
import { RandomStream } from '../../../../src/core/math/random.js';
import type { Arrival } from '../../../../src/harness/traffic/arrival/arrival.js';
import type { ArrivalSpec } from '../../../../src/harness/traffic/arrival/arrival-schema.js';
import { type ArrivalRun, planArrival } from '../../../../src/harness/traffic/arrival/make.js';

const SEED = 20_240_607;

/** A model in cycles of 777 ms, of a run of a million, unless something else is said. */
export function arrivalOf(
  spec: ArrivalSpec,
  { cycleMs = 777, within = 60, place, ...run }: Partial<ArrivalRun & Parameters<typeof planArrival>[1]> = {},
): Arrival {
  const draws = (purpose: string) => new RandomStream(SEED, purpose);
  const plan = planArrival(spec, { cycleMs, within, place });
  return plan.make({ draws, purpose: spec.model, cycles: 1_000_000, ...run });
}

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
