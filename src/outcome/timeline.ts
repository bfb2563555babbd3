// Owns the outcome cycle by cycle, as columns of numbers: what each contract did in each cycle in which anything happened.
// A cycle without a row is like the one before it, without requests. Leaves writing files to timeline-file.ts.

/** One row, for reading; the columns themselves hold no objects. */
export interface TimelineRow {
  readonly cycle: number;
  readonly contract: string;
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  /** Count of the window at the end of the cycle. */
  readonly count: number;
  /** Name of the state at the end of the cycle. */
  readonly state: string;
}

/** Rows of a timeline that tells of each contract stay below this; beyond it only the totals are kept. */
export const MOST_ROWS = 4_000_000;

export class Timeline {
  private readonly cycles = new Column();
  private readonly contractIndexes = new Column();
  private readonly requestCounts = new Column();
  private readonly admittedCounts = new Column();
  private readonly counts = new Column();
  private readonly stateIndexes = new Column();
  private readonly states: string[] = [];

  /** @param contracts names of the contracts, by index; may grow while rows are added */
  constructor(readonly contracts: readonly string[]) {}

  get length(): number {
    return this.cycles.length;
  }

  add(cycle: number, contract: number, requests: number, admitted: number, count: number, state: string): void {
    this.cycles.push(cycle);
    this.contractIndexes.push(contract);
    this.requestCounts.push(requests);
    this.admittedCounts.push(admitted);
    this.counts.push(count);
    this.stateIndexes.push(this.stateIndex(state));
  }

  row(index: number): TimelineRow {
    const requests = this.requestCounts.at(index);
    const admitted = this.admittedCounts.at(index);
    return {
      cycle: this.cycles.at(index),
      contract: this.contracts[this.contractIndexes.at(index)]!,
      requests,
      admitted,
      limited: requests - admitted,
      count: this.counts.at(index),
      state: this.states[this.stateIndexes.at(index)]!,
    };
  }

  *rows(): Generator<TimelineRow> {
    for (let index = 0; index < this.length; index += 1) yield this.row(index);
  }

  /** Rows in order of cycle, then contract, however they were added. */
  sorted(): Timeline {
    if (this.isSorted()) return this;
    const order = Array.from({ length: this.length }, (_, index) => index);
    order.sort(
      (a, b) => this.cycles.at(a) - this.cycles.at(b) || this.contractIndexes.at(a) - this.contractIndexes.at(b),
    );
    const sorted = new Timeline(this.contracts);
    for (const index of order) {
      const { cycle, requests, admitted, count, state } = this.row(index);
      sorted.add(cycle, this.contractIndexes.at(index), requests, admitted, count, state);
    }
    return sorted;
  }

  private isSorted(): boolean {
    for (let index = 1; index < this.length; index += 1) {
      const step = this.cycles.at(index) - this.cycles.at(index - 1);
      if (step < 0 || (step === 0 && this.contractIndexes.at(index) < this.contractIndexes.at(index - 1))) return false;
    }
    return true;
  }

  private stateIndex(state: string): number {
    const known = this.states.indexOf(state);
    return known >= 0 ? known : this.states.push(state) - 1;
  }
}

/** A list of doubles that grows by doubling. */
class Column {
  length = 0;
  private values = new Float64Array(256);

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.values[index]!;
  }
}
