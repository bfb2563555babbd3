// Folds the rows of a run, predicted or observed, into figures, transitions and timelines.
//
//   state     allowing | limiting          | allowing | limiting .... end
//   cycle              entry               restore    entry
//                      |-- limiting_cycles-|          |-- counted up to the last cycle
import { map, type OperatorFunction, pipe, reduce } from 'rxjs';
import type { GateFigures as Counted } from '../../core/limiter/fast-path.js';
import { Durations } from '../../core/math/durations.js';
import { assert } from '../../core/schema/failure.js';
import type { CycleRow, RowTransition, RunShape } from './cycle-row.js';
import type { Past } from './interval-figures.js';
import type { ContractOutcome, Outcome, Reaction, TransitionSeen } from './outcome-schema.js';
import { MOST_ROWS, Timeline, TotalsTimeline } from './timeline.js';

export type Figures = ReturnType<RunFold['figures']>;

/** Emits once, at the end. Another `run` in the rows restarts the fold. @param keepsTimeline false for too many rows */
export function folded<Run extends RunShape, T>(
  finish: (fold: RunFold, first: CycleRow<Run>, last: CycleRow<Run>) => T,
  keepsTimeline: (run: Run) => boolean = () => true,
): OperatorFunction<CycleRow<Run>, T> {
  interface Folding {
    readonly fold: RunFold;
    readonly first: CycleRow<Run>;
    last: CycleRow<Run>;
  }
  return pipe(
    reduce((known: Folding | undefined, row: CycleRow<Run>): Folding | undefined => {
      const { run } = row;
      const folding =
        known?.first.run === run ? known : { fold: new RunFold(run, keepsTimeline(run)), first: row, last: row };
      folding.fold.next(row);
      folding.last = row;
      return folding;
    }, undefined),
    map((folding) => {
      assert(folding !== undefined, 'a run has a row at its end');
      return finish(folding.fold, folding.first, folding.last);
    }),
  );
}

class Tally {
  requests = 0;
  admitted = 0;
  peak = 0;
  peakCycle = 0;
  entries = 0;
  restores = 0;
  limitingCycles = 0;
  transitions: TransitionSeen[] = NONE;
  open: Reaction | undefined;

  /** @param since the cycle in which it stopped admitting; undefined while it admits */
  constructor(public since: number | undefined) {}

  get limited(): number {
    return this.requests - this.admitted;
  }

  limitingUntil(lastCycle: number): number {
    return this.limitingCycles + (this.since === undefined ? 0 : lastCycle - this.since);
  }
}

const NONE: TransitionSeen[] = [];

export class RunFold {
  readonly totals = new TotalsTimeline();
  timeline: Timeline | undefined;
  readonly #run: RunShape;
  readonly #tallies: Tally[] = [];
  /** In order of entry. The model detects limiting in the cycle that causes it. */
  readonly #reactions: Reaction[] = [];
  readonly #delays: Durations | undefined;
  #delayed = 0;
  #firstCycle: number | undefined;

  constructor(run: RunShape, keepsTimeline = true) {
    this.#run = run;
    this.#delays = run.rule === undefined ? undefined : new Durations();
    this.timeline = keepsTimeline ? new Timeline(run.names) : undefined;
  }

  // A field, so that it can be passed as a function.
  readonly next = (row: CycleRow): void => {
    const { cycle, contracts, requests, admitted, counts } = row;
    this.#firstCycle ??= cycle;
    if (row.totals.delayed !== undefined) this.#delayed += row.totals.delayed;
    for (const transition of row.transitions) this.#moved(cycle, transition);
    for (let index = 0; index < contracts.length; index += 1) {
      if (requests[index] === 0) continue;
      const tally = this.#tallyOf(contracts[index]!);
      tally.requests += requests[index]!;
      tally.admitted += admitted[index]!;
      if (counts[index]! <= tally.peak) continue;
      tally.peak = counts[index]!;
      tally.peakCycle = cycle;
    }
    this.totals.next(row);
    if (row.delaysMs.length > 0) for (const ms of row.delaysMs) this.#delays?.record(ms);
    if (this.timeline === undefined) return;
    this.timeline.next(row);
    if (this.timeline.length > MOST_ROWS) this.timeline = undefined;
  };

  /** For rows without columns. */
  counted(contract: number, { requests, limited, peakCount, peakCycle = 0 }: Counted): void {
    const tally = this.#tallyOf(contract);
    Object.assign(tally, { requests, admitted: requests - limited, peak: peakCount, peakCycle });
  }

  get transitions(): readonly (readonly TransitionSeen[])[] {
    return this.#run.names.map((_, contract) => this.#tallies[contract]?.transitions ?? NONE);
  }

  /** @param lastCycle end of an open limiting interval @param top contracts listed; totals cover all */
  figures(lastCycle: number, top: number) {
    const { names, rule } = this.#run;
    this.#firstCycle ??= lastCycle;
    const sum = { requests: 0, admitted: 0, limited: 0, entries: 0, restores: 0, limiting_cycles: 0 };
    let limitedContracts = 0;
    let peak: Pick<Outcome, 'peak_count' | 'peak_cycle'> = { peak_count: 0, peak_cycle: null };
    const all = names.map((id, contract) => ({ id, tally: this.#tallyOf(contract) }));
    for (const { tally } of all) {
      sum.requests += tally.requests;
      sum.admitted += tally.admitted;
      sum.limited += tally.limited;
      sum.entries += tally.entries;
      sum.restores += tally.restores;
      sum.limiting_cycles += tally.limitingUntil(lastCycle);
      if (tally.limited > 0) limitedContracts += 1;
      const isEarlier = tally.peak === peak.peak_count && tally.peakCycle < (peak.peak_cycle ?? 0);
      if (tally.peak > peak.peak_count || isEarlier) peak = { peak_count: tally.peak, peak_cycle: tally.peakCycle };
    }
    all.sort((a, b) => b.tally.limited - a.tally.limited || compareText(a.id, b.id));
    return {
      contracts: names.length,
      contracts_limited: limitedContracts,
      ...sum,
      ...(rule === undefined ? {} : { delayed: this.#delayed }),
      ...peak,
      ...statesOf(this.#run),
      by_contract: all.slice(0, top).map(({ id, tally }) => this.#outcomeOf(id, tally, lastCycle)),
      reactions: this.#reactions.toSorted(
        (a, b) => a.entry_cycle - b.entry_cycle || compareText(a.contract, b.contract),
      ),
    };
  }

  delays(): Pick<Outcome, 'delay_ms'> {
    if (this.#delays === undefined) return {};
    return {
      delay_ms: this.#delays.figures('how long the limiter held a request, those left out that it did not hold'),
    };
  }

  /** Empty if each request costs 1. */
  costs(): Pick<Outcome, 'costs'> {
    const costs = this.#run.costs?.figures();
    return costs === undefined ? {} : { costs };
  }

  past(firstCycle: number, lastCycle: number): Past {
    const { names, states } = this.#run;
    const admitting = new Set(states.flatMap(({ name, admits }) => (admits ? [name] : [])));
    return {
      firstCycle,
      lastCycle,
      names,
      timeline: this.timeline,
      totals: this.totals,
      transitions: this.transitions,
      admits: (state) => admitting.has(state),
    };
  }

  #outcomeOf(id: string, tally: Tally, lastCycle: number): ContractOutcome {
    const { threshold, within, rule } = this.#run;
    const { requests, admitted, limited, entries, restores, peak, peakCycle, transitions } = tally;
    return {
      id,
      threshold,
      within,
      ...(rule === undefined ? {} : { rule }),
      requests,
      admitted,
      limited,
      entries,
      restores,
      limiting_cycles: tally.limitingUntil(lastCycle),
      peak_count: peak,
      peak_cycle: peak > 0 ? peakCycle : null,
      transitions: [...transitions],
    };
  }

  #moved(cycle: number, { contract, to, admits, count, lastRequest }: RowTransition): void {
    const tally = this.#tallyOf(contract);
    if (tally.transitions === NONE) tally.transitions = [];
    tally.transitions.push({ cycle, to, count });
    if (admits !== (tally.since !== undefined)) return;
    if (!admits) {
      tally.entries += 1;
      tally.since = cycle;
      tally.open = {
        contract: this.#run.names[contract]!,
        entry_cycle: cycle,
        reaction_cycles: 0,
        restore_cycle: null,
        recovery_cycles: null,
      };
      this.#reactions.push(tally.open);
      return;
    }
    tally.restores += 1;
    tally.limitingCycles += cycle - tally.since!;
    tally.since = undefined;
    const recovery_cycles = lastRequest === undefined ? null : cycle - lastRequest;
    if (tally.open !== undefined) Object.assign(tally.open, { restore_cycle: cycle, recovery_cycles });
    tally.open = undefined;
  }

  /** A contract with a non-admitting initial state limits from the first row on. */
  #tallyOf(contract: number): Tally {
    const { states, initial } = this.#run;
    const since = states[initial]?.admits === true ? undefined : this.#firstCycle;
    for (let next = this.#tallies.length; next <= contract; next += 1) this.#tallies.push(new Tally(since));
    return this.#tallies[contract]!;
  }
}

/** Initial state first; empty for a rate limiter. */
function statesOf({ states, initial }: RunShape): Pick<Outcome, 'states'> {
  const first = states[initial];
  const others = states.filter((state) => state !== first);
  if (first?.name === 'allowing' && others.length === 1 && others[0]!.name === 'limiting') return {};
  return { states: [...(first === undefined ? [] : [first]), ...others] };
}

/** By code unit, so the order is the same on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
