// Owns what every model of arrivals promises: how many requests come in a cycle, and where in it. Leaves both to the models.
import { Failure } from '../../schema/failure.js';

/**
 * When requests come. Cycles count from the start of the run (0, 1, 2 ...); each is asked for once, in order, none left out.
 * Where in the cycle requests come is drawn from a stream of its own: asking for it, or not, moves no count.
 */
export interface Arrival {
  /** How many requests come in this cycle, a whole number from 0. */
  count(cycle: number): number;
  /**
   * Writes to the start of `out` where in the cycle last counted they come: fractions of it in [0, 1), ascending.
   * @param out at least n long
   * @param n the count just given
   */
  instants(out: Float64Array, n: number): void;
}

/** The most requests that a model may bring in one cycle; of a model by chance the most that it may bring on average. */
export const MOST_PER_CYCLE = 10_000_000;

/** Refuses a model whose busiest cycle would hold more than MOST_PER_CYCLE. `path` is the field that says so. */
export function checkPeak(path: string, perCycle: number): void {
  if (perCycle <= MOST_PER_CYCLE) return;
  refuse(path, `comes to ${perCycle} requests in one cycle, and more than ${MOST_PER_CYCLE} are not simulated`);
}

/** Throws the Failure for a model that cannot be made; `path` is a JSON pointer from the model's specification. */
export function refuse(path: string, message: string): never {
  throw new Failure('invalid_input', {
    what: 'The arrival cannot be made.',
    why: `${path.slice(1)} ${message}.`,
    fix: 'Mend the field named.',
    faults: [{ path, message }],
  });
}
