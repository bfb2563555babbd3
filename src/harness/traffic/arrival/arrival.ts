// The interface of every arrival model: how many requests arrive in a cycle, and when within it.
import { Failure } from '../../../core/schema/failure.js';

/**
 * When requests arrive. Cycles count from the start of the run (0, 1, 2 ...); each is asked for once, in order.
 * Instants within a cycle are drawn from a separate stream: whether they are asked for has no effect on the counts.
 */
export interface Arrival {
  /** How many requests arrive in this cycle, a whole number from 0. */
  count(cycle: number): number;
  /** Writes the n instants of the cycle last counted to `out`: fractions of the cycle in [0, 1), ascending. */
  instants(out: Float64Array, n: number): void;
}

/** The content of a log: ascending, distinct cycles of its own time with their counts, and the cycle that is cycle 0 of the model. */
export interface Recording {
  readonly cycles: Float64Array;
  readonly counts: Float64Array;
  readonly origin: number;
  /** If known: the instants of all requests, in order, as fractions of their cycle. */
  readonly instants?: Float64Array | undefined;
}

/** The most requests that a model may send in one cycle; for a random model, the most on average. */
export const MOST_PER_CYCLE = 10_000_000;

/** Refuses a model whose busiest cycle would have more than MOST_PER_CYCLE. `path` is the field that causes it. */
export function checkPeak(path: string, perCycle: number): void {
  if (perCycle <= MOST_PER_CYCLE) return;
  refuse(path, `comes to ${perCycle} requests in one cycle, and more than ${MOST_PER_CYCLE} are not simulated`);
}

export function refuse(path: string, message: string): never {
  throw new Failure('invalid_input', {
    what: 'The arrival cannot be made.',
    why: `${path.slice(1)} ${message}.`,
    fix: 'Correct the field named.',
    faults: [{ path, message }],
  });
}
