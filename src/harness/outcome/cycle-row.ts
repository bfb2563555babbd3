// One cycle of a run, predicted or observed: a run is an `Observable<CycleRow>`.
//
//   cycle 7        contracts   0    2    9        only those that changed, ascending
//                  requests    3    1    0        contract 9: requests left its window, or its state changed
//                  admitted    3    0    0
//                  counts     41  102   99        window at the end of the cycle
//                  states      0    1    0        index into `run.states`, at the end of the cycle
import type { Plan } from '../../core/limiter/plan.js';
import { lengthened } from '../../core/math/lengthened.js';
import type { CostTally } from './cost-tally.js';

export interface RunShape {
  /** By index. A stream of requests may add keys during the run. */
  readonly names: readonly string[];
  readonly states: readonly { readonly name: string; readonly admits: boolean }[];
  readonly initial: number;
  /** Of the first window; null if the definition sets none. */
  readonly threshold: number | null;
  /** Length of the first window in cycles; 0 without windows. */
  readonly within: number;
  /** Primitive of the rule; undefined for contracts with windows. */
  readonly rule?: string | undefined;
  /** Undefined if every request costs 1. Updated during the run. */
  readonly costs?: CostTally | undefined;
}

export interface RowTransition {
  readonly contract: number;
  readonly to: string;
  readonly admits: boolean;
  readonly count: number;
  readonly lastRequest: number | undefined;
  /** What the contract emitted; empty if it is not known. */
  readonly emitted: readonly string[];
}

export interface Decisions {
  readonly contracts: readonly number[];
  readonly atMs: readonly number[];
  /** Delay of an admitted request, in ms; NaN: limited. */
  readonly delaysMs: readonly number[];
  /** For a limited request: when one would be admitted, in unix ms, Infinity for never; NaN: admitted. */
  readonly opensMs: readonly number[];
}

/**
 * Rows are immutable. A cycle without a row repeats the previous state, without requests; the last cycle of a run has a row.
 * In a run without columns the columns are empty.
 */
export class CycleRow<Run extends RunShape = RunShape> {
  constructor(
    readonly cycle: number,
    readonly run: Run,
    /** Indexes of the contracts that changed, ascending; the columns are parallel to it. */
    readonly contracts: Uint32Array,
    readonly requests: Float64Array,
    readonly admitted: Float64Array,
    /** Window count at the end of the cycle; for a rule, the peak use of its capacity in the cycle. */
    readonly counts: Float64Array,
    /** Index into `run.states` at the end of the cycle. */
    readonly states: Uint8Array,
    readonly transitions: readonly RowTransition[],
    /** All contracts; `limiting` counts those that do not admit at the end of the cycle. */
    readonly totals: {
      readonly requests: number;
      readonly admitted: number;
      readonly limited: number;
      readonly limiting: number;
      readonly delayed?: number | undefined;
    },
    /** Delays of admitted requests by a rule, in ms, above 0 only. */
    readonly delaysMs: readonly number[],
    readonly decisions?: Decisions | undefined,
  ) {}

  /** A new column at each call. */
  get limited(): Float64Array {
    return this.requests.map((n, index) => n - this.admitted[index]!);
  }
}

export function shapeOf(names: readonly string[], { states, initial, thresholds, aggregates, rule }: Plan): RunShape {
  const [threshold] = thresholds;
  return {
    names,
    states: states.map(({ name, admits }) => ({ name, admits })),
    initial,
    threshold: threshold === undefined || threshold === Number.POSITIVE_INFINITY ? null : threshold,
    within: rule === undefined ? (aggregates[0]?.within ?? 0) : 0,
    ...(rule === undefined ? {} : { rule: rule.definition.primitive }),
  };
}

/** Collects the changes of one cycle into a row. Allocates only for the row. */
export class RowBuilder<Run extends RunShape = RunShape> {
  #requests = new Float64Array(64);
  #admitted = new Float64Array(64);
  #counts = new Float64Array(64);
  #states = new Uint8Array(64);
  #isChanged = new Uint8Array(64);
  #changed = new Uint32Array(64);
  #changes = 0;
  #isAscending = true;
  #transitions: RowTransition[] = [];
  #limiting = 0;
  #known = 0;
  #sum = 0;
  #admittedSum = 0;
  #delaysMs: number[] = [];

  constructor(
    readonly run: Run,
    readonly byContract = true,
  ) {}

  get isEmpty(): boolean {
    return this.#changes === 0 && this.#transitions.length === 0 && this.#sum === 0;
  }

  /** @param entered how many its window counts, until they have left */
  requested(contract: number, n: number, admitted: number, entered = 0): void {
    this.#sum += n;
    this.#admittedSum += admitted;
    if (!this.byContract) return;
    this.#touch(contract);
    this.#requests[contract]! += n;
    this.#admitted[contract]! += admitted;
    this.#counts[contract]! += entered;
  }

  delayed(ms: number): void {
    this.#delaysMs.push(ms);
  }

  /** Takes from a count. */
  left(contract: number, n: number): void {
    this.#touch(contract);
    this.#counts[contract]! -= n;
  }

  /** Sets a count, which stays until the next. */
  counted(contract: number, count: number): void {
    this.#touch(contract);
    this.#counts[contract] = count;
  }

  moved(contract: number, state: number, count: number, lastRequest?: number, emitted = NO_EVENTS): void {
    if (this.byContract) this.#touch(contract);
    else if (contract >= this.#known) this.#meet(contract);
    const { states } = this.run;
    const { name, admits } = states[state]!;
    if (admits !== states[this.#states[contract]!]!.admits) this.#limiting += admits ? -1 : 1;
    this.#states[contract] = state;
    this.#transitions.push({ contract, to: name, admits, count, lastRequest, emitted });
  }

  take(cycle: number, decisions?: Decisions): CycleRow<Run> {
    if (this.#known < this.run.names.length) this.#meet(this.run.names.length - 1);
    const n = this.#changes;
    const contracts = this.#changed.slice(0, n);
    if (!this.#isAscending) contracts.sort();
    const requests = new Float64Array(n);
    const admitted = new Float64Array(n);
    const counts = new Float64Array(n);
    const states = new Uint8Array(n);
    // Read once: the engine cannot know that the columns stay the same.
    const [came, got, standing] = [this.#requests, this.#admitted, this.#counts];
    const [inState, changed] = [this.#states, this.#isChanged];
    for (let index = 0; index < n; index += 1) {
      const contract = contracts[index]!;
      requests[index] = came[contract]!;
      admitted[index] = got[contract]!;
      counts[index] = standing[contract]!;
      states[index] = inState[contract]!;
      came[contract] = 0;
      got[contract] = 0;
      changed[contract] = 0;
    }
    const [sum, admittedSum] = [this.#sum, this.#admittedSum];
    const delaysMs = this.run.rule === undefined ? NONE : this.#delaysMs;
    const totals = {
      requests: sum,
      admitted: admittedSum,
      limited: sum - admittedSum,
      limiting: this.#limiting,
      ...(this.run.rule === undefined ? {} : { delayed: delaysMs.length }),
    };
    const transitions = this.#transitions.length === 0 ? NO_TRANSITIONS : this.#transitions;
    const row = new CycleRow(
      cycle,
      this.run,
      contracts,
      requests,
      admitted,
      counts,
      states,
      transitions,
      totals,
      delaysMs,
      decisions,
    );
    if (delaysMs.length > 0) this.#delaysMs = [];
    this.#changes = 0;
    this.#isAscending = true;
    if (transitions !== NO_TRANSITIONS) this.#transitions = [];
    this.#sum = 0;
    this.#admittedSum = 0;
    return row;
  }

  #touch(contract: number): void {
    if (contract >= this.#known) this.#meet(contract);
    if (this.#isChanged[contract] === 1) return;
    this.#isChanged[contract] = 1;
    if (this.#changes > 0 && contract < this.#changed[this.#changes - 1]!) this.#isAscending = false;
    this.#changed[this.#changes] = contract;
    this.#changes += 1;
  }

  #meet(contract: number): void {
    if (contract >= this.#requests.length) {
      const capacity = Math.max(contract + 1, this.run.names.length, 2 * this.#requests.length);
      this.#requests = lengthened(this.#requests, capacity);
      this.#admitted = lengthened(this.#admitted, capacity);
      this.#counts = lengthened(this.#counts, capacity);
      this.#states = lengthened(this.#states, capacity);
      this.#isChanged = lengthened(this.#isChanged, capacity);
      this.#changed = lengthened(this.#changed, capacity);
    }
    const { states, initial } = this.run;
    this.#states.fill(initial, this.#known, contract + 1);
    if (states[initial]?.admits !== true) this.#limiting += contract + 1 - this.#known;
    this.#known = contract + 1;
  }
}

const NONE: readonly number[] = [];
const NO_EVENTS: readonly string[] = [];
const NO_TRANSITIONS: readonly RowTransition[] = [];
