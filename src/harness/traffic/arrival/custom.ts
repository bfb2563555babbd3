// An arrival given as a function by a program, for models that Weir does not have.
import { MOST_PER_CYCLE, refuse } from './arrival.js';

/**
 * How many requests arrive in a cycle: a whole number from 0 to 10,000,000.
 * @param cycle counts from the start of the run: 0, 1, 2 …; each is asked for once, in order, before the run begins
 * @param random uniform in [0, 1), from the seed of the run; `Math.random` would make the run impossible to repeat
 */
export type ArrivalFunction = (cycle: number, random: () => number) => number;

/** A scenario object may contain one, a scenario file cannot. */
export interface CustomArrivalSpec {
  readonly model: 'custom';
  readonly count: ArrivalFunction;
  readonly from?: string | number;
  readonly to?: string | number;
}

const MOST_CYCLES = 10_000_000;

/** Computed before the run. @throws Failure `invalid_input` unless all are whole numbers in range; errors of the function */
export function countsOf(count: ArrivalFunction, cycles: number, random: () => number): number[] {
  if (cycles > MOST_CYCLES)
    refuse('', `is a function, which is asked for at most ${MOST_CYCLES} cycles, not ${cycles}`);
  return Array.from({ length: cycles }, (_, cycle) => {
    const n = count(cycle, random);
    if (Number.isInteger(n) && n >= 0 && n <= MOST_PER_CYCLE) return n;
    return refuse('', `must return a whole number from 0 to ${MOST_PER_CYCLE}; it returned ${n} for cycle ${cycle}`);
  });
}
