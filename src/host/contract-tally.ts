// The figures of one contract since it came alive: what its gate has counted, and its transitions.
import type { Gate } from '../limiter/gate.js';

/** Those that change with every event are counted by the gate. */
export class Tally {
  /** Times the contract went from a state that admits to one that does not, and back. */
  entries = 0;
  restores = 0;
  /** Sum over finished stretches of (restore cycle - entry cycle). */
  limitingCycles = 0;
  /** What the keys of the contract have counted; undefined where it has none. */
  ofKeys: { readonly requests: number; readonly limited: number } | undefined;
  #limitingSince = 0;
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  get requests(): number {
    return this.#gate.figures.requests + (this.ofKeys?.requests ?? 0);
  }

  get limited(): number {
    return this.#gate.figures.limited + (this.ofKeys?.limited ?? 0);
  }

  get admitted(): number {
    return this.requests - this.limited;
  }

  get peakCount(): number {
    return this.#gate.figures.peakCount;
  }

  /** First cycle with the peak; undefined before the first event. */
  get peakCycle(): number | undefined {
    return this.#gate.figures.peakCycle;
  }

  moved(admittedBefore: boolean, admits: boolean, cycle: number): void {
    if (admittedBefore && !admits) {
      this.entries += 1;
      this.#limitingSince = cycle;
    } else if (!admittedBefore && admits) {
      this.restores += 1;
      this.limitingCycles += cycle - this.#limitingSince;
    }
  }

  /** The limiting cycles, with a stretch that is not over yet counted up to `cycle`. */
  limitingCyclesUntil(cycle: number, admits: boolean): number {
    return this.limitingCycles + (admits ? 0 : cycle - this.#limitingSince);
  }
}
