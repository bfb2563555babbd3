// Owns the observed arm of a live run: figures, timeline and transitions made from what was seen, in the shape that a simulation
// gives them. Pure. Leaves the reactions to reactions.ts, putting the outcome together to ../outcome.ts.
import type { Plan } from '../limiter/plan.js';
import type { Past } from '../outcome/interval-figures.js';
import type { Figures } from '../outcome/run-figures.js';
import type { ContractOutcome, TransitionSeen } from '../outcome/schema.js';
import { Timeline } from '../outcome/timeline.js';
import type { Cell } from './ledger.js';

export interface Observation {
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly firstCycle: number;
  readonly lastCycle: number;
  /** By cycle, then contract. */
  readonly cells: readonly Cell[];
  /** By contract, as the target told them; undefined where it does not: then they follow from its decisions. */
  readonly transitions: readonly (readonly TransitionSeen[])[] | undefined;
  /** How many contracts the outcome lists. */
  readonly top: number;
}

export interface Observed {
  readonly figures: Omit<Figures, 'reactions'>;
  readonly past: Past;
  /** The cells of each contract, in order of cycle. */
  readonly cellsOf: readonly (readonly Cell[])[];
}

export function observe(observation: Observation): Observed {
  const { names, plan, firstCycle, lastCycle, top } = observation;
  const cellsOf = names.map((): Cell[] => []);
  for (const cell of observation.cells) if (cell.cycle <= lastCycle) cellsOf[cell.contract]!.push(cell);
  const transitions = observation.transitions ?? cellsOf.map((cells) => movesIn(cells, plan));
  const admitting = new Set(plan.states.filter(({ admits }) => admits).map(({ name }) => name));
  const contracts = names.map(
    (_, index) => new ContractSeen(cellsOf[index]!, transitions[index]!, plan, firstCycle, lastCycle),
  );
  const timeline = new Timeline(names);
  contracts.forEach((contract, index) => {
    for (const { cycle, requests, admitted, count, state } of contract.rows())
      timeline.add(cycle, index, requests, admitted, count, state);
  });
  const sorted = timeline.sorted();
  return {
    figures: figuresOf(names, contracts, top),
    past: {
      firstCycle,
      lastCycle,
      names,
      timeline: sorted,
      totals: totalsOf(sorted, (state) => admitting.has(state)),
      transitions,
      admits: (state) => admitting.has(state),
    },
    cellsOf,
  };
}

/** The moves of a target that does not tell them: it limits, it admits again. */
function movesIn(cells: readonly Cell[], plan: Plan): TransitionSeen[] {
  const open = plan.states[plan.initial]!.name;
  const shut = plan.states.find(({ admits }) => !admits)?.name ?? open;
  const moves: TransitionSeen[] = [];
  let state = open;
  const window = new WindowSeen(cells, plan.aggregates[0]?.within ?? 1);
  for (const { cycle, answers } of cells) {
    const move = (to: string) => {
      if (state === to) return;
      state = to;
      moves.push({ cycle, to, count: window.countAt(cycle) });
    };
    if (answers.some(({ admitted }) => admitted)) move(open);
    if (answers.some(({ admitted }) => !admitted)) move(shut);
  }
  return moves;
}

interface Row {
  readonly cycle: number;
  readonly requests: number;
  readonly admitted: number;
  readonly count: number;
  readonly state: string;
}

/** One contract as it was seen. */
class ContractSeen {
  readonly requests: number;
  readonly admitted: number;
  readonly entries: number;
  readonly restores: number;
  readonly limitingCycles: number;
  readonly peakCount: number;
  readonly peakCycle: number | null;
  private readonly window: WindowSeen;

  constructor(
    private readonly cells: readonly Cell[],
    readonly transitions: readonly TransitionSeen[],
    private readonly plan: Plan,
    private readonly firstCycle: number,
    private readonly lastCycle: number,
  ) {
    this.window = new WindowSeen(cells, plan.aggregates[0]?.within ?? 1);
    this.requests = cells.reduce((sum, { answers }) => sum + answers.length, 0);
    this.admitted = cells.reduce((sum, cell) => sum + admittedIn(cell), 0);
    const admits = (state: string) => plan.states.find(({ name }) => name === state)?.admits ?? false;
    let since: number | undefined;
    let [entries, restores, limitingCycles] = [0, 0, 0];
    for (const { cycle, to } of transitions) {
      if (!admits(to) && since === undefined) {
        entries += 1;
        since = cycle;
      } else if (admits(to) && since !== undefined) {
        restores += 1;
        limitingCycles += cycle - since;
        since = undefined;
      }
    }
    this.entries = entries;
    this.restores = restores;
    this.limitingCycles = limitingCycles + (since === undefined ? 0 : lastCycle - since);
    let peak = { count: 0, cycle: null as number | null };
    for (const { cycle } of cells) {
      const count = this.window.countAt(cycle);
      if (count > peak.count) peak = { count, cycle };
    }
    this.peakCount = peak.count;
    this.peakCycle = peak.cycle;
  }

  /** A row for each cycle in which anything changed: requests came or left, or the state moved. */
  *rows(): Generator<Row> {
    const within = this.plan.aggregates[0]?.within ?? 1;
    const byCycle = new Map(this.cells.map((cell) => [cell.cycle, cell]));
    const cycles = new Set<number>();
    for (const { cycle } of this.cells) cycles.add(cycle).add(cycle + within);
    for (const { cycle } of this.transitions) cycles.add(cycle);
    let state = this.plan.states[this.plan.initial]!.name;
    let moves = 0;
    for (const cycle of [...cycles].sort((a, b) => a - b)) {
      if (cycle < this.firstCycle || cycle > this.lastCycle) continue;
      while (moves < this.transitions.length && this.transitions[moves]!.cycle <= cycle)
        state = this.transitions[moves++]!.to;
      const cell = byCycle.get(cycle);
      const admitted = cell === undefined ? 0 : admittedIn(cell);
      yield { cycle, requests: cell?.answers.length ?? 0, admitted, count: this.window.countAt(cycle), state };
    }
  }

  outcome(id: string): ContractOutcome {
    const { plan, requests, admitted } = this;
    const threshold = plan.thresholds[0];
    return {
      id,
      threshold: threshold === undefined || threshold === Number.POSITIVE_INFINITY ? null : threshold,
      within: plan.aggregates[0]?.within ?? 0,
      requests,
      admitted,
      limited: requests - admitted,
      entries: this.entries,
      restores: this.restores,
      limiting_cycles: this.limitingCycles,
      peak_count: this.peakCount,
      peak_cycle: this.peakCycle,
      transitions: [...this.transitions],
    };
  }
}

/** The count of a window: as the target told it at the end of the cycle, or else by what was seen to arrive. */
class WindowSeen {
  private readonly told = new Map<number, number>();
  private readonly cycles: number[] = [];
  /** `upTo[i]` requests were seen in the first i cycles. */
  private readonly upTo: number[] = [0];

  constructor(
    cells: readonly Cell[],
    private readonly within: number,
  ) {
    for (const { cycle, answers } of cells) {
      this.cycles.push(cycle);
      this.upTo.push(this.upTo.at(-1)! + answers.length);
      const told = answers.reduce((most, { count = -1 }) => Math.max(most, count), -1);
      if (told >= 0) this.told.set(cycle, told);
    }
  }

  countAt(cycle: number): number {
    return (
      this.told.get(cycle) ?? this.upTo[this.before(cycle + 1)]! - this.upTo[this.before(cycle + 1 - this.within)]!
    );
  }

  /** How many of the cycles lie before this one. */
  private before(cycle: number): number {
    let low = 0;
    let high = this.cycles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cycles[middle]! < cycle) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function figuresOf(
  names: readonly string[],
  contracts: readonly ContractSeen[],
  top: number,
): Omit<Figures, 'reactions'> {
  const sum = (of: (contract: ContractSeen) => number) => contracts.reduce((total, one) => total + of(one), 0);
  const requests = sum((one) => one.requests);
  const admitted = sum((one) => one.admitted);
  const peak = contracts.reduce(
    (most, { peakCount: count, peakCycle: cycle }) =>
      count > most.count || (count === most.count && (cycle ?? Infinity) < (most.cycle ?? Infinity))
        ? { count, cycle }
        : most,
    { count: 0, cycle: null as number | null },
  );
  return {
    contracts: contracts.length,
    contracts_limited: contracts.filter((one) => one.admitted < one.requests).length,
    requests,
    admitted,
    limited: requests - admitted,
    entries: sum((one) => one.entries),
    restores: sum((one) => one.restores),
    limiting_cycles: sum((one) => one.limitingCycles),
    peak_count: peak.count,
    peak_cycle: peak.cycle,
    by_contract: contracts
      .map((one, index) => one.outcome(names[index]!))
      .sort((a, b) => b.limited - a.limited || (a.id < b.id ? -1 : 1))
      .slice(0, top),
  };
}

/** All contracts together: `count` is the number of those that do not admit at the end of the cycle. */
function totalsOf(timeline: Timeline, admits: (state: string) => boolean): Timeline {
  const totals = new Timeline(['all']);
  const shut = new Set<string>();
  let [cycle, requests, admitted] = [Number.NaN, 0, 0];
  const close = () => {
    if (Number.isNaN(cycle)) return;
    totals.add(cycle, 0, requests, admitted, shut.size, shut.size > 0 ? 'limiting' : 'allowing');
    [requests, admitted] = [0, 0];
  };
  for (const row of timeline.rows()) {
    if (row.cycle !== cycle) close();
    cycle = row.cycle;
    requests += row.requests;
    admitted += row.admitted;
    if (admits(row.state)) shut.delete(row.contract);
    else shut.add(row.contract);
  }
  close();
  return totals;
}

function admittedIn({ answers }: Cell): number {
  return answers.reduce((sum, { admitted }) => sum + (admitted ? 1 : 0), 0);
}
