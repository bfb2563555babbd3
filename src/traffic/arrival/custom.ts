// An arrival that a program brings as a function, for models that Weir does not have.
import { MOST_PER_CYCLE, refuse } from './arrival.js';

/**
 * How many requests arrive in a cycle: a whole number from 0 to 10,000,000.
 * @param cycle counts from the start of the run: 0, 1, 2 …; each is asked for once, in order, before the run begins
 * @param random uniform in [0, 1), drawn from the seed of the run: use it instead of `Math.random`, and the run can be repeated
 */
export type ArrivalFunction = (cycle: number, random: () => number) => number;

/** The place of a function in a scenario. A scenario file cannot hold one. */
export interface CustomArrivalSpec {
  readonly model: 'custom';
  readonly count: ArrivalFunction;
  readonly from?: string | number;
  readonly to?: string | number;
}

/** The longest run for which a function is asked, in cycles; its counts are held in memory. */
const MOST_CYCLES = 10_000_000;

/**
 * The counts of a whole run. They are taken before it begins, so that what the function throws ends the call that made the run.
 * @throws Failure `invalid_input` when it returns no whole number in its range; and whatever the function throws
 */
export function countsOf(count: ArrivalFunction, cycles: number, random: () => number): number[] {
  if (cycles > MOST_CYCLES)
    refuse('', `is a function, which is asked for at most ${MOST_CYCLES} cycles, not ${cycles}`);
  return Array.from({ length: cycles }, (_, cycle) => {
    const n = count(cycle, random);
    if (Number.isInteger(n) && n >= 0 && n <= MOST_PER_CYCLE) return n;
    return refuse('', `must return a whole number from 0 to ${MOST_PER_CYCLE}; it returned ${n} for cycle ${cycle}`);
  });
}
