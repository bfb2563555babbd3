// Costs of a run's requests, in their unit.
import { FifoQueue } from '../../core/math/fifo-queue.js';
import type { CostFigures } from './outcome-schema.js';

const MINUTE_MS = 60_000;

export class CostTally {
  readonly #unit: string;
  #requested = 0;
  #admitted = 0;
  #most = 0;
  #inMinute = 0;
  /** Admissions of the last minute. */
  readonly #admissions = new FifoQueue<{ readonly cost: number; readonly ms: number }>();

  constructor(unit: string) {
    this.#unit = unit;
  }

  add(cost: number, isAdmitted: boolean, ms: number): void {
    this.#requested += cost;
    if (!isAdmitted) return;
    this.#admitted += cost;
    this.#inMinute += cost;
    this.#admissions.push({ cost, ms });
    while (this.#admissions.first!.ms <= ms - MINUTE_MS) this.#inMinute -= this.#admissions.shift()!.cost;
    this.#most = Math.max(this.#most, this.#inMinute);
  }

  figures(): CostFigures {
    return { unit: this.#unit, requested: this.#requested, admitted: this.#admitted, most_in_minute: this.#most };
  }
}
