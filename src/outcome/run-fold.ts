// Folds the rows of a run into figures, transitions and timelines.
import { map, type Observer, type OperatorFunction, pipe, reduce } from 'rxjs';
import type { Figures as Counted } from '../limiter/fast-path.js';
import { Durations } from '../math/durations.js';
import { assert } from '../schema/failure.js';
import type { CycleRow, RunShape } from './cycle-row.js';
import type { Past } from './interval-figures.js';
import type { Outcome, TransitionSeen } from './outcome-schema.js';
import { type Figures, RunFigures } from './run-figures.js';
import { MOST_ROWS, Timeline, TotalsTimeline } from './timeline.js';

/**
 * Emits once, at the end of the rows. A run that starts over, with another `run` in its rows, is folded anew.
 * @param keepsTimeline false for a run with too many rows to keep them by contract
 */
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

export class RunFold implements Pick<Observer<CycleRow>, 'next'> {
  readonly totals = new TotalsTimeline();
  readonly #run: RunShape;
  readonly #figures: RunFigures;
  #timeline: Timeline | undefined;
  readonly #delays: Durations | undefined;

  /** @param keepsTimeline false if there will be too many rows to keep them by contract */
  constructor(run: RunShape, keepsTimeline = true) {
    this.#run = run;
    this.#figures = new RunFigures(run);
    this.#delays = run.rule === undefined ? undefined : new Durations();
    this.#timeline = keepsTimeline ? new Timeline(run.names) : undefined;
  }

  // A field, so that it can be passed as a function.
  readonly next = (row: CycleRow): void => {
    this.#figures.next(row);
    this.totals.next(row);
    if (row.delaysMs.length > 0) for (const ms of row.delaysMs) this.#delays?.record(ms);
    if (this.#timeline === undefined) return;
    this.#timeline.next(row);
    if (this.#timeline.length > MOST_ROWS) this.#timeline = undefined;
  };

  get timeline(): Timeline | undefined {
    return this.#timeline;
  }

  /** By contract, in order of cycle. */
  get transitions(): readonly (readonly TransitionSeen[])[] {
    return this.#figures.transitions;
  }

  counted(contract: number, counts: Counted): void {
    this.#figures.counted(contract, counts);
  }

  figures(lastCycle: number, top: number): Figures {
    return this.#figures.figures(lastCycle, top);
  }

  /** How long a rule held admitted requests; nothing without a rule. */
  delays(): Pick<Outcome, 'delay_ms'> {
    if (this.#delays === undefined) return {};
    return {
      delay_ms: this.#delays.figures('how long the limiter held a request, those left out that it did not hold'),
    };
  }

  /** What requests cost; nothing where each costs 1. */
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
      timeline: this.#timeline,
      totals: this.totals,
      transitions: this.transitions,
      admits: (state) => admitting.has(state),
    };
  }
}
