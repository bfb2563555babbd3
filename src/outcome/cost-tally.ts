// Costs of a run's requests, in their unit.
import type { CostFigures } from './outcome-schema.js';

const MINUTE_MS = 60_000;

export class CostTally {
  readonly #unit: string;
  #requested = 0;
  #admitted = 0;
  #most = 0;
  #inMinute = 0;
  /** Admissions of the last minute; entries before `#first` are older. */
  #atMs: number[] = [];
  #costs: number[] = [];
  #first = 0;

  constructor(unit: string) {
    this.#unit = unit;
  }

  add(cost: number, isAdmitted: boolean, ms: number): void {
    this.#requested += cost;
    if (!isAdmitted) return;
    this.#admitted += cost;
    this.#inMinute += cost;
    this.#atMs.push(ms);
    this.#costs.push(cost);
    for (; this.#atMs[this.#first]! <= ms - MINUTE_MS; this.#first += 1) this.#inMinute -= this.#costs[this.#first]!;
    this.#most = Math.max(this.#most, this.#inMinute);
    if (this.#first < 4096 || 2 * this.#first < this.#atMs.length) return;
    this.#atMs = this.#atMs.slice(this.#first);
    this.#costs = this.#costs.slice(this.#first);
    this.#first = 0;
  }

  figures(): CostFigures {
    return { unit: this.#unit, requested: this.#requested, admitted: this.#admitted, most_in_minute: this.#most };
  }
}
