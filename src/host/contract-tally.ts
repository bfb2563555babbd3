// The figures of one contract since it came alive, for metrics and pages.
import type { Figures } from '../limiter/fast-path.js';
import type { Gate } from '../limiter/gate.js';

type Decided = Pick<Figures, 'requests' | 'limited'>;

export class Tally {
  /** Times the contract went from a state that admits to one that does not, and back. Those of keys are not counted. */
  entries: number;
  restores: number;
  readonly #gate: Gate;
  readonly #keys: Decided | undefined;

  /**
   * @param keys what the keys of the contract have counted
   * @param before of the contract before it changed
   */
  constructor(gate: Gate, keys: Decided | undefined, { entries, restores }: Partial<Tally> = {}) {
    this.#gate = gate;
    this.#keys = keys;
    this.entries = entries ?? 0;
    this.restores = restores ?? 0;
  }

  get requests(): number {
    return this.#gate.figures.requests + (this.#keys?.requests ?? 0);
  }

  get limited(): number {
    return this.#gate.figures.limited + (this.#keys?.limited ?? 0);
  }

  get admitted(): number {
    return this.requests - this.limited;
  }

  moved(admittedBefore: boolean, admits: boolean): void {
    if (admittedBefore && !admits) this.entries += 1;
    if (!admittedBefore && admits) this.restores += 1;
  }
}
