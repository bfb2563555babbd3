// One cycle of a run, predicted or observed: a run is an `Observable<CycleRow>`, and everything that is said of it subscribes to that.
//
//   cycle 7        contracts   0    2    9        only those in which something changed, ascending
//                  requests    3    1    0        contract 9 had none: requests left its window, or its state changed
//                  admitted    3    0    0
//                  counts     41  102   99        window at the end of the cycle
//                  states      0    1    0        index into `run.states`, at the end of the cycle
import type { Plan } from '../limiter/plan.js';

/** What all rows of a run refer to. */
export interface RunShape {
  /** Names of the contracts by index. Grows while a stream of requests brings new keys. */
  readonly names: readonly string[];
  readonly states: readonly { readonly name: string; readonly admits: boolean }[];
  /** Index of the state in which every contract begins. */
  readonly initial: number;
  /** Events a window may hold before the gate moves; null where the definition sets no bound. */
  readonly threshold: number | null;
  /** Length of the first window in cycles; 0 where the contracts count nothing, and where they follow a rule. */
  readonly within: number;
  /** The primitive of the rule that the contracts follow; undefined where they count over windows. */
  readonly rule?: string | undefined;
}

/** A contract entered a state. */
export interface RowTransition {
  /** Index of the contract. */
  readonly contract: number;
  /** Name of the state entered. */
  readonly to: string;
  readonly admits: boolean;
  /** Count of the window that led to it. */
  readonly count: number;
  /** The last cycle up to then in which the contract had requests; undefined for none. */
  readonly lastRequest: number | undefined;
}

/**
 * A cycle without a row is like the one before it, without requests. Rows are never written to after they were emitted. The columns are
 * empty in a run that was asked for its totals only.
 */
export interface CycleRow {
  readonly cycle: number;
  readonly run: RunShape;
  /** Indexes of the contracts that changed, ascending; the columns have one value for each. */
  readonly contracts: Uint32Array;
  readonly requests: Float64Array;
  readonly admitted: Float64Array;
  /** `requests - admitted`. */
  readonly limited: Float64Array;
  /** Count of the first window at the end of the cycle; of a rule the most in the cycle that was used up of what it admits at once. */
  readonly counts: Float64Array;
  /** State at the end of the cycle, as an index into `run.states`. */
  readonly states: Uint8Array;
  /** In the order in which they happened. */
  readonly transitions: readonly RowTransition[];
  /** All contracts together; `limiting` is how many do not admit at the end of the cycle. */
  readonly totals: {
    readonly requests: number;
    readonly admitted: number;
    readonly limited: number;
    readonly limiting: number;
    /** Admitted after a delay; undefined where the contracts follow no rule. */
    readonly delayed?: number | undefined;
  };
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

/** Gathers what happens to the contracts of a run in one cycle, and makes a row of it. Asking it to count allocates nothing. */
export class RowBuilder {
  #requests = new Float64Array(64);
  #admitted = new Float64Array(64);
  #counts = new Float64Array(64);
  #states = new Uint8Array(64);
  /** 1 for each contract in `#changed`. */
  #isChanged = new Uint8Array(64);
  #changed = new Uint32Array(64);
  #changes = 0;
  #isAscending = true;
  #transitions: RowTransition[] = [];
  #limiting = 0;
  #known = 0;
  // All contracts together.
  #sum = 0;
  #admittedSum = 0;
  #delayed = 0;

  /** @param byContract whether rows have columns */
  constructor(
    readonly run: RunShape,
    readonly byContract = true,
  ) {}

  /** Whether anything has happened since the last row. */
  get isEmpty(): boolean {
    return this.#changes === 0 && this.#transitions.length === 0 && this.#sum === 0;
  }

  /** A contract got `n` requests, of which `admitted` were admitted. */
  requested(contract: number, n: number, admitted: number): void {
    this.#sum += n;
    this.#admittedSum += admitted;
    if (!this.byContract) return;
    this.#touch(contract);
    this.#requests[contract]! += n;
    this.#admitted[contract]! += admitted;
    this.#counts[contract]! += n;
  }

  /** One of the requests was admitted after a delay. */
  delayed(): void {
    this.#delayed += 1;
  }

  /** So many requests have left the window of a contract. */
  left(contract: number, n: number): void {
    this.#touch(contract);
    this.#counts[contract]! -= n;
  }

  /** The window of a contract holds so many: for a target that says so itself, and for rules. */
  counted(contract: number, count: number): void {
    this.#touch(contract);
    this.#counts[contract] = count;
  }

  /**
   * A contract entered a state.
   * @param state index into the states of the run
   * @param count of the window that led to it
   * @param lastRequest the last cycle up to now in which the contract had requests
   */
  moved(contract: number, state: number, count: number, lastRequest?: number): void {
    if (this.byContract) this.#touch(contract);
    else if (contract >= this.#known) this.#meet(contract);
    const { states } = this.run;
    const { name, admits } = states[state]!;
    if (admits !== states[this.#states[contract]!]!.admits) this.#limiting += admits ? -1 : 1;
    this.#states[contract] = state;
    this.#transitions.push({ contract, to: name, admits, count, lastRequest });
  }

  /** The row of the cycle, with fresh columns; what comes next belongs to another cycle. */
  take(cycle: number): CycleRow {
    if (this.#known < this.run.names.length) this.#meet(this.run.names.length - 1);
    const n = this.#changes;
    const contracts = this.#changed.slice(0, n);
    if (!this.#isAscending) contracts.sort();
    const requests = new Float64Array(n);
    const admitted = new Float64Array(n);
    const counts = new Float64Array(n);
    const states = new Uint8Array(n);
    // Read once: the engine cannot know that the columns stay the same.
    const [came, got, standing, inState, changed] = [
      this.#requests,
      this.#admitted,
      this.#counts,
      this.#states,
      this.#isChanged,
    ];
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
    const bare = { requests: sum, admitted: admittedSum, limited: sum - admittedSum, limiting: this.#limiting };
    const totals = this.run.rule === undefined ? bare : { ...bare, delayed: this.#delayed };
    this.#delayed = 0;
    const row = new Row(cycle, this.run, contracts, requests, admitted, counts, states, this.#transitions, totals);
    this.#changes = 0;
    this.#isAscending = true;
    this.#transitions = [];
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

  /** Contracts up to this one begin in the initial state. */
  #meet(contract: number): void {
    if (contract >= this.#requests.length) {
      const capacity = Math.max(contract + 1, this.run.names.length, 2 * this.#requests.length);
      this.#requests = widened(this.#requests, new Float64Array(capacity));
      this.#admitted = widened(this.#admitted, new Float64Array(capacity));
      this.#counts = widened(this.#counts, new Float64Array(capacity));
      this.#states = widened(this.#states, new Uint8Array(capacity));
      this.#isChanged = widened(this.#isChanged, new Uint8Array(capacity));
      this.#changed = widened(this.#changed, new Uint32Array(capacity));
    }
    const { states, initial } = this.run;
    this.#states.fill(initial, this.#known, contract + 1);
    if (states[initial]?.admits !== true) this.#limiting += contract + 1 - this.#known;
    this.#known = contract + 1;
  }
}

class Row implements CycleRow {
  #limited: Float64Array | undefined;

  constructor(
    readonly cycle: number,
    readonly run: RunShape,
    readonly contracts: Uint32Array,
    readonly requests: Float64Array,
    readonly admitted: Float64Array,
    readonly counts: Float64Array,
    readonly states: Uint8Array,
    readonly transitions: readonly RowTransition[],
    readonly totals: CycleRow['totals'],
  ) {}

  get limited(): Float64Array {
    this.#limited ??= this.requests.map((n, index) => n - this.admitted[index]!);
    return this.#limited;
  }
}

/** Copies a column into a longer one. */
function widened<A extends Float64Array | Uint32Array | Uint8Array>(from: A, into: A): A {
  into.set(from);
  return into;
}
